/**
 * `npm start` in a terminal, stopped at every moment of its start: it ends in order or at once, and
 * leaves nothing that runs or harms the next start.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../support/free-port.ts';
import { eventually } from '../support/eventually.ts';
import { isLong, size } from '../support/size.ts';
import { openTerminal, processesAt, until, type Terminal } from './terminal.ts';

const root = join(import.meta.dirname, '../..');
const skip = process.platform !== 'linux' && 'reads /proc, and has its terminal from util-linux';
const folder = mkdtempSync(join(tmpdir(), 'payments-stop-'));
const open = new Set<Terminal>();

after(() => {
  for (const terminal of open) terminal.close();
  rmSync(folder, { recursive: true, force: true });
});

const startIn = (
  dataDir: string,
  command: string,
  port: number,
  env: Readonly<Record<string, string>> = {},
): Terminal => {
  const terminal = openTerminal(command, root, {
    DATA_DIR: dataDir,
    PORT: String(port),
    OVERLOAD_DELAY_MS: '30000',
    ...env,
  });
  open.add(terminal);
  return terminal;
};

const nothingRuns = (dataDir: string, shown: () => string): Promise<true> =>
  eventually(
    () => processesAt(dataDir).length === 0,
    () => `every process still to end:\n${shown()}\n${processesAt(dataDir).join('\n')}`,
  );

type IsThere = (terminal: Pick<Terminal, 'shown'>, dataDir: string) => boolean;
const says =
  (words: string): IsThere =>
  ({ shown }) =>
    shown().includes(words);

const runsMain: IsThere = (_, dataDir) =>
  processesAt(dataDir).some((command) => command.includes('main.ts'));

/**
 * The moments of a start, in their order: each start continues with what the one before it has left.
 */
const allMoments: readonly (readonly [string, IsThere])[] = [
  ['main.ts has begun to load', runsMain],
  ['PostgreSQL is being looked for', says('PostgreSQL ...')],
  ['initdb runs', says('making a new PostgreSQL cluster')],
  ['PostgreSQL starts', (_, dataDir) => existsSync(join(dataDir, 'postgres', 'postmaster.pid'))],
  ['the migrations run', says('Migrations ...')],
  ['the roles start', says('Roles ...')],
  ['it is ready', says('Ctrl-C stops everything')],
];

/** Where something different is under way each time. The starts through npm come to their end. */
const telling = ['initdb runs', 'the migrations run', ...size([], ['it is ready'])];
const isTelling = ([name]: readonly [string, IsThere]): boolean => telling.includes(name);
const moments = allMoments.filter((moment) => isLong || isTelling(moment));

const launcher = `exec '${process.execPath}' setup.mjs start`;

describe('Ctrl-C in the terminal of a start', { skip }, () => {
  const dataDir = join(folder, 'moments', 'data');
  for (const [moment, isThere] of moments) {
    test(`when ${moment}: it ends with 0 and leaves nothing`, async () => {
      const terminal = startIn(dataDir, launcher, await freePort());
      await until(moment, () => isThere(terminal, dataDir), terminal.shown);
      terminal.interrupt();
      assert.equal(await terminal.ended(), 0, terminal.shown());
      assert.match(terminal.shown(), /Stopping \((Ctrl-C|asked to)\) \.\.\.\r?\n[^]*Stopped\./);
      assert.doesNotMatch(terminal.shown(), /Error|"level":[56]0/);
      await nothingRuns(dataDir, terminal.shown);
      const left = existsSync(dataDir)
        ? readdirSync(dataDir).filter((name) =>
            /^(service\.lock|postgres\.unfinished|\.trial)/.test(name),
          )
        : [];
      assert.deepEqual(left, []);
      assert.equal(existsSync(join(dataDir, 'postgres', 'postmaster.pid')), false);
    });
  }

  test('before the start has seen that main.ts runs: it ends with 0 and leaves nothing', async () => {
    const terminal = startIn(dataDir, launcher, await freePort(), {
      NODE_OPTIONS: `--import=${join(import.meta.dirname, 'stall-after-spawn.ts')}`,
    });
    await until('main.ts', () => runsMain(terminal, dataDir), terminal.shown);
    terminal.interrupt();
    assert.equal(await terminal.ended(), 0, terminal.shown());
    await nothingRuns(dataDir, terminal.shown);
  });

  test('a second one ends a drain that takes long, and PostgreSQL with it; the next start is none the worse', async () => {
    const port = await freePort();
    const terminal = startIn(dataDir, 'npm start', port, { DRAIN_DELAY_MS: '600000' });
    await until('ready', () => says('Ready in')(terminal, dataDir), terminal.shown);
    terminal.interrupt();
    await until('the drain', () => says('Stopping (')(terminal, dataDir), terminal.shown);
    // Longer than what npm passes on may take.
    await delay(1_500);
    terminal.interrupt();
    assert.equal(await terminal.ended(), 130, terminal.shown());
    await nothingRuns(dataDir, terminal.shown);
    const next = startIn(dataDir, 'npm start', port, {
      OPERATOR_TOKEN: 'the-token-of-this-operator',
    });
    await until('ready again', () => says('Ctrl-C stops everything')(next, dataDir), next.shown);
    next.interrupt();
    await next.ended();
    assert.match(next.shown(), /Stopped\./, 'npm passes it on a second time, and it still drains');
    assert.match(next.shown(), /Test key +sk_test_/);
    assert.doesNotMatch(
      next.shown(),
      /Operator token|the-token-of-this-operator/,
      'a token that was given is not printed',
    );
    await nothingRuns(dataDir, next.shown);
  });

  test('while npm installs packages from a registry that never answers, nothing of npm is left', async (t) => {
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => void sockets.add(socket)).listen(0, '127.0.0.1');
    t.after(() => {
      for (const socket of sockets) socket.destroy();
      silent.close();
    });
    await once(silent, 'listening');
    const address = silent.address();
    const registry = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
    const directory = join(folder, 'installing');
    mkdirSync(directory);
    copyFileSync(join(root, 'setup.mjs'), join(directory, 'setup.mjs'));
    const version = {
      version: '1.0.0',
      resolved: `${registry}/tea/-/tea-1.0.0.tgz`,
      integrity: 'sha512-AAAA',
    };
    const dependencies = { tea: '1.0.0' };
    writeFileSync(
      join(directory, 'package.json'),
      JSON.stringify({ scripts: { start: 'exec node setup.mjs start' }, dependencies }),
    );
    const packages = { '': { dependencies }, 'node_modules/tea': version };
    writeFileSync(
      join(directory, 'package-lock.json'),
      JSON.stringify({ lockfileVersion: 3, requires: true, packages }),
    );
    const terminal = openTerminal('npm start', directory, { npm_config_registry: registry });
    open.add(terminal);
    const asked = once(silent, 'connection');
    await until(
      'the installation',
      () => says('Installing packages')(terminal, ''),
      terminal.shown,
    );
    await asked;
    terminal.interrupt();
    assert.notEqual(await terminal.ended(), 0, terminal.shown());
    assert.match(terminal.shown(), /Stopped before the packages were installed/);
    await nothingRuns(directory, terminal.shown);
  });
});

describe('SIGTERM to main.ts alone', { skip }, () => {
  const dataDir = join(folder, size('moments', 'alone'), 'data');
  for (const [moment, isThere] of size(allMoments.slice(-1), allMoments.filter(isTelling))) {
    test(`when ${moment}: it ends with 0 and leaves nothing`, async () => {
      let text = '';
      const env = {
        PATH: process.env['PATH'] ?? '',
        DATA_DIR: dataDir,
        PORT: String(await freePort()),
        OVERLOAD_DELAY_MS: '30000',
      };
      const child = spawn(process.execPath, ['main.ts'], {
        cwd: root,
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (part: Buffer) => (text += part.toString()));
      const closed = once(child, 'close');
      const shown = (): string => text;
      await until(moment, () => isThere({ shown }, dataDir), shown);
      child.kill('SIGTERM');
      assert.deepEqual(await closed, [0, null], text);
      if (moment === 'it is ready')
        assert.match(text, /Operator token +op_/, 'a token that was made here is printed');
      assert.match(text, /Stopping \(SIGTERM\) \.\.\.\n[^]*Stopped\.\n$/);
      await nothingRuns(dataDir, shown);
    });
  }
});
