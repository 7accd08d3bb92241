/**
 * Loaded into the process of every test file. A file whose process does not end (a socket left
 * open, a promise that nobody settles) is a failure that names itself, not a run that stands still;
 * and a file that is asked to end lets its servers go first. At its end it says what it has cost.
 */
import { keepCost } from './file-cost.ts';

const file_max_min = process.env['FLEET'] === 'whole' ? 30 : 20;

setTimeout(() => {
  process.stderr.write(
    `${process.argv[1]} still runs after ${file_max_min} minutes: it is ended, which makes it fail\n`,
  );
  process.exit(1);
}, file_max_min * 60_000).unref();

process.once('SIGTERM', () => process.exit(143));
process.once('exit', () => keepCost(process.argv[1] ?? ''));
