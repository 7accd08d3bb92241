/**
 * `npm start` with a stand-in for the service, which writes down what reaches it: however a start
 * is ended, the service is asked to drain, once.
 */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { isLong } from '../support/size.ts';

const root = join(import.meta.dirname, '..', '..');
const directory = mkdtempSync(join(tmpdir(), 'payments-start-'));
const diary = join(directory, 'diary');
const started = new Set<ChildProcess>();

copyFileSync(join(root, 'setup.mjs'), join(directory, 'setup.mjs'));
copyFileSync(join(root, 'package.json'), join(directory, 'package.json'));
symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
writeFileSync(
  join(directory, 'main.ts'),
  `import { appendFileSync } from 'node:fs';
  const write = (line: string): void => appendFileSync('diary', line + '\\n');
  const drain = (reason: string): void => {
    write('drain ' + reason);
    setTimeout(() => { write('drained'); process.exit(Number(process.argv[2])); }, 600);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => drain(signal));
  process.once('disconnect', () => drain('disconnect'));
  write('pid ' + process.pid + ' setup ' + process.ppid + ' node ' + process.versions.node);`,
);

after(() => {
  for (const child of started) child.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

const written = (): string => (existsSync(diary) ? readFileSync(diary, 'utf8') : '');

const until = (pattern: RegExp): Promise<RegExpExecArray> =>
  eventually(
    () => pattern.exec(written()),
    () => `${String(pattern)} in:\n${written()}`,
  );

interface Start {
  /**
   * npm itself, or setup.mjs when it was started without npm; it leads a process group of its own,
   * as in a terminal.
   */
  readonly child: ChildProcess;
  readonly pid: number;
  readonly setupPid: number;
  readonly ended: Promise<number | null>;
}

const start = async (command: readonly [string, ...string[]]): Promise<Start> => {
  rmSync(diary, { force: true });
  const child = spawn(command[0], command.slice(1), {
    cwd: directory,
    detached: true,
    stdio: 'ignore',
  });
  started.add(child);
  const ended = once(child, 'exit').then(([code]) => {
    started.delete(child);
    return code;
  });
  const setupPid = Number((await until(/setup (\d+)/))[1]);
  return { child, pid: child.pid ?? 0, setupPid, ended };
};

const throughNpm = ['npm', 'start', '--', '7'] as const;

// Each case: how the start is ended, and whether anybody is left to hand on the service's exit
// code.
type End = readonly [string, (running: Start) => void, boolean];
const ends: readonly End[] = [
  ['Ctrl-C, twice', ({ pid }) => [0, 1].forEach(() => process.kill(-pid, 'SIGINT')), true],
  ['SIGTERM to npm', ({ child }) => child.kill('SIGTERM'), true],
  ['kill -9 of npm', ({ child }) => child.kill('SIGKILL'), false],
  ['kill -9 of the whole process group', ({ pid }) => process.kill(-pid, 'SIGKILL'), false],
];
const moreEnds: readonly End[] = [
  [
    'Ctrl-C, which reaches the whole process group',
    ({ pid }) => process.kill(-pid, 'SIGINT'),
    true,
  ],
  ['SIGINT to npm', ({ child }) => child.kill('SIGINT'), true],
  ['SIGTERM to setup.mjs', ({ setupPid }) => process.kill(setupPid, 'SIGTERM'), true],
  ['kill -9 of setup.mjs', ({ setupPid }) => process.kill(setupPid, 'SIGKILL'), false],
];

for (const [name, end, handsOn] of isLong ? [...ends, ...moreEnds] : ends) {
  test(`${name}: the service is asked to drain once`, async () => {
    const running = await start(throughNpm);
    end(running);
    const code = await running.ended;
    if (handsOn) assert.equal(code, 7);
    await until(/drained/);
    assert.deepEqual(written().trim().split('\n').slice(1), ['drain disconnect', 'drained']);
  });
}

test('without npm, and without anything in between, the same, under the Node that npm has brought', async () => {
  const running = await start([process.execPath, 'setup.mjs', 'start', '0']);
  assert.match(written(), /node 26\./);
  running.child.kill('SIGTERM');
  assert.equal(await running.ended, 0);
  assert.deepEqual(written().trim().split('\n').slice(1), ['drain disconnect', 'drained']);
});

test('an unknown command is answered with the known ones', async () => {
  const child = spawn(process.execPath, ['setup.mjs', 'fly'], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let answered = '';
  child.stderr.on('data', (text: Buffer) => (answered += text.toString()));
  const [code] = await once(child, 'close');
  assert.equal(code, 1);
  assert.match(
    answered,
    /One of: start, console:link, test, test:citus, check, bench, acquirer, psp, chaos, sdk, generate, format/,
  );
});
