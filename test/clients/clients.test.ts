/**
 * Clients that stock generators make of the description: they compile, and they work on the
 * service.
 */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeMerchant } from '../support/merchant.ts';
import { openPlainService } from '../support/plain-service.ts';

const root = join(import.meta.dirname, '../..');
const programs = ['openapi-fetch.mts', 'hey-api.mts'];
const folder = mkdtempSync(join(tmpdir(), 'payments-clients-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** What a shop's project has that takes types seriously. */
const tsconfig = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: 'esnext',
    module: 'nodenext',
    lib: ['esnext', 'dom'],
    types: ['node'],
    skipLibCheck: true,
    allowImportingTsExtensions: true,
  },
  include: programs,
};

/**
 * Runs Node with the arguments and gives what it printed. Rejects with all of it when that failed.
 */
const node = async (args: readonly string[], env: Record<string, string> = {}): Promise<string> => {
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, ...env },
  }).catch((error: Error & { stdout?: string }) =>
    Promise.reject(new Error(`${error.message}\n${error.stdout ?? ''}`)),
  );
  return stdout;
};

const service = await openPlainService();
after(() => service.stop());

/** Runs a shop's program with a key of a new merchant. */
const run = async (program: string): Promise<any> => {
  const { key } = await makeMerchant(service);
  return JSON.parse(await node([program], { BASE_URL: service.rest, API_KEY: key }));
};

describe('the description', () => {
  before(async () => {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    for (const program of programs)
      copyFileSync(join(import.meta.dirname, 'programs', program), join(folder, program));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
    await node([join(import.meta.dirname, 'generate-clients.ts'), folder]);
  });

  test('gives types by which a shop compiles', async () => {
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const listed = await node([tsc, '-p', folder, '--listFiles']);
    for (const seen of [...programs, 'openapi-typescript.ts', 'types.gen.ts'])
      assert.ok(listed.includes(seen), `${seen} was not compiled`);
  });

  test('gives openapi-fetch a client that works', async () => {
    assert.deepEqual(await run('openapi-fetch.mts'), {
      currency: 'RUB',
      method: 'any',
      asked: ['pending', 'cancelled'],
      listed: ['cancelled', 'pending'],
      refused: 'insufficient_balance',
      advice: 'top up',
      batch: 'insufficient_balance',
      period: 'month',
      token: 'cards',
      event: 'cancelled',
    });
  });

  test('gives hey-api a client that works, its stream too', async () => {
    assert.deepEqual(await run('hey-api.mts'), {
      asked: ['pending,cancelled'],
      listed: ['cancelled'],
      refused: 'insufficient_balance',
      events: ['created 10000', 'became cancelled'],
    });
  });
});
