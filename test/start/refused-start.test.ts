/**
 * A start that cannot succeed says why in one sentence, with a code that is not 0, before anything
 * is made.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { patience_ms } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { inherited } from '../support/service.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'payments-refused-'));
after(() => rmSync(folder, { recursive: true, force: true }));

interface Refusal {
  readonly code: number | null;
  readonly answered: string;
  readonly complained: string;
}

/** Starts the service and gives how it ended; one that spins is killed in the end. */
const refusedStart = async (
  env: Readonly<Record<string, string>>,
  words: readonly string[] = [],
): Promise<Refusal> => {
  const child = spawn(process.execPath, ['main.ts', ...words], {
    cwd: root,
    env: { ...inherited, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [answered, complained] = ['', ''];
  child.stdout.on('data', (part: Buffer) => (answered += part.toString()));
  child.stderr.on('data', (part: Buffer) => (complained += part.toString()));
  const spinning = setTimeout(() => child.kill('SIGKILL'), patience_ms);
  const [code] = await once(child, 'close');
  clearTimeout(spinning);
  return { code, answered, complained };
};

test('a port that another program has: nothing is made, whatever role was asked for', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const sentence = `The service cannot listen on 127.0.0.1:${port}: another program listens there; stop it, or set PORT to another port.\n`;
  const dataDir = join(folder, 'taken', 'data');
  assert.deepEqual(await refusedStart({ PORT: String(port), DATA_DIR: dataDir }), {
    code: 1,
    answered: '',
    complained: sentence,
  });
  assert.equal(existsSync(join(folder, 'taken')), false);
  const neighbours = Object.fromEntries(
    ['PAYMENTS', 'PAYOUTS', 'RECURRING', 'MERCHANTS'].map((name) => [
      `SUBGRAPH_${name}_URL`,
      'http://127.0.0.1:1',
    ]),
  );
  const edge = {
    PORT: String(port),
    SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
    ...neighbours,
  };
  assert.deepEqual(await refusedStart(edge, ['gateway']), {
    code: 1,
    answered: '',
    complained: sentence,
  });
  const metrics = sentence.replace('set PORT', 'set METRICS_PORT');
  const taken = { PORT: String(await freePort()), METRICS_PORT: String(port), DATA_DIR: dataDir };
  assert.deepEqual(await refusedStart(taken), { code: 1, answered: '', complained: metrics });
  assert.equal(existsSync(join(folder, 'taken')), false);
  other.close();
});

test('an address that this machine does not have', async () => {
  const refusal = await refusedStart({
    PORT: String(await freePort()),
    HOST: '192.0.2.1',
    DATA_DIR: join(folder, 'elsewhere'),
  });
  assert.equal(refusal.code, 1);
  assert.match(
    refusal.complained,
    /^The service cannot listen on 192\.0\.2\.1:\d+: this machine does not have that address; set HOST to one of its own\.\n$/,
  );
});

/** Directories that cannot be made or written, and the message for each. */
const unusable: readonly (readonly [string, RegExp])[] = [
  ['/proc/payments', /\(ENOENT\)\. Set DATA_DIR to a directory that can be written to\.$/],
  [
    '/proc/payments/deep/data',
    /\(ENOENT\)\. Set DATA_DIR to a directory that can be written to\.$/,
  ],
  [
    '/dev/null/data',
    /\(EEXIST\)\. There is a file where a directory must be: move it away, or set DATA_DIR to another directory\.$/,
  ],
];

for (const [dataDir, reason] of unusable) {
  test(
    `${dataDir} as DATA_DIR is refused at once`,
    { skip: process.platform !== 'linux' && 'a file system of Linux' },
    async () => {
      const refusal = await refusedStart({ PORT: String(await freePort()), DATA_DIR: dataDir });
      assert.deepEqual(
        [refusal.code, refusal.answered, refusal.complained.split('\n').length],
        [1, '', 2],
      );
      assert.match(refusal.complained.trim(), reason);
      assert.ok(refusal.complained.startsWith(`The data directory ${dataDir} cannot be used `));
    },
  );
}

/**
 * A directory that is there and takes no file: the kernel's own for root, who may write to every
 * other.
 */
const readOnlyDirectory = (): string => {
  if (process.getuid?.() === 0) return '/sys/kernel';
  const dataDir = join(folder, 'read-only');
  mkdirSync(dataDir);
  chmodSync(dataDir, 0o500);
  return dataDir;
};

test(
  'a directory that this user may not write to',
  { skip: process.platform !== 'linux' && 'a file system of Linux' },
  async () => {
    const dataDir = readOnlyDirectory();
    const before = readdirSync(dataDir);
    const { code, complained } = await refusedStart({
      PORT: String(await freePort()),
      DATA_DIR: dataDir,
    });
    assert.equal(code, 1);
    assert.ok(complained.startsWith(`The data directory ${dataDir} cannot be used `), complained);
    assert.match(
      complained,
      /\((EACCES|EPERM|EROFS)\)\. (This user cannot read or write it|The disk is read-only): .*\n$/,
    );
    assert.deepEqual(readdirSync(dataDir), before);
  },
);
