/**
 * A process's place: its addresses and its DATA_DIR, checked before anything starts, and the
 * PostgreSQL of an embedded installation. It imports little, so the server starts while other
 * modules load.
 */
import { resolve } from 'node:path';
import {
  ensureWritable,
  untilReleased,
  localOperatorToken,
  localSecretKey,
} from './platform/database/embedded/data-directory.ts';
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from './platform/database/embedded-postgres.ts';
import {
  ConfigError,
  deriveSecrets,
  type Config,
  type SettledConfig,
} from './platform/config/config.ts';
import type { Roles } from './platform/config/roles.ts';
import { ensureFree, type ListenAddress } from './platform/http/listen-address.ts';
import type { Start } from './open-record.ts';

/**
 * Whether this process accesses the database; the edge has the other processes' addresses instead.
 */
export const isOnRecord = (roles: Roles): boolean =>
  roles.subgraphs.length > 0 || roles.worker || roles.migrate;

/** Whether this process listens: one that only migrates does not. */
export const isServing = (roles: Roles): boolean =>
  roles.edge.size > 0 || roles.subgraphs.length > 0 || roles.worker;

/** Whether this is an embedded installation, which keeps everything in DATA_DIR. */
export const isEmbedded = (config: Config, roles: Roles): boolean =>
  config.databaseUrl === null && isOnRecord(roles);

export const addressOf = ({ host, port }: Config): ListenAddress => ({
  host,
  port,
  settings: { host: 'HOST', port: 'PORT' },
});

/** Where metrics and health have their own address; otherwise null. */
export const metricsAddressOf = ({ host, metricsPort: port }: Config): ListenAddress | null =>
  port === null ? null : { host, port, settings: { host: 'HOST', port: 'METRICS_PORT' } };

/**
 * Throws a one-sentence error when this process cannot listen or store its files. Before that, only
 * DATA_DIR itself has been created.
 */
export const prepareInstallation = async (
  config: Config,
  roles: Roles,
  { progress, stopping }: Omit<Start, 'stack'>,
): Promise<void> => {
  const embedded = isEmbedded(config, roles);
  const dataDir = resolve(config.dataDir);
  if (embedded) await untilReleased(dataDir, { progress, stopping });
  const metrics = metricsAddressOf(config);
  if (isServing(roles))
    for (const address of [addressOf(config), ...(metrics ? [metrics] : [])])
      await ensureFree(address);
  if (embedded) ensureWritable(dataDir);
};

/**
 * Completes the configuration; an embedded installation stores generated values in DATA_DIR. Throws
 * when there is no key and nowhere to store one.
 */
export const settle = <Read extends Config>(config: Read, roles: Roles): Read & SettledConfig => {
  const embedded = isEmbedded(config, roles);
  if (!embedded && !config.secretKey)
    throw new ConfigError(['SECRET_KEY is required: every process must have the same']);
  return {
    ...config,
    publicUrl: config.publicUrl ?? `http://${config.host}:${config.port}`,
    operatorToken: config.operatorToken ?? (embedded ? localOperatorToken(config.dataDir) : null),
    secrets: deriveSecrets(
      config.secretKey ?? localSecretKey(config.dataDir),
      config.secretKeyPrevious,
      config.secretKeyNext,
    ),
  };
};

/**
 * Starts the PostgreSQL of an embedded installation; null when DATABASE_URL is set. Rejects with a
 * one-sentence error, or with the request to stop. The caller that awaits it stops it.
 */
export const beginPostgres = (
  config: Config,
  roles: Roles,
  { progress, stopping }: Omit<Start, 'stack'>,
): Promise<EmbeddedPostgres> | null => {
  if (!isEmbedded(config, roles)) return null;
  progress('PostgreSQL ...');
  const starting = startEmbeddedPostgres({
    dataDir: config.dataDir,
    stopping,
    progress: (text) => progress(`PostgreSQL: ${text}`),
  });
  // It may fail while modules are still loading, before it is awaited.
  starting.catch(() => {});
  return starting;
};
