/**
 * The embedded PostgreSQL and nothing else, in DATA_DIR: what a start costs before the service
 * begins.
 */
import { startEmbeddedPostgres } from '../../../subgraphs/kernel/database/embedded-postgres.ts';

const database = await startEmbeddedPostgres({
  dataDir: process.env['DATA_DIR'] ?? '',
  progress: () => {},
});
const stop = (): void => {
  database.stop().then(
    () => process.exit(0),
    () => process.exit(1),
  );
};
process.once('SIGTERM', stop);
process.once('disconnect', stop);
process.send?.(database.url);
