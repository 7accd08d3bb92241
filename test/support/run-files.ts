/** Runs test files, several to a process and several processes at once, and gives the outcome. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { pathToFileURL } from 'node:url';

type Summary = { readonly counts: Readonly<Record<string, number>>; readonly duration_ms: number };

export interface Outcome {
  readonly passed: boolean;
  readonly summary: Summary;
  /** Name of each skipped test or suite, with its reason. */
  readonly skipped: readonly string[];
}

const root = join(import.meta.dirname, '../..');
/**
 * Most files share these processes, so that what they import is loaded and compiled four times, not
 * three hundred.
 */
const sharedProcesses = 4;
/** Most of them wait for something most of the time. */
const processesAtOnce = Math.min(6, 3 * availableParallelism());
const test_max_min = 15;

/**
 * Each of these files has a process of its own: it looks at that process, or it starts so many
 * programs that a shared one saves nothing.
 */
const alone = [
  'test/api/overload',
  'test/cluster/',
  'test/crash/',
  'test/database/merchant-rule',
  'test/graph/large-answers',
  'test/live/chaos',
  'test/scenarios/',
  'test/security/rotation',
  'test/start/',
];

const slashed = (file: string): string => relative(root, file).split(sep).join('/');

/** What runs in one process each: the shared ones first, which take longest. */
const groupsOf = (files: readonly string[]): readonly (readonly string[])[] => {
  const isAlone = (file: string) => alone.some((beginning) => slashed(file).startsWith(beginning));
  const sharing = files.filter((file) => !isAlone(file));
  // Dealt out one by one, so that each process has as many of the long ones.
  const shared = Map.groupBy(sharing, (file) => sharing.indexOf(file) % sharedProcesses);
  return [...shared.values(), ...files.filter(isAlone).map((file) => [file])];
};

/** Writes the program of each group into `folder`; gives their paths. */
const writeEntries = (
  folder: string,
  groups: readonly (readonly string[])[],
): readonly string[] => {
  const runner = pathToFileURL(join(import.meta.dirname, 'group.ts')).href;
  return groups.map((files, index) => {
    const entry = join(folder, `group-${index + 1}.mjs`);
    const imports = files.map(
      (file) =>
        `${JSON.stringify(file)}: () => import(${JSON.stringify(pathToFileURL(file).href)})`,
    );
    writeFileSync(
      entry,
      `import { runGroup } from ${JSON.stringify(runner)};\nawait runGroup({ ${imports.join(', ')} });\n`,
    );
    return entry;
  });
};

/** Runs all files. */
export const runAll = async (files: readonly string[], stopped: AbortSignal): Promise<Outcome> => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-groups-'));
  const skipped: string[] = [];
  let passed = false;
  let summary: Summary = { counts: {}, duration_ms: 0 };
  const events = run({
    files: [...writeEntries(folder, groupsOf(files))],
    concurrency: processesAtOnce,
    signal: stopped,
    // A test that waits for what never comes names itself.
    execArgv: [`--test-timeout=${test_max_min * 60_000}`],
    cwd: root,
  });
  // A skipped suite is one event, and does not count in the summary.
  events.on('test:pass', ({ name, skip }) => {
    if (skip !== undefined && skip !== false)
      skipped.push(`${name}${typeof skip === 'string' ? ` (${skip})` : ''}`);
  });
  events.on('test:summary', ({ file, success, counts, duration_ms }) => {
    if (file !== undefined) return;
    passed = success && counts.tests > 0;
    summary = { counts, duration_ms };
  });
  await pipeline(events, new spec(), process.stdout, { end: false });
  rmSync(folder, { recursive: true, force: true });
  return { passed, summary, skipped };
};
