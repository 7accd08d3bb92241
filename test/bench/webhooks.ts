/** Webhooks: how soon one comes after its commit, and how fast a backlog is delivered. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeMerchant } from '../support/merchant.ts';
import { inMilliseconds, median, quantile, type Row } from './rounds.ts';
import { createPayment, type Bench, type Side } from './sides.ts';

/** Few enough for a busy machine: how long one takes is measured, not how many there may be. */
const perSecond = 50;
/** Endpoints that share the backlog: each has at most ten deliveries in flight. */
const endpoints = 20;
const patience_ms = 60_000;

/** Waits until `count` webhooks have come since it was called; gives when each came. */
const countArrivals = ({ receiver }: Bench, count: number) => {
  const arrivals = new Map<string, number>();
  const { promise, resolve } = Promise.withResolvers<ReadonlyMap<string, number>>();
  receiver.onWebhook = (eventId) => {
    if (!arrivals.has(eventId)) arrivals.set(eventId, performance.now());
    if (arrivals.size === count) resolve(arrivals);
  };
  return promise.finally(() => (receiver.onWebhook = () => {}));
};

/**
 * Cancels payments at a steady rate. Milliseconds from each answer, which follows the commit at
 * once, to the arrival of its webhook; 0 where the webhook was first.
 */
const timeWebhooks = async (
  { receiver }: Bench,
  side: Side,
  seconds: number,
): Promise<readonly number[]> => {
  const ids: string[] = [];
  while (ids.length < seconds * perSecond) {
    const created = await Promise.all(Array.from({ length: 10 }, () => createPayment(side)));
    ids.push(...created.map(({ payment }) => payment.id));
  }
  const arrived = new Map<string, number>();
  receiver.onWebhook = (_, body) =>
    void arrived.set((JSON.parse(body) as { data: { id: string } }).data.id, performance.now());
  const answered = new Map<string, number>();
  const cancel = async (id: string): Promise<void> => {
    const answer = await fetch(`${side.url}/v1/public/payments/${id}/cancel`, {
      method: 'POST',
      headers: { authorization: `Bearer ${side.key}` },
    });
    answered.set(id, performance.now());
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${answer.status} ${text}`);
  };
  const began_ms = performance.now();
  const cancelled: Promise<void>[] = [];
  for (const [index, id] of ids.entries()) {
    cancelled.push(cancel(id));
    await sleep(Math.max(0, began_ms + ((index + 1) * 1_000) / perSecond - performance.now()));
  }
  await Promise.all(cancelled);
  const deadline_ms = performance.now() + patience_ms;
  while (arrived.size < ids.length) {
    if (performance.now() > deadline_ms) throw new Error('a webhook did not come');
    await sleep(10);
  }
  receiver.onWebhook = () => {};
  return ids.map((id) => Math.max(0, (arrived.get(id) ?? 0) - (answered.get(id) ?? 0)));
};

const commitRow = async (bench: Bench): Promise<Row> => {
  const seconds = bench.quick ? 2 : 10;
  bench.progress(`webhooks: ${perSecond} a second`);
  const times = { service: new Array<number>(), bare: new Array<number>() };
  for (const name of ['service', 'bare'] as const) await timeWebhooks(bench, bench[name], 2);
  for (const name of ['service', 'bare', 'bare', 'service'] as const)
    times[name].push(...(await timeWebhooks(bench, bench[name], seconds)));
  const describe = (ms: readonly number[]): string =>
    `half within ${inMilliseconds(median(ms) * 1_000)}, 99 % within ${inMilliseconds(quantile(ms, 0.99) * 1_000)}`;
  return {
    what: `commit to receiver, ${perSecond} a second`,
    ratio: median(times.bare) / median(times.service),
    service: describe(times.service),
    bare: describe(times.bare),
  };
};

const body = JSON.stringify({ event: 'payment.succeeded', data: { text: 'x'.repeat(900) } });

/** Written in one statement: what business transactions would have written one by one. */
const writeToService = async ({ service }: Bench, shops: readonly string[], count: number) => {
  await service.pool.query(
    `insert into event (merchant_id, id, shop_id, mode, subject_id, stream_kind, payload, webhook_event, webhook_body, created_at)
     select shop.merchant_id, gen_random_uuid(), shop.id, 'test', gen_random_uuid(), 'payment.status_changed', '{}', 'payment.succeeded', $2, now()
     from generate_series(1, $3) as n join shop on shop.id = ($1::uuid[])[1 + n % $4]`,
    [shops, body, count, shops.length],
  );
};

const writeToBare = async ({ bare }: Bench, count: number): Promise<void> => {
  const text =
    'insert into event (id, body) select gen_random_uuid(), $2 from generate_series(1, $1)';
  await bare.pool.query(text, [count, body]);
};

interface Drained {
  readonly perSecond: number;
  /** The rate of the last fifth over that of the first. */
  readonly flat: number;
}

const rateOf = (arrivals: ReadonlyMap<string, number>): Drained => {
  const at = [...arrivals.values()].toSorted((a, b) => a - b);
  const fifth = Math.floor(at.length / 5);
  const span = (from: number, to: number): number => (at[to] ?? 0) - (at[from] ?? 0);
  return {
    perSecond: (at.length * 1_000) / span(0, at.length - 1),
    flat: span(0, fifth) / span(at.length - 1 - fifth, at.length - 1),
  };
};

const backlogRow = async (bench: Bench): Promise<Row> => {
  const { service, bare, receiver, quick, progress } = bench;
  const count = quick ? 2_000 : 20_000;
  progress(`webhooks: a backlog of ${count}`);
  const shops = await Promise.all(
    Array.from({ length: endpoints }, async () => {
      const merchant = await makeMerchant({ rest: service.url, graph: service.url });
      await merchant.endpoint(`${receiver.url}/${randomUUID()}`);
      return merchant.shopId;
    }),
  );
  const drain = async (name: 'service' | 'bare'): Promise<Drained> => {
    const arrived = countArrivals(bench, count);
    if (name === 'service') await service.restart(() => writeToService(bench, shops, count));
    else await bare.restart(() => writeToBare(bench, count));
    return rateOf(await arrived);
  };
  const [before, ours, after] = [await drain('bare'), await drain('service'), await drain('bare')];
  const bareRate = (before.perSecond + after.perSecond) / 2;
  const describe = (rate: number, flat: number): string =>
    `${rate.toFixed(0)}/s, last fifth ${flat.toFixed(2)} of the first`;
  return {
    what: `a backlog of ${count.toLocaleString('en')} webhooks`,
    ratio: ours.perSecond / bareRate,
    service: describe(ours.perSecond, ours.flat),
    bare: describe(bareRate, after.flat),
  };
};

export const webhookRows = async (bench: Bench): Promise<readonly Row[]> => [
  await commitRow(bench),
  await backlogRow(bench),
];
