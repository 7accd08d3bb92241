/**
 * `npm test [-- folder or file ...]`: `npm run check`, then every test. What a test needs from
 * outside is found or installed first; what cannot be tested here is printed plainly, and with
 * `--no-skips` or NO_SKIPS=1 a skipped test is a failed run. `--whole-fleet` (`npm run
 * test:cluster`): each role of the fleet is a process of its own, and each is lost.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve, sep } from 'node:path';
import { startTestDatabase } from './support/database.ts';
import { readCosts } from './support/file-cost.ts';
import { searchLogs } from './support/log-leaks.ts';
import { migrateTemplate } from './support/migrated.ts';
import { offerPlainService } from './support/plain-service.ts';
import { findOutsidePrograms } from './support/outside-programs.ts';
import { runAll, type Outcome } from './support/run-files.ts';

const root = join(import.meta.dirname, '..');
const seconds = (took_ms: number): string => `${(took_ms / 1_000).toFixed(1)} s`;

/** What takes long, the longest first: begun last, it would run while a core is idle. */
const long = [
  'test/how-to/',
  'test/crash/',
  'test/security/rotation',
  'test/sdk/',
  'test/cluster/',
  'test/scenarios/',
  'test/browser/',
  'test/live/chaos',
  'test/start/',
  'test/api/overload',
  'test/api/event-stream',
  'test/fuzz/',
  'test/queue/idle',
];

const rank = (path: string): number => {
  const index = long.findIndex((beginning) => path.split(sep).join('/').startsWith(beginning));
  return index === -1 ? long.length : index;
};

const longestFirst = (one: string, other: string): number =>
  rank(one) - rank(other) || (one < other ? -1 : 1);

// Benchmarks are not tests, and the tidy tests are a part of the check.
const testFiles = (named: readonly string[]): readonly string[] => {
  const patterns = named.map((path) =>
    statSync(resolve(root, path)).isDirectory() ? `${path}/**/*.test.ts` : path,
  );
  const everything = () =>
    globSync('test/**/*.test.ts', { cwd: root, exclude: ['test/bench/**', 'test/tidy/**'] });
  const found = named.length > 0 ? globSync(patterns, { cwd: root }) : everything();
  return found.toSorted(longestFirst).map((path) => resolve(root, path));
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

// The same lines that Node prints in TAP, last, so that whoever reads them by program finds them.
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

const printTimes = (
  took: Readonly<Record<string, number>>,
  outcome: Outcome,
  costs: string,
): void => {
  const folders = Map.groupBy(outcome.files, ([file]) =>
    relative(root, file).split(sep).slice(0, 2).join('/'),
  );
  const cpu_s = readCosts(costs);
  const cpuOf = (files: readonly (readonly [string, number])[]): string =>
    `${files.reduce((sum, [file]) => sum + (cpu_s.get(file) ?? 0), 0).toFixed(1)} s of CPU`;
  const write = (name: string, part_ms: number, cpu = ''): boolean =>
    print(`  ${name.padEnd(40)} ${seconds(part_ms).padStart(8)} ${cpu.padStart(16)}`.trimEnd());
  const timeOf = (files: readonly (readonly [string, number])[]): number =>
    files.reduce((sum, [, file_ms]) => sum + file_ms, 0);
  print('\ntime taken:');
  for (const [part, part_ms] of Object.entries(took)) write(part, part_ms);
  for (const [folder, files] of folders) write(folder, timeOf(files), cpuOf(files));
  print('\nthe slowest files:');
  const slowest = [...outcome.files].toSorted(([, one], [, other]) => other - one).slice(0, 15);
  for (const entry of slowest) write(relative(root, entry[0]), entry[1], cpuOf([entry]));
  write('all files', timeOf([...outcome.files]), cpuOf([...outcome.files]));
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

const help = `npm test -- [--no-skips] [--whole-fleet] [folder or file ...]

Runs \`npm run check\` and every test; with folders or files, the tests in them alone.

  --no-skips      a test that is skipped, or a program that is missing, fails the run (NO_SKIPS=1)
  --whole-fleet   each role of the fleet is a process of its own (npm run test:cluster)
  --help          this text

TEST_LOG=debug prints what the services log. The last lines are counts in the form of TAP.`;

/** Runs what was asked for and gives the exit code. */
const main = async (args: readonly string[], stopped: AbortSignal): Promise<number> => {
  const named = args.filter((argument) => !argument.startsWith('--'));
  const noSkips = args.includes('--no-skips') || process.env['NO_SKIPS'] === '1';
  const whole = named.length === 0;
  const wholeFleet = args.includes('--whole-fleet');
  if (wholeFleet) process.env['FLEET'] = 'whole';
  if (args.includes('--help')) {
    print(help);
    return 0;
  }
  const misread = args.filter(
    (argument) => argument.startsWith('--') && !['--no-skips', '--whole-fleet'].includes(argument),
  );
  if (misread.length > 0) {
    print(`there is no option ${misread.join(', ')}\n\n${help}`);
    return 1;
  }
  const unknown = named.filter((path) => !existsSync(resolve(root, path)));
  if (unknown.length > 0) {
    print(`there is no ${unknown.join(', no ')} here`);
    return 1;
  }
  const files = testFiles(named);
  const [missing, finding_ms] = await timed(() =>
    findOutsidePrograms(whole || wholeFleet, wholeFleet),
  );
  const [checked, checking_ms] = whole ? await timed(() => check(stopped)) : [true, 0];
  const [database, starting_ms] = await timed(startTestDatabase);
  process.env['TEST_POSTGRES_URL'] = database.url;
  process.env['TEST_POSTGRES_TEMPLATE'] = await database.createDatabase().then(migrateTemplate);
  const logs = (process.env['TEST_LOGS'] = mkdtempSync(join(tmpdir(), 'payments-logs-')));
  const costs = (process.env['TEST_COSTS'] = join(logs, 'costs'));
  const plainService = await offerPlainService();
  process.env['TEST_PLAIN_SERVICE'] = plainService.url;
  const [outcome, testing_ms] = await timed(() => runAll(files, stopped)).finally(() =>
    plainService.stop().finally(() => database.stop()),
  );

  const took = {
    'outside programs': finding_ms,
    check: checking_ms,
    database: starting_ms,
    tests: testing_ms,
  };
  printTimes(took, outcome, costs);
  printSkipped(outcome, missing);
  const clean = logsAreClean(logs, whole);
  const skips = noSkips ? outcome.skipped.length + (whole || wholeFleet ? missing.length : 0) : 0;
  if (!checked) print('\nFAILED: npm run check, see above');
  if (!clean) print('\nFAILED: something private was logged, or nothing at all, see above');
  if (skips > 0) print('\nFAILED: something was not tested, and this run allows no skips');
  for (const file of outcome.passedAlone)
    print(`\n${relative(root, file)} FAILED beside the others, see above, and passed alone`);
  print(`\n${files.length} test files`);
  printCounts(outcome);
  return checked && clean && outcome.passed && skips === 0 && !stopped.aborted ? 0 : 1;
};

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
// The channel to setup.mjs, which closes when it is stopped or killed; without a run it must not
// keep us.
process.once('disconnect', () => stopping.abort());
// A second Ctrl-C: the database ends with this process.
process.once('SIGQUIT', () => process.exit(130));
process.channel?.unref();
process.exitCode = await main(process.argv.slice(2), stopping.signal);
