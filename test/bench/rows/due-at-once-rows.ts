/**
 * Very many subscriptions that are due at the same moment: whether they are charged at a flat rate,
 * each once, and what another merchant waits for a webhook meanwhile, which the same worker
 * delivers. Issue: they "drain steadily without starving other work".
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'pg';
import type { Bench } from '../plan.ts';
import { saying } from '../progress.ts';
import type { Row } from '../report.ts';
import { median } from '../rounds.ts';
import {
  addToken,
  countCharged,
  fillSubscriptions,
  makeDue,
  startChargingWorker,
} from '../subscriptions-in-table.ts';
import { openReceiver } from '../webhook-receiver.ts';
import { busyMerchant, type Fixture } from '../fixture.ts';

/** Of issue 7, for a healthy receiver beside bad ones: half of its webhooks come within it. */
const webhookWait_ms = 1_000;
const pause_ms = 250;
const poll_ms = 1_000;
const quietProbes = 20;

/**
 * A merchant who cancels a payment every now and then; `waits` has the milliseconds until the
 * webhook of each had come.
 */
const openProbe = async (fixture: Fixture, stack: AsyncDisposableStack) => {
  const merchant = await busyMerchant(fixture.service);
  const arrivals = new Map<string, () => void>();
  const url = await openReceiver((body) => {
    const { data } = JSON.parse(body) as { data: { id: string } };
    arrivals.get(data.id)?.();
  }, stack);
  await merchant.endpoint(url);
  return async (): Promise<number> => {
    const { body } = await merchant.call('POST', '/payments', { amount: 10_000 });
    const id = String(body.payment.id);
    const came = new Promise<void>((resolve) => arrivals.set(id, resolve));
    const began_ms = performance.now();
    await merchant.call('POST', `/payments/${id}/cancel`);
    await came;
    return performance.now() - began_ms;
  };
};

/** Probes one after the other until `isOver`. */
const probeUntil = async (
  probe: () => Promise<number>,
  isOver: (done: number) => boolean,
): Promise<readonly number[]> => {
  const waits: number[] = [];
  while (!isOver(waits.length)) {
    waits.push(await probe());
    await sleep(pause_ms);
  }
  return waits;
};

interface Drained {
  readonly took_ms: number;
  /** The rate of the last fifth over that of the first. */
  readonly lastToFirst: number;
}

/**
 * What the charges themselves say of their pace. Throws when a subscription was charged twice, or
 * not.
 */
const readDrained = async (pool: Pool, due: number, began_ms: number): Promise<Drained> => {
  const { rows } = await pool.query<{
    charges: number;
    subscriptions: number;
    payments: number;
    at: number[];
  }>(
    `select count(*)::int as charges, count(distinct subscription_id)::int as subscriptions, count(distinct payment_id)::int as payments,
      percentile_disc(array[0, 0.2, 0.8, 1]) within group (order by extract(epoch from settled_at)::float8) as at from subscription_charge`,
  );
  const [found] = rows;
  if (!found || found.charges !== due || found.subscriptions !== due || found.payments !== due) {
    throw new Error(`${due} subscriptions were due and came to ${JSON.stringify(found)}`);
  }
  const [first = 0, fifth = 0, fourFifths = 0, last = 0] = found.at;
  return {
    took_ms: performance.now() - began_ms,
    lastToFirst: (fifth - first) / (last - fourFifths),
  };
};

const drain = async (pool: Pool, due: number, progress: Bench['progress']): Promise<Drained> => {
  const began_ms = performance.now();
  for (;;) {
    const charged = await countCharged(pool);
    if (charged >= due) return readDrained(pool, due, began_ms);
    progress(`due: ${charged.toLocaleString('en')} of ${due.toLocaleString('en')} charged`);
    await sleep(poll_ms * Math.max(1, Math.ceil(due / 20_000)));
  }
};

/** The rows. */
export const dueAtOnceRows = async (
  fixture: Fixture,
  { plan, progress }: Bench,
): Promise<readonly Row[]> => {
  await using stack = new AsyncDisposableStack();
  const pool = new Pool({ connectionString: fixture.databaseUrl, max: 2 });
  stack.defer(() => pool.end());
  const due = plan.dueAtOnce;
  await fillSubscriptions(pool, fixture, await addToken(pool, fixture), due, (text) =>
    progress(`due: ${text}`),
  );
  await startChargingWorker(fixture, stack);
  const probe = await openProbe(fixture, stack);
  const before = await saying(
    probeUntil(probe, (done) => done === quietProbes),
    () => progress('due: webhooks of a quiet worker'),
  );
  await makeDue(pool, due);
  let isOver = false;
  const probing = probeUntil(probe, () => isOver);
  const drained = await drain(pool, due, progress).finally(() => (isOver = true));
  const during = await saying(probing, () => progress('due: the last webhook'));
  const many = due.toLocaleString('en');
  const [half, most] = [median(during), Math.max(...during)];
  return [
    {
      what: `${many} subscriptions due at once, last fifth to first`,
      against: 'its own beginning',
      ratio: drained.lastToFirst,
      aim: { least: 0.8 },
      rounds: 1,
      figures: `${((due * 1_000) / drained.took_ms).toFixed(0)}/s, in ${(drained.took_ms / 1_000).toFixed(0)} s, each once`,
    },
    {
      what: `a webhook of another merchant meanwhile (${webhookWait_ms} ms over half of them)`,
      against: 'a quiet worker',
      ratio: webhookWait_ms / half,
      aim: { least: 1 },
      rounds: during.length,
      figures: `half within ${half.toFixed(0)} ms, all within ${most.toFixed(0)} ms; quiet: ${median(before).toFixed(0)} ms`,
    },
  ];
};
