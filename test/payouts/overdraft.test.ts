import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { foldBalances } from '../../subgraphs/ledger/fold.ts';
import { noPolicies } from '../support/no-policies.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { askBank } from '../../subgraphs/payments/bank-answers/ask-bank.ts';
import { recordPayment } from '../../subgraphs/payments/create-payment.ts';
import { openSession } from '../../subgraphs/payments/checkout/open-session.ts';
import { refundPayment } from '../../subgraphs/payments/refunds/refund-payment.ts';
import { granted } from '../support/granted.ts';
import { at, openHarness, start, type Harness } from './harness.ts';

let harness: Harness;
before(async () => void (harness = await openHarness()));
after(() => harness.migrated.close());

/**
 * A process that is ready to spend; `begin` lets it, and gives how many payouts it made and how
 * many were refused.
 */
const openSpender = async (key: KeyPrincipal, count: number, amount: bigint) => {
  const script = join(import.meta.dirname, 'spender-process.ts');
  const child = spawn(
    process.execPath,
    [script, harness.migrated.database.url, JSON.stringify(key), `${count}`, `${amount}`],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  const ended = once(child, 'close');
  let answered = '';
  child.stdout.on('data', (text: Buffer) => (answered += text.toString()));
  await Promise.race([once(child.stdout, 'data'), ended]);
  return {
    begin: async (): Promise<{ made: number; uncovered: number }> => {
      child.stdin.write('go\n');
      await ended;
      return JSON.parse(answered.replace('ready\n', ''));
    },
  };
};

/** A payment that arrives; gives its id. */
const receive = async (key: KeyPrincipal, amount: bigint): Promise<string> => {
  const { database } = harness.migrated;
  const { payment } = granted(
    await recordPayment(database, noPolicies, key, { input: { amount, method: 'sbp' } }, start),
  );
  const paymentKey = { merchantId: key.merchantId, paymentId: payment.id };
  granted(
    await openSession(database, harness.parts.banks, noPolicies, {
      key: paymentKey,
      card: null,
      pageUrl: 'https://pay.example/p',
      now: start,
    }),
  );
  assert.equal(
    granted(await askBank(database, harness.parts.banks, paymentKey, at(10))).status,
    'succeeded',
  );
  return payment.id;
};

const receiveMany = async (key: KeyPrincipal, count: number, amount: bigint): Promise<string[]> => {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push(await receive(key, amount));
  return ids;
};

test('200 payouts at once from two processes, while payments and refunds land: nothing is spent that is not there, and the sums are exact', async () => {
  const key = await harness.migrated.merchant();
  const funds = 10n * 2_200n + 10n * 400n;
  // More than one process can spend, however soon its batches take all that is there.
  const first = await receiveMany(key, 10, 2_200n);
  const spenders = await Promise.all([openSpender(key, 100, 200n), openSpender(key, 100, 200n)]);
  const over = new AbortController();
  let least = 0n;
  const watch = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const { available } = await harness.books(key);
      if (available < least) least = available;
      await foldBalances(harness.pool, 7);
    }
  };
  const refunds = async (): Promise<bigint> => {
    let given = 0n;
    for (const paymentId of first.slice(0, 5)) {
      const { refund } = granted(
        await refundPayment(
          harness.migrated.database,
          harness.parts.banks,
          key,
          { paymentId, amount: 300n, reason: null },
          at(20),
        ),
      );
      assert.equal(refund.status, 'succeeded');
      given += refund.amount;
    }
    return given;
  };
  const watching = watch();
  const [one, two, given] = await Promise.all([
    spenders[0].begin(),
    spenders[1].begin(),
    refunds(),
    receiveMany(key, 10, 400n),
  ]).finally(() => over.abort());
  await watching;
  const made = BigInt(one.made + two.made);
  assert.equal(one.made + one.uncovered + two.made + two.uncovered, 200, 'every call was answered');
  assert.ok(
    one.made > 0 && two.made > 0 && one.uncovered + two.uncovered >= 70,
    JSON.stringify([one, two]),
  );
  // Refunds alone may take what is available below zero, and by no more than they
  // are.
  assert.ok(least >= -given, `${least} was available`);
  assert.ok(made * 200n <= funds);
  assert.deepEqual(await harness.books(key), {
    available: funds - given - made * 200n,
    reserved: made * 200n,
    paid: 0n,
    fees: 0n,
  });
  await harness.send(Temporal.Now.instant().add({ seconds: 1 }));
  const books = await harness.books(key);
  assert.deepEqual(books, {
    available: funds - given - made * 200n,
    reserved: 0n,
    paid: made * 200n,
    fees: 0n,
  });
  const { rows } = await harness.pool.query<{ sum: string }>(
    `select coalesce(sum(case when to_account in ('merchant', 'merchant_reserved') then amount else 0 end
       - case when from_account in ('merchant', 'merchant_reserved') then amount else 0 end), 0) as sum from posting where merchant_id = $1`,
    [key.merchantId],
  );
  assert.equal(
    BigInt(rows[0]?.sum ?? 0),
    books.available,
    'the postings say what the balance says',
  );
});
