/** The commands of README.md's first payment run as they stand there. */
import { after, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeMerchant } from '../support/merchant.ts';
import { openPlainService } from '../support/plain-service.ts';
import { readText } from '../tidy/tree.ts';
import { eventually } from '../support/eventually.ts';

const service = await openPlainService();
after(() => service.stop());
const root = join(import.meta.dirname, '../..');
const [, section = ''] = /^## A first payment\n([^]*?)^## /m.exec(readText('README.md')) ?? [];
const blocks = [...section.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, code = '']) => code);

describe('the first payment of README.md', () => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-readme-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Starts a block with this service and key in the places of those that it names. */
  const start = (code: string, key: string): ChildProcess => {
    const text = code
      .replaceAll('sk_test_...', key)
      .replaceAll('http://127.0.0.1:4000', service.rest);
    const env = { ...process.env, PSP_URL: service.rest, PSP_CONFIG: folder };
    return spawn('bash', ['-c', `set -e\n${text}`], { cwd: root, env, detached: true });
  };

  test('is made by curl and by psp, and psp prints its webhook events', async (t) => {
    const merchant = await makeMerchant(service);
    const [listening, ...others] = blocks.toSorted(
      (a, b) => Number(b.includes('psp -- listen')) - Number(a.includes('psp -- listen')),
    );
    // The stream continues until its reader stops.
    const ending = others.map((code) => code.replace(/^curl -N .*$/m, ''));
    assert.deepEqual([ending.length, listening?.includes('psp -- listen')], [3, true]);
    const listener = start(listening ?? '', merchant.key);
    const ended = once(listener, 'exit');
    let printed = '';
    listener.stdout?.on('data', (part) => (printed += String(part)));
    listener.stderr?.on('data', (part) => (printed += String(part)));
    t.after(async () => {
      const hasEnded = listener.exitCode !== null || listener.signalCode !== null;
      if (listener.pid !== undefined && !hasEnded) process.kill(-listener.pid);
      await ended;
    });
    await eventually(async () => printed.includes('printing events'), 'psp listen');
    for (const code of ending) {
      const child = start(code, merchant.key);
      let output = '';
      child.stdout?.on('data', (part) => (output += String(part)));
      child.stderr?.on('data', (part) => (output += String(part)));
      const [status] = (await once(child, 'close')) as [number | null];
      assert.equal(status, 0, `${code}\n${output}`);
    }
    const { body } = await merchant.call('GET', '/payments');
    const orders = body.items.map((one: { readonly order_id: string }) => one.order_id);
    assert.ok(orders.includes('order-1') && orders.includes('order-2'), String(orders));
    await eventually(async () => printed.includes('payment.succeeded'), 'the event');
  });
});
