/**
 * A chaos run: live payments with and without receipts, holds, links for one use that two buyers
 * pay, refunds, charges and payouts through the emulated acquirer, 10 % of the calls and
 * notifications with each kind of fault, processes of the service killed all the while. When it is
 * over and everything has been settled by itself, the two sets of books must agree to the kopeck.
 */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { seeded, type FaultSettings } from '../acquirer/faults.ts';
import {
  enableLive,
  makeLiveMerchant,
  operate,
  routeToYooKassa,
  type LiveMerchant,
} from '../live/harness.ts';
import {
  compareWithBank,
  openOperations,
  questionableOperations,
  stuckOperations,
} from './agree.ts';
import { fastTime_ms, type Speed } from '../support/fast-time.ts';
import { askGraph } from '../support/merchant.ts';
import { countOf, doAll, newDone, prepare, typeAgain, type Done } from './orders.ts';
import { openFixture, parts, type Fixture } from './fixture.ts';
import { openPool } from '../support/database.ts';

export interface ChaosPlan {
  readonly operations: number;
  /** How many are under way at once. */
  readonly atOnce: number;
  /** They are spread over the operations. */
  readonly kills: number;
  /** How many times faster than the real time the run's time passes. */
  readonly times: number;
  readonly seed: number;
  /** How long everything may take to settle. */
  readonly patience_ms: number;
  readonly print: (line: string) => void;
}

/**
 * 10 % of each kind; an answer that fails, breaks off or lies does so in one of two ways, each with
 * half of that.
 */
const rates: NonNullable<FaultSettings['rates']> = {
  timeout_before: 0.1,
  timeout_after: 0.1,
  error_before: 0.05,
  error_after: 0.05,
  closed_before: 0.05,
  closed_after: 0.05,
  too_many: 0.1,
  wrong_amount: 0.05,
  wrong_id: 0.05,
  slow: 0.1,
  duplicate: 0.1,
  reordered: 0.1,
  lost: 0.1,
};
const noRates = Object.fromEntries(Object.keys(rates).map((kind) => [kind, 0]));

const openMerchant = async ({ service }: Fixture): Promise<LiveMerchant> => {
  const merchant = await makeLiveMerchant(service);
  await enableLive(service, merchant.id);
  await routeToYooKassa(service, merchant);
  const rate =
    'mutation ($m: ID!, $r: RatedMethod!) { rateSet(merchantId: $m, method: $r, rateBps: 250) { ... on Refused { code message } } }';
  for (const method of ['sbp', 'cards', 'tpay', 'recurrent', 'payouts_sbp'])
    await operate(service, rate, { m: merchant.id, r: method });
  return merchant;
};

/** Kills processes by the seed, each time that as many more of the operations are done. */
const killAll = async (
  fixture: Fixture,
  { seed, kills, operations }: ChaosPlan,
  doneNow: () => number,
): Promise<void> => {
  const random = seeded(seed);
  for (let kill = 1; kill <= kills; kill++) {
    while (doneNow() < (operations * kill) / (kills + 1)) await delay(20);
    await fixture.killAndStart(parts[Math.floor(random() * parts.length)] ?? 'front');
  }
};

/**
 * The bank notifies again, as it does for a day, of what may not have arrived: so an operation that
 * was stopped for an amount that differed is asked about once more.
 */
const notifyAgain = async ({ acquirer, service }: Fixture, pool: pg.Pool): Promise<void> => {
  const { payments, refunds, payouts } = await acquirer.books();
  const questionable = await questionableOperations(pool);
  const received = [
    ...payments.map((object) => ['payment', object]),
    ...refunds.map((object) => ['refund', object]),
    ...payouts.map((object) => ['payout', object]),
  ];
  for (const [kind, object] of received) {
    if (!questionable.has(object.metadata.operation_id)) continue;
    const body = JSON.stringify({
      type: 'notification',
      event: `${kind}.${object.status}`,
      object,
    });
    const answer = await fetch(`${service.rest}/callbacks/yookassa`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    await answer.arrayBuffer();
  }
};

/** An operator sends the receipts again that the bank could not register. */
const sendReceiptsAgain = async ({ service }: Fixture, pool: pg.Pool): Promise<void> => {
  const { rows } = await pool.query<{ m: string; id: string }>(
    "select merchant_id as m, id from receipt where status = 'failed'",
  );
  const resend =
    'mutation ($m: ID!, $id: ID!) { receiptResend(merchantId: $m, id: $id) { ... on Refused { code message } } }';
  // One that another look has sent again meanwhile is refused.
  for (const receipt of rows) await askGraph(service, resend, receipt);
};

/**
 * Until nothing is open any more, and the books agree; when they still do not after all patience,
 * what differs is thrown.
 */
const settle = async (
  fixture: Fixture,
  pool: pg.Pool,
  merchant: LiveMerchant,
  { patience_ms, print, done: { pages, links } }: ChaosPlan & { readonly done: Done },
) => {
  const began_ms = performance.now();
  const isPatient = (): boolean => performance.now() - began_ms < patience_ms;
  for (let look = 0; ; look++) {
    if (look % 20 === 10) await notifyAgain(fixture, pool);
    if (look % 20 === 5) await typeAgain(pages);
    if (look % 20 === 15) await sendReceiptsAgain(fixture, pool);
    const open = await openOperations(pool);
    if (open.length === 0 || !isPatient()) {
      const agreed = await compareWithBank(
        pool,
        merchant,
        await fixture.acquirer.books(),
        links,
      ).catch((error: unknown) => {
        if (isPatient()) return null;
        throw error;
      });
      if (agreed) {
        print(
          `settled ${((performance.now() - began_ms) / 1_000).toFixed(1)} s after the last fault`,
        );
        return agreed;
      }
    }
    await delay(250);
  }
};

const live = async (plan: ChaosPlan, speed: Speed, fixture: Fixture, pool: pg.Pool) => {
  const { acquirer } = fixture;
  const merchant = await openMerchant(fixture);
  const tokens = await prepare(merchant);
  await acquirer.faults({ rates });
  const began_ms = performance.now();
  const done = newDone(tokens);
  await Promise.all([doAll(merchant, plan, done), killAll(fixture, plan, () => countOf(done))]);
  await acquirer.faults({ rates: noRates });
  const took_s = ((performance.now() - began_ms) / 1_000).toFixed(1);
  plan.print(
    `${plan.operations} operations and ${plan.kills} kills in ${took_s} s: ${JSON.stringify({ ...done.counts, refused: Object.fromEntries(done.refusals) })}`,
  );
  const agreed = await settle(fixture, pool, merchant, { ...plan, done });
  const overdue = Temporal.Instant.fromEpochMilliseconds(fastTime_ms(speed)).subtract({
    seconds: 60,
  });
  assert.deepEqual(
    await stuckOperations(pool, overdue),
    [],
    'nothing waits that no sweep will find',
  );
  assert.deepEqual((await acquirer.books()).violations, []);
  assert.ok(done.receipted.size === 0 || agreed.receipts > 0, 'receipts were made');
  const figures = Object.entries(agreed).map(([name, value]) => `${name} ${value}`);
  plan.print(`agreed to the kopeck: ${figures.join(', ')}`);
  return { done, agreed };
};

/** Runs it; throws with the seed when the books do not agree. */
export const runChaos = async (plan: ChaosPlan) => {
  plan.print(`chaos with the seed ${plan.seed}`);
  const speed = { began_ms: Date.now(), times: plan.times };
  const fixture = await openFixture(speed, plan.seed);
  const pool = openPool(fixture.databaseUrl, 4);
  try {
    return await live(plan, speed, fixture, pool);
  } catch (error) {
    plan.print(fixture.output());
    throw error;
  } finally {
    await pool.end();
    await fixture.close();
  }
};
