/** The command `psp`: its settings, its codes, what it prints, and what it makes happen. */
import { after, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { commands } from '../../sdk/src/psp/commands.ts';
import { row } from '../../sdk/src/psp/command.ts';
import { splitPage } from '../../sdk/src/psp/follow-log.ts';
import { makeMerchant, openReceiver } from '../support/merchant.ts';
import { openPlainService } from '../support/plain-service.ts';
import { operatorToken } from '../support/service.ts';
import { openPsp } from './run-psp.ts';
import { eventually } from '../support/eventually.ts';

const service = await openPlainService();
after(() => service.stop());
const merchant = await makeMerchant(service);
const psp = openPsp({
  PSP_URL: service.rest,
  PSP_API_KEY: merchant.key,
  PSP_OPERATOR_TOKEN: operatorToken,
});
after(psp.remove);
const root = join(import.meta.dirname, '../..');

/** A shop of its own, and a terminal of a developer who has its key. */
const openShop = async () => {
  const shop = await makeMerchant(service);
  const own = openPsp({
    PSP_URL: service.rest,
    PSP_API_KEY: shop.key,
    PSP_OPERATOR_TOKEN: operatorToken,
  });
  after(own.remove);
  return { shop, own };
};
const events = commands.find(({ name }) => name === 'trigger')?.choices ?? [];
// One takes a minute of real time, and the other has a clock that all others would stand by.
const apart = ['payment.expired', 'subscription.past_due'];

describe('psp', { concurrency: true }, () => {
  describe('on one shop, one after another', { concurrency: 1 }, () => {
    test('keeps a key in a file that only its owner may read, and shows none of it', async (t) => {
      const fresh = openPsp({});
      t.after(fresh.remove);
      const none = await fresh.runProcess(['balance']);
      assert.deepEqual([none.code, none.out], [4, '']);
      assert.match(none.err, /psp login/);
      const wrong = await fresh.runProcess(
        ['login', '--url', service.rest],
        'sk_test_aaaaaa_nothing\n',
      );
      assert.equal(wrong.code, 1);
      const done = await fresh.runProcess(['login', '--url', service.rest], `${merchant.key}\n`);
      assert.equal(done.code, 0, done.err);
      const file = join(fresh.folder, 'config.json');
      assert.equal(statSync(file).mode % 0o1000, 0o600);
      assert.equal(statSync(fresh.folder).mode % 0o1000, 0o700);
      assert.equal(JSON.parse(readFileSync(file, 'utf8')).apiKey, merchant.key);
      assert.equal((await fresh.run(['balance'])).code, 0);
      const shown = await fresh.run(['config']);
      assert.ok(!`${shown.out}${done.out}`.includes(merchant.key));
      await fresh.run(['config', '--forget']);
      assert.equal((await fresh.run(['balance'])).code, 4);
    });

    test('ends with a code that says what is wrong, and with --json says it as JSON', async (t) => {
      const nowhere = openPsp({ ...psp.env, PSP_URL: 'http://127.0.0.1:1' });
      t.after(nowhere.remove);
      const codeOf = async (...args: readonly string[]) => (await psp.run(args)).code;
      assert.equal(await codeOf('balance'), 0);
      assert.equal(await codeOf('payments', 'get', 'nothing'), 1);
      assert.equal(await codeOf('payments', 'get'), 2);
      assert.equal(await codeOf('payments', 'list', '--nothing'), 2);
      assert.equal(await codeOf('payments', 'create', '--amount', '1.5'), 2);
      assert.equal(await codeOf('nothing'), 2);
      const lost = nowhere.run(['doctor', '--json']);
      assert.equal((await lost).code, 1);
      const { err } = await psp.run(['payments', 'get', 'nothing', '--json']);
      assert.equal(JSON.parse(err).error.code, 'not_found');
    });

    test('makes, reads and changes what the API has', async () => {
      const [made] = await psp.json('payments', 'create', '--amount', '12345', '--metadata', 'a=b');
      assert.deepEqual([made.payment.amount, made.payment.metadata.a], [12_345, 'b']);
      const { id } = made.payment;
      const same = ['payments', 'create', '--amount', '5', '--idempotency-key', 'psp-1'];
      const [[first], [second]] = [await psp.json(...same), await psp.json(...same)];
      assert.deepEqual([second.payment.id, second.idempotent], [first.payment.id, true]);
      assert.equal((await psp.json('payments', 'get', id))[0].id, id);
      assert.equal((await psp.json('payments', 'cancel', id))[0].status, 'cancelled');
      assert.equal((await psp.json('payments', 'list', '--status', 'cancelled')).length, 1);
      const ordered = ['--amount', '100', '--order-id', 'psp 1'];
      const [{ payment }] = await psp.json('payments', 'create', ...ordered);
      assert.equal((await psp.json('payments', 'get', payment.public_id))[0].id, payment.id);
      const found = await psp.json('payments', 'list', '--order-id', 'psp 1');
      assert.deepEqual(
        found.map((one) => one.id),
        [payment.id],
      );
      const since = ['--created-from', payment.created_at, '--created-to', payment.created_at];
      assert.deepEqual(await psp.json('payments', 'list', ...since), []);
      const [{ link }] = await psp.json('links', 'create', '--amount', '500', '--unlimited');
      assert.deepEqual(await psp.json('open', link.id), [{ url: link.url }]);
      assert.equal((await psp.json('links', 'deactivate', link.id))[0].status, 'deactivated');
      const bound = ['--amount', '100', '--customer', 'c-1', '--trial-days', '3'];
      const [{ subscription }] = await psp.json('subscriptions', 'create', ...bound);
      assert.equal((await psp.json('subscriptions', 'list'))[0].id, subscription.id);
      const ofCustomer = (name: string) => psp.json('subscriptions', 'list', '--customer', name);
      assert.deepEqual([(await ofCustomer('c-1')).length, await ofCustomer('c')], [1, []]);
      assert.equal(
        (await psp.json('subscriptions', 'cancel', subscription.id))[0].status,
        'cancelled',
      );
    });

    test('saves, charges and removes methods, and lists refunds, receipts and movements', async () => {
      const binding = ['--customer', 'c-9', '--method', 'sbp', '--amount', '500'];
      const [{ card, pay_url }] = await psp.json('tokens', 'create', ...binding);
      await psp.run(['pay', pay_url]);
      const bound = await eventually(async () => {
        const [one] = await psp.json('tokens', 'list', '--customer', 'c-9', '--status', 'active');
        return one;
      }, 'the bound method');
      assert.equal(bound.id, card.id);
      const charging = ['tokens', 'charge', card.id, '--order-id', 'charge-1'];
      const [charged] = await psp.json(...charging, '--amount', '700');
      assert.deepEqual([charged.status, charged.order_id], ['succeeded', 'charge-1']);
      const declined = await psp.run([...charging, '--amount', '702']);
      assert.match(declined.out, /failed .*RUB\s7\.02 {2}charge-1 {2}insufficient_funds\n$/);
      assert.equal((await psp.json('tokens', 'cancel', card.id))[0].status, 'cancelled');
      const [refund] = await psp.json('payments', 'refund', charged.id, '--amount', '100');
      const ofPayment = ['refunds', 'list', '--payment-id', charged.id];
      assert.deepEqual(
        (await psp.json(...ofPayment)).map(({ id }) => id),
        [refund.id],
      );
      const { out } = await psp.run(ofPayment);
      const second = refund.created_at.replace(/\.\d+Z$/, 'Z');
      assert.match(
        out,
        new RegExp(`^${refund.id} {2}${second} {2}succeeded +100 {2}of ${charged.id}`),
      );
      const moved = await psp.json('ledger', 'list', '--type', 'refund');
      assert.deepEqual([moved[0].payment_id, moved[0].amount], [charged.id, -100]);
      const [{ subject_id: receiptId }] = await psp.json('trigger', 'receipt.registered');
      const [receipt] = await psp.json('receipts', 'get', receiptId);
      const receipts = ['receipts', 'list', '--payment-id', receipt.payment_id];
      assert.equal((await psp.json(...receipts, '--status', 'registered'))[0].id, receiptId);
      assert.match((await psp.run(receipts)).out, /registered +RUB\s100\.00 {2}payment/);
    });

    test('shows in every list when an object was made', async () => {
      const payout = ['--amount', '100', '--phone', '+79161234567', '--bank-id', '100000000111'];
      await psp.json('payouts', 'create', ...payout);
      for (const group of ['payments', 'payouts', 'subscriptions', 'links', 'tokens', 'ledger'])
        assert.match(
          (await psp.run([group, 'list'])).out,
          /^\S+ {2}\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ {2}/,
          group,
        );
    });

    test('takes the number of a payment for its id', async () => {
      const [{ payment }] = await psp.json('payments', 'create', '--amount', '100');
      const { public_id: number, id } = payment;
      assert.deepEqual(await psp.json('refunds', 'list', '--payment-id', number), []);
      assert.equal((await psp.json('payments', 'cancel', number))[0].status, 'cancelled');
      assert.equal((await psp.json('payments', 'get', id))[0].status, 'cancelled');
      for (const name of ['capture', 'refund']) {
        const { err } = await psp.run(['payments', name, number]);
        assert.match(err, /^psp: (?!not_found)[a-z_]+: /, err);
      }
    });

    test('takes an option again where it is a list, and else names it', async () => {
      const pairs = ['--metadata', 'a=1,2', '--metadata', 'b=x=y'];
      const [{ payment }] = await psp.json('payments', 'create', '--amount', '100', ...pairs);
      assert.deepEqual([payment.metadata.a, payment.metadata.b], ['1,2', 'x=y']);
      const statuses = ['--status', 'pending', '--status', 'cancelled'];
      const listed = await psp.json('payments', 'list', ...statuses);
      assert.ok(listed.some(({ id }) => id === payment.id));
      const twice = await psp.run(['payments', 'create', '--amount', '5', '--amount', '6']);
      assert.deepEqual([twice.code, twice.err], [2, 'psp: --amount: it is given more than once\n']);
      const same = ['--metadata', 'a=1', '--metadata', 'a=2'];
      const { code, err } = await psp.run(['payments', 'create', '--amount', '5', ...same]);
      assert.equal(code, 2);
      assert.match(err, /--metadata: a is given more than once/);
    });

    test('writes no control character of others, and none that turns a line around', async () => {
      const description = 'a\u001B[31mb\u202Ec\u009Bd';
      const { body } = await merchant.call('POST', '/payments', { amount: 100, description });
      const { id } = body.payment;
      const { out } = await psp.run(['payments', 'get', id]);
      const line = out.split('\n').find((one) => one.startsWith('description'));
      assert.equal(line?.replace(/^description +/, ''), String.raw`a\u001b[31mb\u202ec\u009bd`);
      for (const json of [
        ['payments', 'get', id, '--json'],
        ['get', `/payments/${id}`],
      ]) {
        const printed = (await psp.run(json)).out;
        assert.doesNotMatch(printed, /[^\P{Cc}\n]|\p{Bidi_Control}/u);
        assert.equal(JSON.parse(printed).description, description);
      }
      assert.equal(row('a\nb', 'c'), String.raw`a\u000ab  c`);
    });

    test('calls what has no command of its own, and lists the banks of SBP', async () => {
      const [made] = await psp.json('post', '/payments', '{"amount": 700}');
      const [read] = await psp.json('get', `/v1/public/payments/${made.payment.id}`);
      assert.deepEqual([read.id, read.amount], [made.payment.id, 700]);
      const [{ items }] = await psp.json('get', '/payments?limit=1');
      assert.deepEqual([items.length, items[0].id], [1, read.id]);
      const [cancelled] = await psp.json('post', `/payments/${read.id}/cancel`);
      assert.equal(cancelled.status, 'cancelled');
      assert.equal((await psp.run(['get', 'http://other.example/'])).code, 2);
      assert.equal((await psp.run(['post', '/payments', '{'])).code, 2);
      const banks = await psp.json('banks');
      assert.ok(banks.length > 1 && banks.every((bank) => /^\d{12}$/.test(bank.member_id)));
    });

    test('prints plain text where there is no terminal', async () => {
      const { out } = await psp.run(['payments', 'list']);
      assert.match(out, /cancelled {2}/);
      assert.ok(!out.includes('\u001B'));
    });

    test('prints events as they happen, and ends on Ctrl-C', async (t) => {
      const tail = psp.start('events', 'tail', '--json', '--events', 'payment.cancelled');
      const ended = once(tail, 'exit');
      t.after(() => tail.kill('SIGKILL'));
      let printed = '';
      tail.stdout?.on('data', (part) => (printed += String(part)));
      const cancel = async (): Promise<string> => {
        const { body } = await merchant.call('POST', '/payments', { amount: 100 });
        await merchant.call('POST', `/payments/${body.payment.id}/cancel`);
        return body.payment.id;
      };
      const made = new Set<string>();
      await eventually(async () => {
        made.add(await cancel());
        return printed.includes('\n');
      }, 'an event');
      const [line = ''] = printed.split('\n');
      assert.ok(made.has(JSON.parse(line).data.id));
      tail.kill('SIGINT');
      const [code] = await ended;
      assert.equal(code, 0);
    });

    test('exports the ledger, whole', async () => {
      const { out, err } = await psp.run(['ledger', 'export', '--from', '2026-01-01']);
      const { body } = await merchant.call('GET', '/ledger?limit=200');
      assert.equal(out.trim().split('\n').length, body.items.length + 1);
      assert.match(err, new RegExp(`^${body.items.length} rows`, 'm'));
    });

    test('never triggers anything with a live key', async (t) => {
      const live = openPsp({ PSP_URL: service.rest, PSP_API_KEY: 'sk_live_aaaaaa_x' });
      t.after(live.remove);
      const { code, err } = await live.run(['trigger', 'payment.succeeded']);
      assert.equal(code, 2);
      assert.match(err, /test mode alone/);
    });

    test('completes commands, options, choices and events, in bash', async () => {
      const wordsOf = async (...words: readonly string[]) =>
        (await psp.run(['complete', '--', ...words])).out.trim().split('\n');
      assert.deepEqual(await wordsOf('payo'), ['payouts']);
      assert.deepEqual(await wordsOf('payouts', ''), ['create', 'get', 'list']);
      assert.deepEqual(await wordsOf('trigger', 'payout.'), [
        'payout.created',
        'payout.succeeded',
        'payout.failed',
      ]);
      assert.deepEqual(await wordsOf('payments', 'create', '--method', 's'), ['sbp', 'sberpay']);
      const { out } = await psp.run(['completion', 'bash']);
      const node = `psp() { "${process.execPath}" "${join(root, 'sdk/src/psp/main.ts')}" "$@"; }`;
      const asked = 'COMP_WORDS=(psp links de); COMP_CWORD=2; _psp; echo "${COMPREPLY[@]}"';
      const bash = spawnSync('bash', ['-c', `${node}\n${out}\n${asked}`], {
        env: psp.env,
        encoding: 'utf8',
      });
      assert.equal(bash.stdout.trim(), 'deactivate', bash.stderr);
      assert.match((await psp.run(['completion', 'zsh'])).out, /^#compdef psp/);
    });

    test('shows what became of calls, and names every wrong field', async () => {
      const wrong = await psp.run(['post', '/payments', '{"amount": 0, "ttl_minutes": 0}']);
      assert.equal(wrong.code, 1);
      assert.match(wrong.err, /amount: .*\n {2}ttl_minutes: /);
      const id = /\(request ([^)]+)\)/.exec(wrong.err)?.[1] ?? '';
      const call = await eventually(async () => {
        const { code, out } = await psp.run(['logs', id, '--json']);
        return code === 0 && JSON.parse(out);
      }, 'the call in the log');
      assert.deepEqual(JSON.parse(call.request_body), { amount: 0, ttl_minutes: 0 });
      const listed = await psp.json('logs', '--status', '400', '--limit', '200');
      assert.ok(listed.some((one) => one.id === id));
    });

    test('delivers an event once more', async (t) => {
      const receiver = await openReceiver();
      t.after(() => receiver.close());
      await merchant.endpoint(receiver.url, ['payment_cancelled']);
      const [{ id }] = await psp.json('trigger', 'payment.cancelled');
      await receiver.until(({ body }) => body.id === id);
      const [again] = await psp.json('events', 'resend', id);
      assert.deepEqual([again.id, again.url], [id, receiver.url]);
      await eventually(
        () => receiver.received.filter(({ body }) => body.id === id).length > 1,
        'the second delivery',
      );
    });
  });

  describe('triggers', { concurrency: true }, async () => {
    const { shop, own } = await openShop();
    for (const event of events.filter((name) => !apart.includes(name)))
      test(`${event}, which the log has`, async () => {
        const [made] = await own.json('trigger', event);
        const { body } = await shop.call('GET', `/event-log/${made.id}`);
        assert.equal(body.event, event === 'refund.succeeded' ? 'payment.refunded' : event);
        assert.equal(body.data.id, made.subject_id);
      });
  });

  test('triggers subscription.past_due', async () => {
    const { shop, own } = await openShop();
    const [made] = await own.json('trigger', 'subscription.past_due');
    const { body } = await shop.call('GET', `/subscriptions/${made.subject_id}`);
    assert.equal(body.status, 'past_due');
  });
});

test('a page of the log is split into the texts of its events, whatever they hold', () => {
  const events = ['{"id":"a","n":1.50,"t":"]}\\"{["}', '{"id":"b","d":{"l":[[1],{}]}}'];
  const page = `{"has_more":true,"items":[${events.join(',')}],"last_id":"b"}`;
  assert.deepEqual(
    splitPage(page).events.map(({ text }) => text),
    events,
  );
  assert.deepEqual(splitPage('{"items":[],"has_more":false,"last_id":null}').events, []);
});
