import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { KeyPrincipal } from '../../subgraphs/kernel/service/access/principal.ts';
import { noPolicies } from '../support/no-policies.ts';
import { createPayout } from '../../subgraphs/payouts/create-payout.ts';
import type { Payout } from '../../subgraphs/payouts/entities.ts';
import { granted } from '../support/granted.ts';
import { at, card, openHarness, sbp, start, type Harness } from './harness.ts';

let harness: Harness;
before(async () => void (harness = await openHarness()));
after(() => harness.migrated.close());

type Moment = 'before' | 'during' | 'after';

/**
 * Runs a process until it has come to a moment of its call to the bank, and kills it there with
 * SIGKILL.
 */
const killAt = async (
  moment: Moment,
  role: 'create' | 'send',
  key: KeyPrincipal,
  input: object,
): Promise<void> => {
  const script = join(import.meta.dirname, 'doomed-process.ts');
  const child = spawn(
    process.execPath,
    [
      script,
      harness.migrated.database.url,
      JSON.stringify(key),
      JSON.stringify(input),
      role,
      moment,
    ],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const ended = once(child, 'exit');
  const [first] = await Promise.race([once(child.stdout, 'data'), ended]);
  assert.equal(String(first), 'here\n');
  child.kill('SIGKILL');
  await ended;
};

const onlyPayout = async ({ merchantId }: KeyPrincipal): Promise<Payout> => {
  const { rows } = await harness.pool.query<{ id: string }>(
    'select id from payout where merchant_id = $1',
    [merchantId],
  );
  assert.equal(rows.length, 1);
  return harness.find({ merchantId, id: rows[0]?.id ?? '' });
};

const ordersAtBank = async (id: string): Promise<number> =>
  (await harness.pool.query('select 1 from simulator_operation where operation_id = $1', [id])).rows
    .length;

const later = (seconds: number): Temporal.Instant => Temporal.Now.instant().add({ seconds });

describe('a process killed with SIGKILL while it gives a payout to the bank', () => {
  for (const moment of ['before', 'during', 'after'] as const) {
    test(`a worker, ${moment} the call: the next worker finishes, and the bank pays once`, async () => {
      const key = await harness.funded(1_000n);
      const { id } = await harness.made(key, { amount: 100n, ...sbp });
      await killAt(moment, 'send', key, {});
      const left = await harness.find({ merchantId: key.merchantId, id });
      assert.equal(left.status, moment === 'after' ? 'succeeded' : 'pending');
      if (left.status === 'pending')
        assert.equal(await harness.send(later(10)), 0, 'nobody takes it while it may be in work');
      await Promise.all([harness.send(later(40)), harness.send(later(40))]);
      assert.equal((await harness.find(left)).status, 'succeeded');
      assert.equal(await ordersAtBank(id), 1);
      assert.deepEqual(await harness.books(key), {
        available: 900n,
        reserved: 0n,
        paid: 100n,
        fees: 0n,
      });
    });
  }

  const ends: readonly (readonly [Moment, Payout['status'], string | null])[] = [
    ['before', 'failed', 'recipient_data_lost'],
    ['during', 'succeeded', null],
    ['after', 'succeeded', null],
  ];
  for (const [moment, status, failReason] of ends) {
    test(`the request of a card payout, ${moment} the call: it is asked about a minute later, and ${failReason ?? 'is found paid'}`, async () => {
      const key = await harness.funded(1_000n);
      await killAt(moment, 'create', key, { amount: 100, ...card });
      const left = await onlyPayout(key);
      assert.equal(left.status, moment === 'after' ? 'succeeded' : 'pending');
      if (moment !== 'after') assert.equal((await harness.books(key)).reserved, 100n);
      assert.equal(await harness.send(later(50)), 0, 'not while its call might still be under way');
      await harness.send(later(70));
      const payout = await harness.find(left);
      assert.deepEqual(
        [payout.status, payout.failReason, await ordersAtBank(payout.id)],
        [status, failReason, status === 'succeeded' ? 1 : 0],
      );
      const paid = status === 'succeeded' ? 100n : 0n;
      assert.deepEqual(await harness.books(key), {
        available: 1_000n - paid,
        reserved: 0n,
        paid,
        fees: 0n,
      });
    });
  }

  test('a payout that was committed and never sent is sent by the next worker', async () => {
    const key = await harness.funded(1_000n);
    await killAt('after', 'create', key, { amount: 100, ...sbp });
    const left = await onlyPayout(key);
    assert.deepEqual([left.status, left.sentAt], ['pending', null]);
    await harness.send(later(1));
    assert.deepEqual(
      [(await harness.find(left)).status, await ordersAtBank(left.id)],
      ['succeeded', 1],
    );
  });
});

describe('a bank that does not answer', () => {
  test('leaves an SBP payout pending with its money set aside; the same order is given again, and paid once (D-32)', async () => {
    const key = await harness.funded(1_000n);
    const { id } = await harness.made(key, { amount: 100n, ...sbp, phone: '+79000000003' });
    await harness.send(at(1));
    const waiting = await harness.find({ merchantId: key.merchantId, id });
    assert.deepEqual(
      [waiting.status, waiting.bankRef, await ordersAtBank(id)],
      ['pending', null, 1],
    );
    assert.equal((await harness.books(key)).reserved, 100n);
    await harness.send(at(20));
    assert.deepEqual(
      [(await harness.find(waiting)).status, await ordersAtBank(id)],
      ['succeeded', 1],
    );
  });

  test('leaves a card payout pending; it is never given to the bank again, only asked about', async () => {
    const key = await harness.funded(1_000n);
    const found = await harness.made(key, {
      amount: 100n,
      method: 'payouts_card',
      cardPan: '2200000000000053',
    });
    const lost = await harness.made(key, {
      amount: 100n,
      method: 'payouts_card',
      cardPan: '2200000000000061',
    });
    assert.deepEqual([found.status, lost.status], ['pending', 'pending']);
    const bank = harness.withBank({
      pay: () => Promise.reject(new Error('a card payout was given again')),
    });
    await harness.send(at(300), bank.banks);
    assert.deepEqual(
      [(await harness.find(found)).status, (await harness.find(lost)).failReason],
      ['succeeded', 'recipient_data_lost'],
    );
    assert.deepEqual(await harness.books(key), {
      available: 900n,
      reserved: 0n,
      paid: 100n,
      fees: 0n,
    });
  });

  test('is believed about a card payout a minute after it was ordered, not sooner; what it pays later is an alert', async () => {
    const key = await harness.funded(1_000n);
    let now = at(0);
    /** From when on the bank knows the order, which arrived late. */
    let knownFrom = at(40);
    const parts = harness.withBank({
      pay: async () => {
        now = at(10);
        return { kind: 'unknown' };
      },
      askPayout: async (question) =>
        Temporal.Instant.compare(question.now, knownFrom) < 0
          ? { kind: 'unseen' }
          : { kind: 'approved', reference: 'po-1' },
    });
    const order = async (): Promise<Payout> => {
      now = at(0);
      const creating = { key, policies: noPolicies, now: () => now };
      return granted(await createPayout(parts, creating, { amount: 100n, ...card }, null)).payout;
    };
    const slow = await order();
    for (const second of [20, 30, 50]) await harness.send(at(second), parts.banks);
    assert.equal((await harness.find(slow)).status, 'pending');
    await harness.send(at(65), parts.banks);
    assert.equal((await harness.find(slow)).status, 'succeeded');

    knownFrom = at(3_000);
    const lost = await order();
    await harness.send(at(65), parts.banks);
    const failed = await harness.find(lost);
    assert.deepEqual([failed.status, failed.failReason], ['failed', 'recipient_data_lost']);
    const alerts = async (): Promise<number> => {
      const text = 'select 1 from alert where merchant_id = $1 and subject_id = $2';
      return (await harness.pool.query(text, [key.merchantId, lost.id])).rows.length;
    };
    await harness.send(at(200), parts.banks);
    assert.equal(await alerts(), 0);
    await harness.send(at(3_700), parts.banks);
    const ended = await harness.find(lost);
    assert.deepEqual([ended.status, ended.askAt, await alerts()], ['failed', null, 1]);
    assert.deepEqual(await harness.books(key), {
      available: 900n,
      reserved: 0n,
      paid: 100n,
      fees: 0n,
    });
  });

  test('or whose call throws, has not refused: nothing is failed, and the caller gets a pending payout', async () => {
    const key = await harness.funded(1_000n);
    const parts = harness.withBank({
      pay: () => Promise.reject(new Error('connection reset')),
      askPayout: () => Promise.reject(new Error('connection reset')),
    });
    const made = await harness.create(key, { amount: 100n, ...card }, null, { parts });
    assert.ok('payout' in made && made.payout.status === 'pending');
    for (const seconds of [61, 100, 1_000, 100_000]) await harness.send(at(seconds), parts.banks);
    const payout = await harness.find(made.payout);
    assert.equal(payout.status, 'pending');
    assert.ok(
      payout.askAt && Temporal.Instant.compare(payout.askAt, start.add({ seconds: 100_600 })) <= 0,
      'it is asked again within ten minutes',
    );
  });
});
