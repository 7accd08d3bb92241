import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { noPolicies } from '../support/no-policies.ts';
import { createPayout } from '../../subgraphs/payouts/create-payout.ts';
import type { Payout } from '../../subgraphs/payouts/entities.ts';
import { eventually } from '../support/eventually.ts';
import { granted } from '../support/granted.ts';
import { at, card, openHarness, sbp, start, type Harness } from './harness.ts';

let harness: Harness;
before(async () => void (harness = await openHarness()));
after(() => harness.migrated.close());

const moments = ['before', 'during', 'after'] as const;

interface Doomed {
  readonly key: KeyPrincipal;
  /** What is created, as JSON. */
  readonly input?: object;
  /** Where the process is killed: a moment of this merchant's call to the bank. */
  readonly moment: (typeof moments)[number];
}

/**
 * Runs a process until each payout has come to its moment, and kills it there with SIGKILL.
 * `isThere` is asked with how many have stopped.
 */
const killAt = async (
  role: 'create' | 'send',
  doomed: readonly Doomed[],
  isThere: (stopped: number) => boolean | Promise<boolean>,
): Promise<void> => {
  const script = join(import.meta.dirname, 'doomed-process.ts');
  const given = doomed.map(({ key, input, moment }) => ({ key, input, moment }));
  const { url } = harness.migrated.database;
  const child = spawn(process.execPath, [script, url, role, JSON.stringify(given)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  let output = '';
  child.stdout.on('data', (text: Buffer) => (output += text.toString()));
  await eventually(
    () => {
      assert.equal(child.exitCode, null, 'it ended by itself');
      return isThere(output.split('\n').length - 1);
    },
    () => `the moments of the calls; it printed ${output}`,
  ).finally(() => child.kill('SIGKILL'));
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

/** So long after a payout was given to the bank, or made. */
const later = ({ sentAt, createdAt }: Payout, seconds: number): Temporal.Instant =>
  (sentAt ?? createdAt).add({ seconds });

const statusesOf = (payouts: readonly Payout[]): Promise<readonly string[]> =>
  Promise.all(payouts.map(async (payout) => (await harness.find(payout)).status));

/** That the merchant of each paid so many times, and has nothing set aside. */
const assertPaid = async (payout: Payout, times: 0 | 1): Promise<void> => {
  assert.equal(await ordersAtBank(payout.id), times);
  const paid = 100n * BigInt(times);
  assert.deepEqual(await harness.books(payout), {
    available: 1_000n - paid,
    reserved: 0n,
    paid,
    fees: 0n,
  });
};

describe('a process killed with SIGKILL while it gives payouts to the bank', () => {
  test('a worker, before, during and after the call: the next worker finishes, and the bank pays once', async () => {
    const made: Payout[] = [];
    const doomed: Doomed[] = [];
    for (const moment of moments) {
      const key = await harness.funded(1_000n);
      made.push(await harness.made(key, { amount: 100n, ...sbp }));
      doomed.push({ key, moment });
    }
    const isThere = async (stopped: number): Promise<boolean> =>
      stopped >= 2 && (await statusesOf(made)).includes('succeeded');
    await killAt('send', doomed, isThere);
    assert.deepEqual(await statusesOf(made), ['pending', 'pending', 'succeeded']);
    const taken = await harness.find(made[0] ?? assert.fail());
    const tenSeconds = later(taken, 10);
    assert.equal(
      await harness.send(tenSeconds),
      0,
      'no worker takes them while they may be in work',
    );
    await Promise.all([harness.send(later(taken, 40)), harness.send(later(taken, 40))]);
    assert.deepEqual(new Set(await statusesOf(made)), new Set(['succeeded']));
    for (const payout of made) await assertPaid(payout, 1);
  });

  test('a request: what was never sent is sent by the next worker, and a card is asked about a minute later', async () => {
    const doomed: Doomed[] = [];
    for (const moment of moments)
      doomed.push({
        key: await harness.funded(1_000n),
        moment,
        input: { amount: 100, ...card },
      });
    const key = await harness.funded(1_000n);
    doomed.push({ key, moment: 'after', input: { amount: 100, ...sbp } });
    await killAt('create', doomed, (stopped) => stopped >= doomed.length);
    const left = await Promise.all(doomed.map((each) => onlyPayout(each.key)));
    assert.deepEqual(await statusesOf(left), ['pending', 'pending', 'succeeded', 'pending']);
    for (const { merchantId, status } of left)
      assert.equal(
        (await harness.books({ merchantId })).reserved,
        status === 'pending' ? 100n : 0n,
      );
    const [before, during, after, unsent] = left;
    assert.ok(before && during && after && unsent);
    assert.equal(unsent.sentAt, null);
    await harness.send(later(unsent, 1));
    assert.deepEqual(await statusesOf([unsent]), ['succeeded']);
    const [early, late] = [before, during].toSorted((one, other) =>
      Temporal.Instant.compare(later(one, 0), later(other, 0)),
    );
    assert.ok(early && late);
    const fiftySeconds = later(early, 50);
    assert.equal(await harness.send(fiftySeconds), 0, 'its call might still be under way');
    await harness.send(later(late, 70));
    const { status, failReason } = await harness.find(before);
    assert.deepEqual([status, failReason], ['failed', 'recipient_data_lost']);
    assert.deepEqual(await statusesOf([during, after]), ['succeeded', 'succeeded']);
    await assertPaid(before, 0);
    for (const payout of [during, after, unsent]) await assertPaid(payout, 1);
  });
});

describe('a bank that does not answer', () => {
  test('leaves an SBP payout pending with its money set aside; the same order is given again, and paid once', async () => {
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
      return granted(await createPayout(parts, creating, { amount: 100n, ...card }, null)).made;
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
