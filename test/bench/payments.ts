/** Payments: created, read, and whole ones, which a buyer pays and a webhook reports. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import { requestText } from './load.ts';
import { compare, median, type Measure, type Rounds, type Row } from './rounds.ts';
import {
  connections,
  createPayment,
  createRequest,
  restRequest,
  settle,
  underLoad,
  type Bench,
  type Side,
} from './sides.ts';

/** How many connections, or buyers. */
const crowds = [1, connections, 64] as const;
/** A webhook that does not come. */
const patience_ms = 30_000;

export const roundsOf = (quick: boolean): Rounds =>
  quick
    ? { rounds: 2, duration_ms: 500, warmUp_ms: 500 }
    : { rounds: 5, duration_ms: 2_000, warmUp_ms: 5_000 };

/** The names of all fields, without metadata. */
const fieldsOf = (value: unknown): readonly string[] =>
  value === null || typeof value !== 'object'
    ? []
    : Object.entries(value).flatMap(([name, inside]) => [name, ...fieldsOf(inside)]);

/** Compares both sides under the same requests, with few connections and with many. */
const compareLoads = async (
  what: string,
  bench: Bench,
  requestsOf: (side: Side) => Promise<readonly string[]>,
): Promise<readonly Row[]> => {
  const { service, bare, quick, progress } = bench;
  const requests = { service: await requestsOf(service), bare: await requestsOf(bare) };
  const rows: Row[] = [];
  for (const count of crowds) {
    const title = `${what}, ${count} connection${count === 1 ? '' : 's'}`;
    progress(title);
    const sides = {
      service: underLoad(bench, service, () => requests.service, count),
      bare: underLoad(bench, bare, () => requests.bare, count),
    };
    rows.push(await compare(title, sides, roundsOf(quick)));
  }
  return rows;
};

/** Payments created over REST. A baseline that answers less is none. */
export const createRows = async (bench: Bench): Promise<readonly Row[]> => {
  const [ours, theirs] = [await createPayment(bench.service), await createPayment(bench.bare)];
  assert.deepEqual(fieldsOf(theirs), fieldsOf(ours), 'the baseline creates another payment');
  return compareLoads('create', bench, async ({ key }) => [createRequest(key)]);
};

/** Payments read over REST by their ids. */
export const readRows = (bench: Bench): Promise<readonly Row[]> =>
  compareLoads('read', bench, async (side) => {
    const ids: string[] = [];
    for (let made = 0; made < 500; made += 20) {
      const created = await Promise.all(Array.from({ length: 20 }, () => createPayment(side)));
      ids.push(...created.map(({ payment }) => payment.id));
    }
    return ids.map((id) => restRequest(side.key, 'GET', `/payments/${id}`));
  });

/** Opens buyers of one side: each call is one payment, from its creation until its webhook came. */
export const openBuyers = (
  { receiver }: Pick<Bench, 'receiver'>,
  side: Side,
  stack: AsyncDisposableStack,
): (() => Promise<void>) => {
  const agent = new Agent({ connections: Math.max(...crowds), pipelining: 1 });
  stack.defer(() => agent.close());
  const awaited = new Map<string, () => void>();
  const before = receiver.onWebhook;
  receiver.onWebhook = (eventId, body) => {
    before(eventId, body);
    awaited.get((JSON.parse(body) as { data: { id: string } }).data.id)?.();
  };
  stack.defer(() => void (receiver.onWebhook = before));
  const send = async (
    method: 'GET' | 'POST',
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: string,
  ): Promise<string> => {
    const { url: origin } = side;
    const answer = await agent.request({ origin, path, method, headers, body: body ?? null });
    const text = await answer.body.text();
    if (answer.statusCode >= 400) throw new Error(`${path}: ${answer.statusCode} ${text}`);
    return text;
  };
  const authorization = `Bearer ${side.key}`;
  const payment = JSON.stringify({ amount: 10_000, method: 'sbp' });
  const json = { 'content-type': 'application/json' };
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  return async () => {
    const created = JSON.parse(
      await send('POST', '/v1/public/payments', { authorization, ...json }, payment),
    ) as { payment: { id: string }; payment_url: string };
    const { id } = created.payment;
    const notified = new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error('a webhook did not come')), patience_ms);
      awaited.set(id, () => (clearTimeout(late), resolve()));
    });
    const page = new URL(created.payment_url).pathname;
    const origin = side.url;
    await send('POST', `${page}/pay`, { origin, ...json }, '{}');
    await send('POST', `${page}/bank`, { origin, ...form }, 'answer=approve');
    await notified;
    awaited.delete(id);
    const read = await send('GET', `/v1/public/payments/${id}`, { authorization });
    if (!read.includes('"status":"succeeded"')) throw new Error(`${id} has not succeeded`);
  };
};

/** Has so many buyers pay one payment after another; how long each took. */
const payFor = async (
  buy: () => Promise<void>,
  buyers: number,
  duration_ms: number,
): Promise<readonly number[]> => {
  const latencies_us: number[] = [];
  const began_ms = performance.now();
  const pay = async (): Promise<void> => {
    while (performance.now() - began_ms < duration_ms) {
      const sent_ms = performance.now();
      await buy();
      latencies_us.push((performance.now() - sent_ms) * 1_000);
    }
  };
  await Promise.all(Array.from({ length: buyers }, pay));
  return latencies_us;
};

const payAtOnce =
  (buy: () => Promise<void>, buyers: number, { service }: Bench): Measure =>
  async (duration_ms) => {
    const began_ms = performance.now();
    const latencies_us = await payFor(buy, buyers, duration_ms);
    const elapsed_ms = performance.now() - began_ms;
    await settle(service);
    return { perSecond: (latencies_us.length * 1_000) / elapsed_ms, p50_us: median(latencies_us) };
  };

/** What PostgreSQL has written. */
interface Written {
  readonly wal: number;
  readonly disk: number;
  readonly updates: number;
  readonly hot: number;
}

const written = `select (pg_current_wal_lsn() - '0/0')::float8 as wal,
  (select sum(pg_total_relation_size(relid)) from pg_stat_user_tables)::float8 as disk,
  (select sum(n_tup_upd) from pg_stat_user_tables)::float8 as updates,
  (select sum(n_tup_hot_upd) from pg_stat_user_tables)::float8 as hot`;

/** An idle session tells its counts after ten seconds. */
const counted_ms = 11_000;

const readWritten = async ({ pool }: Side): Promise<Written> => {
  await sleep(counted_ms);
  const { rows } = await pool.query<Written>(written);
  if (!rows[0]) throw new Error('PostgreSQL does not say what it has written');
  return rows[0];
};

/** What one whole payment writes: bytes, and the share of updates that are HOT. */
const costOf = async (
  buy: () => Promise<void>,
  side: Side,
  { service, quick }: Bench,
): Promise<Omit<Written, 'updates'>> => {
  const { rounds, duration_ms } = roundsOf(quick);
  const before = await readWritten(side);
  const { length: paid } = await payFor(buy, connections, rounds * duration_ms);
  await settle(service);
  const after = await readWritten(side);
  return {
    wal: (after.wal - before.wal) / paid,
    disk: (after.disk - before.disk) / paid,
    hot: (after.hot - before.hot) / (after.updates - before.updates),
  };
};

const kilobytes = (bytes: number): string => `${(bytes / 1_000).toFixed(1)} KB`;
const onDisk = ({ disk, hot }: Pick<Written, 'disk' | 'hot'>): string =>
  `${kilobytes(disk)}, ${(hot * 100).toFixed(0)} % of updates HOT`;

/** Whole payments: create, pay on the page, the bank's answer, the webhook, read. */
export const wholeRows = async (bench: Bench): Promise<readonly Row[]> => {
  await using stack = new AsyncDisposableStack();
  const service = openBuyers(bench, bench.service, stack);
  const bare = openBuyers(bench, bench.bare, stack);
  const rows: Row[] = [];
  for (const buyers of crowds) {
    const title = `whole payment, ${buyers} buyer${buyers === 1 ? '' : 's'}`;
    bench.progress(title);
    const sides = {
      service: payAtOnce(service, buyers, bench),
      bare: payAtOnce(bare, buyers, bench),
    };
    rows.push(await compare(title, sides, roundsOf(bench.quick)));
  }
  bench.progress('what a whole payment writes');
  const ours = await costOf(service, bench.service, bench);
  const theirs = await costOf(bare, bench.bare, bench);
  return [
    ...rows,
    {
      what: 'WAL of a whole payment',
      ratio: theirs.wal / ours.wal,
      service: kilobytes(ours.wal),
      bare: kilobytes(theirs.wal),
    },
    {
      what: 'disk of a whole payment',
      ratio: theirs.disk / ours.disk,
      service: onDisk(ours),
      bare: onDisk(theirs),
    },
  ];
};

/** Ad-hoc documents over GraphQL, of two subgraphs: the same one again, and always another one. */
export const documentRows = async (bench: Bench): Promise<readonly Row[]> => {
  const { quick, service, bare, progress } = bench;
  let made = 0;
  const requestOf = (name: string, { key }: Side): string => {
    const query = `query ${name}($first: Int!) { payments(first: $first) { nodes { id status amount createdAt shop { id name } } pageInfo { hasNextPage endCursor } } }`;
    const authorization = `Bearer ${key}`;
    return requestText('POST', '/graphql', { authorization }, { query, variables: { first: 50 } });
  };
  const kinds = {
    'the same ad-hoc document again': (side: Side) => [requestOf('Page', side)],
    'another ad-hoc document each time': (side: Side) =>
      Array.from({ length: 1_000 }, () => requestOf(`Page${(made += 1)}`, side)),
  };
  const rows: Row[] = [];
  for (const [title, requestsOf] of Object.entries(kinds)) {
    progress(title);
    const sides = {
      service: underLoad(bench, service, requestsOf, 1),
      bare: underLoad(bench, bare, requestsOf, 1),
    };
    rows.push(await compare(title, sides, { ...roundsOf(quick), warmUp_ms: 1_000 }));
  }
  return rows;
};
