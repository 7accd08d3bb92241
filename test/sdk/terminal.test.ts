/** `psp` at a terminal, that of util-linux' `script`: what it prints, how it asks. */
import { after, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeMerchant } from '../support/merchant.ts';
import { openPlainService } from '../support/plain-service.ts';
import { makeFundedMerchant } from './funded.ts';
import { openPsp, type Psp } from './run-psp.ts';

const noTerminal = String(spawnSync('script', ['--version']).stdout).includes('util-linux')
  ? false
  : 'there is no script of util-linux on this machine';

const service = await openPlainService();
after(() => service.stop());
const { key, call } = await makeFundedMerchant(service);
const program = join(import.meta.dirname, '../../sdk/src/psp/main.ts');

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Runs a line of a shell at a terminal; types when it is asked. Gives all that is seen. */
const atTerminal = async (
  psp: Psp,
  args: readonly string[],
  { after: behind = '', typed = '', variables = {} } = {},
): Promise<{ readonly code: number | null; readonly seen: string }> => {
  const line = `${[process.execPath, program, ...args].map(quoted).join(' ')} ${behind}`;
  const child = spawn('script', ['--quiet', '--return', '--command', line, '/dev/null'], {
    env: { ...psp.env, TERM: 'xterm', SHELL: '/bin/sh', ...variables },
    stdio: 'pipe',
  });
  let [seen, toType] = ['', typed];
  child.stdin.on('error', () => {});
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    seen += part;
    if (toType !== '' && seen.includes('API key')) {
      child.stdin.write(toType);
      toType = '';
    }
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, seen };
};

const escape = '\u001B[';

describe('psp at a terminal', { skip: noTerminal }, () => {
  const psp = openPsp({ PSP_URL: service.rest, PSP_API_KEY: key });
  after(psp.remove);

  test('has colours, and none where NO_COLOR is set or JSON is asked for', async () => {
    const { seen } = await atTerminal(psp, ['doctor']);
    assert.ok(seen.includes(`${escape}32mok${escape}0m`), seen);
    const plain = await atTerminal(psp, ['doctor'], { variables: { NO_COLOR: '1' } });
    assert.match(plain.seen, /key +ok/);
    assert.ok(!plain.seen.includes(escape), plain.seen);
    const json = await atTerminal(psp, ['doctor', '--json']);
    assert.ok(!json.seen.includes(escape), json.seen);
  });

  test('paints what is wrong red', async () => {
    const nowhere = openPsp({ PSP_URL: 'http://127.0.0.1:1', PSP_API_KEY: key });
    after(nowhere.remove);
    const { code, seen } = await atTerminal(nowhere, ['doctor']);
    assert.equal(code, 1);
    assert.ok(seen.includes(`${escape}31mnot ok${escape}0m`), seen);
  });

  test('shows a bar for the ledger beside the file, and takes it away at the end', async () => {
    const file = join(psp.folder, '..', 'ledger.csv');
    const { code, seen } = await atTerminal(psp, ['ledger', 'export', '--from', '2026-01-01'], {
      after: `> ${quoted(file)}`,
    });
    assert.equal(code, 0, seen);
    assert.match(seen, /\[=* *\] \d+ % {2}\d+ rows/);
    const { items } = (await call('GET', '/ledger?limit=200')).body;
    const rows = readFileSync(file, 'utf8').trim().split('\n').length - 1;
    assert.equal(rows, items.length);
    assert.ok(seen.trimEnd().endsWith(`\r${escape}K${rows} rows`), JSON.stringify(seen));
  });

  test('asks for a key without showing what is typed', async () => {
    const other = await makeMerchant(service);
    const fresh = openPsp({});
    after(fresh.remove);
    const { code, seen } = await atTerminal(fresh, ['login', '--url', service.rest], {
      typed: `${other.key}\r`,
    });
    assert.equal(code, 0, seen);
    assert.ok(!seen.includes(other.key), 'the key was shown');
    assert.equal((await fresh.run(['balance'])).code, 0);
  });
});
