/** `psp mcp` by the official client: reads by default, writes within limits, equal calls once. */
import { after, describe, test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { readTools, writeTools } from '../../sdk/src/psp/mcp/tools.ts';
import { openPlainService } from '../support/plain-service.ts';
import { payByCard } from '../support/buyer.ts';
import { eventually } from '../support/eventually.ts';
import { makeFundedMerchant } from './funded.ts';
import { openPsp, type Psp } from './run-psp.ts';

const service = await openPlainService();
after(() => service.stop());
const merchant = await makeFundedMerchant(service);
const program = join(import.meta.dirname, '../../sdk/src/psp/main.ts');

const terminal = (t: TestContext, key = merchant.key): Psp => {
  const psp = openPsp({ PSP_URL: service.rest, PSP_API_KEY: key });
  t.after(psp.remove);
  return psp;
};

/** An assistant beside the command; `call` gives what a tool answered, and whether it failed. */
const openAssistant = async (t: TestContext, { env }: Psp, ...args: readonly string[]) => {
  const client = new Client({ name: 'test', version: '1' });
  const command = [program, 'mcp', ...args];
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: command, env: { ...env } }),
  );
  t.after(() => client.close());
  return {
    names: async () => (await client.listTools()).tools.map(({ name }) => name).toSorted(),
    call: async (name: string, given: Record<string, unknown> = {}) => {
      const { content, isError = false } = await client.callTool({ name, arguments: given });
      const [first] = content;
      const text = first?.type === 'text' ? first.text : '';
      return { isError, text, value: isError ? null : JSON.parse(text) };
    },
  };
};

const namesOf = (tools: readonly { readonly name: string }[]): readonly string[] =>
  tools.map(({ name }) => name).toSorted();

describe('psp mcp', () => {
  test('has tools that read, and no others', async (t) => {
    const assistant = await openAssistant(t, terminal(t));
    assert.deepEqual(await assistant.names(), namesOf(readTools));
    const { value } = await assistant.call('balance_get');
    assert.ok(value.available > 0);
    const paid = await assistant.call('payments_list', { status: 'succeeded', limit: 1 });
    assert.equal(paid.value.items[0].id, merchant.paidIds[0]);
    const returned = await assistant.call('payments_list', { status: 'refunded' });
    assert.deepEqual(returned.value.items, []);
    const { order_id } = paid.value.items[0];
    const ordered = await assistant.call('payments_list', { order_id });
    assert.deepEqual(
      ordered.value.items.map(({ id }: { id: string }) => id),
      [merchant.paidIds[0]],
    );
    for (const name of [
      'tokens_list',
      'subscriptions_list',
      'ledger_list',
      'events_list',
      'rates_list',
    ])
      assert.equal((await assistant.call(name)).isError, false, name);
    const unknown = await assistant.call('payments_get', { id: crypto.randomUUID() });
    assert.ok(unknown.isError);
    assert.equal(JSON.parse(unknown.text).code, 'not_found');
    const write = await assistant
      .call('payments_refund', { id: merchant.paidIds[0] })
      .catch((error: unknown) => ({ isError: true, text: String(error) }));
    assert.ok(write.isError);
    assert.match(write.text, /payments_refund/);
  });

  test('moves money once for equal calls, and again when that is asked for', async (t) => {
    const psp = terminal(t);
    const first = await openAssistant(t, psp, '--allow-writes');
    assert.deepEqual(await first.names(), namesOf([...readTools, ...writeTools]));
    const refund = { id: merchant.paidIds[0], amount: 100 };
    const one = await first.call('payments_refund', refund);
    const same = await first.call('payments_refund', { amount: 100, id: merchant.paidIds[0] });
    // Another conversation of the same assistant.
    const later = await openAssistant(t, psp, '--allow-writes');
    const third = await later.call('payments_refund', refund);
    const again = await later.call('payments_refund', { ...refund, repeat: 1 });
    assert.deepEqual([same.value.id, third.value.id], [one.value.id, one.value.id]);
    assert.notEqual(again.value.id, one.value.id);
    const payout = { amount: 100, phone: '+79161234567', bank_id: '100000000111' };
    const paidOut = await first.call('payouts_create', payout);
    const repeated = await first.call('payouts_create', payout);
    assert.equal(repeated.value.payout.id, paidOut.value.payout.id);
    const { body } = await merchant.call('GET', `/payments/${merchant.paidIds[0]}`);
    assert.equal(body.refunds.length, 2);
  });

  test('keeps to the limits of a call and of a day, also after it was started anew', async (t) => {
    const psp = terminal(t);
    const limits = [
      '--allow-writes',
      '--max-amount',
      '500',
      '--max-day',
      '800',
      '--max-calls',
      '3',
    ];
    const one = await openAssistant(t, psp, ...limits);
    const create = { amount: 400, order_id: 'limits' };
    assert.match((await one.call('payments_create', { amount: 501 })).text, /of one call/);
    const whole = await one.call('payments_refund', { id: merchant.paidIds[0] });
    assert.match(whole.text, /of one call/, 'what remains is far above the limit');
    assert.equal((await one.call('payments_create', create)).isError, false);
    assert.equal((await one.call('links_create', { amount: 300 })).isError, false);
    const other = await openAssistant(t, psp, ...limits);
    assert.match((await other.call('payments_create', { amount: 200 })).text, /used today/);
    assert.equal((await other.call('payments_create', { amount: 50 })).isError, false);
    assert.match((await other.call('payments_create', { amount: 1 })).text, /calls of today/);
  });

  test('counts the money of each currency by itself', async (t) => {
    const dollars = { amount: 10_000, currency: 'USD', method: 'cards' };
    const { body } = await merchant.call('POST', '/payments', dollars);
    const { id } = body.payment;
    await payByCard(body.payment_url);
    await eventually(
      async () => (await merchant.call('GET', `/payments/${id}`)).body.status === 'succeeded',
      'the payment in dollars',
    );
    const limits = ['--allow-writes', '--max-amount', '500', '--max-day', '800'];
    const assistant = await openAssistant(t, terminal(t), ...limits);
    assert.equal((await assistant.call('payments_create', { amount: 500 })).isError, false);
    const refund = await assistant.call('payments_refund', { id, amount: 500 });
    assert.equal(refund.isError, false, refund.text);
    for (const amount of [301, 400]) {
      const more = await assistant.call('payments_refund', { id, amount });
      assert.match(more.text, /^.*\$5\.00 of \$8\.00 are used today/);
    }
    assert.equal((await assistant.call('payments_create', { amount: 300 })).isError, false);
  });

  test('refuses arguments that a tool does not take, before anything is sent', async (t) => {
    const assistant = await openAssistant(t, terminal(t), '--allow-writes');
    for (const given of [{ amount: '100' }, { amount: 0 }, { amount: 1, method: 'sbp' }, {}]) {
      const answer = await assistant
        .call('payments_create', given)
        .catch((error: unknown) => ({ isError: true, text: String(error) }));
      assert.ok(answer.isError, JSON.stringify(given));
    }
  });

  test('does not start with a limit that is no number', async (t) => {
    for (const limit of ['--max-amount', '--max-day', '--max-calls']) {
      const { code, err } = await terminal(t).runProcess(['mcp', '--allow-writes', limit, 'x']);
      assert.deepEqual([code, err], [2, `psp: ${limit}: expected a number from 1\n`]);
    }
  });

  test('writes with a live key only when that is said twice', async (t) => {
    const psp = terminal(t, 'sk_live_aaaaaa_x');
    const { code, err } = await psp.runProcess(['mcp', '--allow-writes']);
    assert.equal(code, 2);
    assert.match(err, /--live/);
    assert.equal((await psp.runProcess(['mcp', '--allow-writes', '--live'])).code, 0);
  });
});
