/** Runs test files, and gives what came of them. */
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

type Summary = { readonly counts: Readonly<Record<string, number>>; readonly duration_ms: number };

export interface Outcome {
  readonly passed: boolean;
  readonly summary: Summary;
  /** Name of each skipped test or suite, with its reason. */
  readonly skipped: readonly string[];
  /** Milliseconds for each test file. */
  readonly files: ReadonlyMap<string, number>;
  /** The files in which something failed. */
  readonly failed: readonly string[];
  /** Those of which nothing failed when they were run once more, alone. */
  readonly passedAlone: readonly string[];
}

const root = join(import.meta.dirname, '../..');
/** Most of them wait for something most of the time. */
const filesAtOnce = Math.min(4, 2 * availableParallelism());
/** So many failed files are run once more; with more of them the run is broken. */
const runAgain_max = 3;

const runTests = async (
  files: readonly string[],
  concurrency: number,
  stopped: AbortSignal,
): Promise<Outcome> => {
  const skipped: string[] = [];
  const failed = new Set<string>();
  const times = new Map<string, number>();
  let passed = false;
  let summary: Summary = { counts: {}, duration_ms: 0 };
  const test_max_min = process.env['FLEET'] === 'whole' ? 25 : 15;
  // A test that waits for what never comes names itself; a file that does not end is ended.
  const execArgv = [
    `--test-timeout=${test_max_min * 60_000}`,
    '--import',
    join(import.meta.dirname, 'end-in-time.ts'),
  ];
  const events = run({ files, concurrency, signal: stopped, execArgv, cwd: root });
  events.on('test:fail', ({ file }) => failed.add(file ?? 'a file without a name'));
  // A skipped suite is one event, and does not count in the summary.
  events.on('test:pass', ({ name, skip }) => {
    if (skip !== undefined && skip !== false)
      skipped.push(`${name}${typeof skip === 'string' ? ` (${skip})` : ''}`);
  });
  events.on('test:summary', ({ file, success, counts, duration_ms }) => {
    if (file === undefined) {
      passed = success && counts.tests > 0;
      summary = { counts, duration_ms };
    } else {
      times.set(file, duration_ms);
    }
  });
  await pipeline(events, new spec(), process.stdout, { end: false });
  return { passed, summary, skipped, files: times, failed: [...failed], passedAlone: [] };
};

/**
 * Runs all files, and those that failed beside the others once more, each alone, to say whether
 * they need their neighbours to fail. The run has failed either way (ARCHITECTURE.md, A-294).
 */
export const runAll = async (files: readonly string[], stopped: AbortSignal): Promise<Outcome> => {
  const first = await runTests(files, filesAtOnce, stopped);
  const { passed, failed } = first;
  const isWorthIt = files.length > 1 && failed.length > 0 && failed.length <= runAgain_max;
  if (passed || !isWorthIt || stopped.aborted) return first;
  const names = failed.map((file) => relative(root, file));
  process.stdout.write(`\nonce more, each alone: ${names.join(', ')}\n`);
  const alone = await runTests(failed, 1, stopped);
  return { ...first, passedAlone: failed.filter((file) => !alone.failed.includes(file)) };
};
