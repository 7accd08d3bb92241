/**
 * `npm test [-- folder or file ...]`: `npm run check` and the tests, at the same time. What a test
 * needs from outside is found or installed first; what cannot be tested here is printed, and with
 * `--no-skips` or NO_SKIPS=1 a skipped test is a failed run. `npm run test:long` (LONG=1) runs what
 * takes too long for every change: the files that have a long form, in that form, and those that
 * have no other.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { pipeline } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { join, relative, resolve, sep } from 'node:path';
import { startTestDatabase } from './support/database.ts';
import { cpuUntilNow, readCosts, type Cost } from './support/file-cost.ts';
import { keepingStatements } from './support/keep-statements.ts';
import { searchLogs } from './support/log-leaks.ts';
import { readStatements } from './support/orm-statements.ts';
import { migrateTemplate } from './support/migrated.ts';
import { offerPlainService } from './support/plain-service.ts';
import { findOutsidePrograms } from './support/outside-programs.ts';
import { isLong, size } from './support/size.ts';

const root = join(import.meta.dirname, '..');
type Summary = { readonly counts: Readonly<Record<string, number>>; readonly duration_ms: number };

interface Outcome {
  readonly passed: boolean;
  readonly summary: Summary;
  /** Name of each skipped test or suite, with its reason. */
  readonly skipped: readonly string[];
}

/**
 * How many processes run at once, and how long a test may take. Most files wait for something most
 * of the time, but each process loads and compiles what they import, and has a browser of its own.
 * Those of the long run load every core alone, and more of them at once only run into each other's
 * deadlines.
 */
const processesAtOnce = size(
  Math.min(6, 3 * availableParallelism()),
  Math.min(4, 2 * availableParallelism()),
);
const test_max_min = size(15, 45);

/**
 * Each of these files has a process of its own: it looks at that process, or it starts so many
 * programs that a shared one saves nothing.
 */
const alone = [
  'test/api/overload',
  'test/cluster/',
  'test/crash/',
  'test/database/merchant-rule',
  'test/database/plans',
  'test/graph/large-answers',
  'test/live/chaos',
  'test/scenarios/',
  'test/security/rotation',
  'test/start/',
];

const memory = '/dev/shm';
const scratchName = 'payments-tests-';
// A whole run was seen to hold 0.4 GB at once.
const scratch_bytes = 2 * 1024 ** 3;
const abandoned_ms = 24 * 60 * 60_000;

/**
 * Makes the folder for everything that the tests write, and names it in TMPDIR: in memory where
 * there is plenty. A database is some 900 files, which cost up to ten times as much CPU on a disk: a
 * sixth of a run. Gives what removes it; what a killed run has left is removed after a day.
 */
const makeScratch = (): (() => void) => {
  const mounts = existsSync('/proc/mounts') ? readFileSync('/proc/mounts', 'utf8') : '';
  // Programs are started from there.
  const isMemory = /^tmpfs \/dev\/shm tmpfs (?!\S*noexec)/m.test(mounts);
  const free = (): number => {
    const { bavail, bsize } = statfsSync(memory);
    return Math.min(bavail * bsize, process.availableMemory());
  };
  // The fleets of the long form have servers of other users, who may not enter this folder.
  if (isLong || !isMemory || free() < scratch_bytes) return () => {};
  for (const folder of readdirSync(memory).filter((name) => name.startsWith(scratchName))) {
    const path = join(memory, folder);
    const { mtimeMs, uid } = statSync(path);
    if (uid === process.getuid?.() && Date.now() - mtimeMs > abandoned_ms)
      rmSync(path, { recursive: true, force: true });
  }
  const made = mkdtempSync(join(memory, scratchName));
  process.env['TMPDIR'] = made;
  return () => rmSync(made, { recursive: true, force: true });
};

const slashed = (file: string): string => relative(root, file).split(sep).join('/');

/**
 * What each process runs: the shared ones any file that none has begun. All but one of them come
 * first, since they take longest; the last one begins when the files with a process of their own
 * have ended.
 */
const groupsOf = (files: readonly string[]): readonly (readonly string[])[] => {
  const isAlone = (file: string) => alone.some((beginning) => slashed(file).startsWith(beginning));
  const sharing = files.filter((file) => !isAlone(file));
  const shared = Array<typeof sharing>(Math.min(processesAtOnce, sharing.length)).fill(sharing);
  return [
    ...shared.slice(1),
    ...files.filter(isAlone).map((file) => [file]),
    ...shared.slice(0, 1),
  ];
};

/** Writes the program of each group into `folder`; gives their paths. */
const writeEntries = (
  folder: string,
  groups: readonly (readonly string[])[],
): readonly string[] => {
  const runner = pathToFileURL(join(import.meta.dirname, 'support/group.ts')).href;
  return groups.map((files, index) => {
    const entry = join(folder, `group-${index + 1}.mjs`);
    const imports = files.map(
      (file) =>
        `${JSON.stringify(file)}: () => import(${JSON.stringify(pathToFileURL(file).href)})`,
    );
    writeFileSync(
      entry,
      `import { runGroup } from ${JSON.stringify(runner)};\nawait runGroup(import.meta.dirname, { ${imports.join(', ')} });\n`,
    );
    return entry;
  });
};

/** Runs all files. */
const runAll = async (files: readonly string[], stopped: AbortSignal): Promise<Outcome> => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-groups-'));
  const skipped: string[] = [];
  let passed = false;
  let summary: Summary = { counts: {}, duration_ms: 0 };
  const events = run({
    files: [...writeEntries(folder, groupsOf(files))],
    concurrency: processesAtOnce,
    signal: stopped,
    // A test that waits for what never comes names itself.
    execArgv: [...keepingStatements, `--test-timeout=${test_max_min * 60_000}`],
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

const seconds = (took_ms: number): string => `${(took_ms / 1_000).toFixed(1)} s`;

/** What takes long, the longest first: begun last, it would run while a core is idle. */
const long = [
  'test/live/',
  'test/crash/',
  'test/console/',
  'test/payments/',
  'test/security/rotation',
  'test/sdk/',
  'test/cluster/',
  'test/scenarios/',
  'test/browser/',
  'test/start/',
  'test/guides/',
  'test/queue/',
  'test/fuzz/',
];

const rank = (path: string): number => {
  const index = long.findIndex((beginning) => path.split(sep).join('/').startsWith(beginning));
  return index === -1 ? long.length : index;
};

const longestFirst = (one: string, other: string): number =>
  rank(one) - rank(other) || (one < other ? -1 : 1);

const isLongOnly = (path: string): boolean => path.endsWith('.long.test.ts');

/** A file has a long form when it asks `support/size.ts`. */
const hasLongForm = (path: string): boolean =>
  isLongOnly(path) || readFileSync(resolve(root, path), 'utf8').includes("support/size.ts'");

// The tidy tests are a part of the check.
const testFiles = (named: readonly string[]): readonly string[] => {
  const patterns = named.map((path) =>
    statSync(resolve(root, path)).isDirectory() ? `${path}/**/*.test.ts` : path,
  );
  const everything = () => globSync('test/**/*.test.ts', { cwd: root, exclude: ['test/tidy/**'] });
  const found = named.length > 0 ? globSync(patterns, { cwd: root }) : everything();
  return found
    .filter((path) => (isLong ? hasLongForm(path) : !isLongOnly(path)))
    .toSorted(longestFirst)
    .map((path) => resolve(root, path));
};

/** Runs `npm run check`; its lines go to the same output. */
const check = async (stopped: AbortSignal): Promise<boolean> => {
  const child = spawn(process.execPath, [join(root, 'test/check.ts')], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  stopped.addEventListener('abort', () => child.kill());
  const [code] = await once(child, 'exit');
  return code === 0;
};

const print = (line: string): boolean => process.stdout.write(`${line}\n`);

const printSkipped = ({ skipped }: Outcome, missing: readonly string[]): void => {
  if (skipped.length + missing.length > 0) print('\nnot tested here:');
  for (const text of missing) print(`  ${text}`);
  for (const text of skipped) print(`  skipped: ${text}`);
};

// The same lines that Node prints in TAP, last, so that programs find them.
const printCounts = ({ summary: { counts, duration_ms } }: Outcome): void => {
  const {
    tests = 0,
    suites = 0,
    passed = 0,
    failed = 0,
    cancelled = 0,
    skipped = 0,
    todo = 0,
  } = counts;
  const lines = {
    tests,
    suites,
    pass: passed,
    fail: failed,
    cancelled,
    skipped,
    todo,
    duration_ms,
  };
  for (const [name, value] of Object.entries(lines)) print(`# ${name} ${value}`);
};

/** Where the time of a run went. `all_s` is the CPU of the whole run, by the kernel's accounting. */
const printTimes = (
  took: Readonly<Record<string, number>>,
  files: readonly Cost[],
  all_s: number,
): void => {
  const write = (name: string, took_ms: number, cpu_s?: number): boolean =>
    print(
      `  ${name.padEnd(40)} ${seconds(took_ms).padStart(9)} ${cpu_s === undefined ? '' : `${cpu_s.toFixed(1)} s of CPU`.padStart(16)}`.trimEnd(),
    );
  const writeSum = (name: string, costs: readonly Cost[]): boolean =>
    write(
      name,
      costs.reduce((sum, { took_ms }) => sum + took_ms, 0),
      costs.reduce((sum, { cpu_s }) => sum + cpu_s, 0),
    );
  print('\ntime taken:');
  for (const [part, part_ms] of Object.entries(took)) write(part, part_ms);
  const folders = Map.groupBy(files, ({ file }) =>
    relative(root, file).split(sep).slice(0, 2).join('/'),
  );
  for (const folder of [...folders.keys()].toSorted()) writeSum(folder, folders.get(folder) ?? []);
  print('\nthe most expensive files:');
  for (const cost of files.toSorted((one, other) => other.cpu_s - one.cpu_s).slice(0, 30))
    writeSum(relative(root, cost.file), [cost]);
  writeSum('all files', files);
  for (const [name, cpu_s] of Object.entries(servers_s)) write(name, performance.now(), cpu_s);
  write('all, checks and servers included', performance.now(), all_s);
};

const timed = async <Result>(
  work: () => Result | Promise<Result>,
): Promise<readonly [Result, number]> => {
  const began_ms = performance.now();
  return [await work(), performance.now() - began_ms];
};

/**
 * Whether nothing private is in the logs of the services that were started; says how much was
 * looked at, and what was found.
 */
const logsAreClean = (folder: string, whole: boolean): boolean => {
  const { lines, leaks } = searchLogs(folder);
  rmSync(folder, { recursive: true, force: true });
  print(
    `\nlogs of the services: ${lines} lines, ${leaks.length === 0 ? 'nothing private in them' : `${leaks.length} leaks`}`,
  );
  for (const leak of leaks.slice(0, 20)) print(`  ${leak}`);
  // Tests that log nothing at all have not been looked at.
  return leaks.length === 0 && (!whole || lines > 100);
};

/** Prints which of the ORM's statements name no merchant; gives whether there are none. */
const statementsAreWhole = async (folder: string, whole: boolean): Promise<boolean> => {
  const { shapes, broken, unsent } = await readStatements(folder);
  print(`\nstatements of the ORM: ${shapes} shapes, ${broken.length} of them name no merchant`);
  for (const shape of broken) print(`  ${shape}`);
  // A list may not name what is no longer sent.
  const gone = whole && !isLong ? unsent : [];
  for (const shape of gone) print(`  never sent: ${shape}`);
  return broken.length + gone.length === 0;
};

const help = `npm test -- [--no-skips] [folder or file ...]

Runs \`npm run check\` and every test; with folders or files, the tests in them alone.

  --no-skips      a test that is skipped, or a program that is missing, fails the run (NO_SKIPS=1)
  --help          this text

TEST_LOG=debug prints what the services log. The last lines are counts in the form of TAP.`;

const options = ['--no-skips', '--help'];

/** What is wrong with the arguments, or null. */
const mistakeIn = (args: readonly string[], named: readonly string[]): string | null => {
  const misread = args.filter(
    (argument) => argument.startsWith('--') && !options.includes(argument),
  );
  if (misread.length > 0) return `there is no option ${misread.join(', ')}\n\n${help}`;
  const unknown = named.filter((path) => !existsSync(resolve(root, path)));
  return unknown.length > 0 ? `there is no ${unknown.join(', no ')} here` : null;
};

/** Seconds of CPU of what ends by this: they count when it has ended. */
const cpuOf = async (stop: () => Promise<void>): Promise<number> => {
  const before_s = cpuUntilNow();
  await stop();
  // What has ended counts once it was waited for, which happens in a later turn of the loop.
  await sleep(200);
  return cpuUntilNow() - before_s;
};

const servers_s: Record<string, number> = {};

/** Starts what the files share, runs them, and stops it. */
const runWithServers = async (files: readonly string[], stopped: AbortSignal): Promise<Outcome> => {
  const database = await startTestDatabase();
  process.env['TEST_POSTGRES_URL'] = database.url;
  process.env['TEST_POSTGRES_TEMPLATE'] = await database.createDatabase().then(migrateTemplate);
  const plainService = await offerPlainService();
  process.env['TEST_PLAIN_SERVICE'] = plainService.url;
  try {
    return await runAll(files, stopped);
  } finally {
    servers_s['the shared service'] = await cpuOf(plainService.stop);
    servers_s['the shared PostgreSQL'] = await cpuOf(database.stop);
  }
};

/** Runs what was asked for and gives the exit code. */
const main = async (args: readonly string[], stopped: AbortSignal): Promise<number> => {
  const named = args.filter((argument) => !argument.startsWith('--'));
  const noSkips = args.includes('--no-skips') || process.env['NO_SKIPS'] === '1';
  const whole = named.length === 0;
  if (args.includes('--help')) {
    print(help);
    return 0;
  }
  const mistake = mistakeIn(args, named);
  if (mistake !== null) {
    print(mistake);
    return 1;
  }
  const [missing, finding_ms] = await timed(() => findOutsidePrograms(whole));
  const logs = (process.env['TEST_LOGS'] = mkdtempSync(join(tmpdir(), 'payments-logs-')));
  const costs = (process.env['TEST_COSTS'] = join(logs, 'costs'));
  const files = testFiles(named);
  const [[checked, checking_ms], [outcome, testing_ms]] = await Promise.all([
    timed(() => (whole && !isLong ? check(stopped) : true)),
    timed(() => runWithServers(files, stopped)),
  ]);

  const kept = readCosts(costs);
  printTimes(
    { 'outside programs': finding_ms, check: checking_ms, tests: testing_ms },
    kept.files,
    cpuUntilNow() + kept.browsers_s,
  );
  printSkipped(outcome, missing);
  const ofMerchants = await statementsAreWhole(logs, whole);
  const clean = logsAreClean(logs, whole);
  const skips = noSkips ? outcome.skipped.length + (whole ? missing.length : 0) : 0;
  if (!checked) print('\nFAILED: npm run check, see above');
  if (!clean) print('\nFAILED: something private was logged, or nothing at all, see above');
  if (!ofMerchants) print('\nFAILED: a statement of the ORM names no merchant, see above');
  if (skips > 0) print('\nFAILED: something was not tested, and this run allows no skips');
  print(`\n${files.length} test files`);
  printCounts(outcome);
  return checked && ofMerchants && clean && outcome.passed && skips === 0 && !stopped.aborted
    ? 0
    : 1;
};

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
// The channel to setup.mjs, which closes when it is stopped or killed; without a run it must not
// keep us.
process.once('disconnect', () => stopping.abort());
// A second Ctrl-C: the database ends with this process.
process.once('SIGQUIT', () => {
  process.once('exit', removeScratch);
  process.exit(130);
});
process.channel?.unref();
const removeScratch = makeScratch();
process.exitCode = await main(process.argv.slice(2), stopping.signal);
removeScratch();
