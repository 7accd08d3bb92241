/**
 * Merchants who ask for as much as they may, on many connections: what they compose runs one
 * statement at a time, and no other merchant is refused.
 */
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { after, before, describe, test } from 'node:test';
import { createClient } from 'graphql-ws';
import type pg from 'pg';
import { WebSocket } from 'ws';
import { openPool } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { makeMerchant, type Merchant } from '../support/merchant.ts';
import { startOwn, type ServiceInUse } from '../support/plain-service.ts';

const day = { from: '2026-11-01T00:00:00Z', to: '2026-12-01T00:00:00Z' };
const twenty = Array.from({ length: 20 }, (_, place) => place);
const totals = `{ ${twenty.map((place) => `a${place}: totals(of: payment, mode: test, currency: "RUB", from: "${day.from}", to: "${day.to}", interval: hour) { __typename }`).join(' ')} }`;
const eventLog = `{ ${twenty.map((place) => `a${place}: eventLog(first: 50, subjectId: "00000000-0000-4000-8000-0000000000${10 + place}") { items { id } }`).join(' ')} }`;

/** What the floods ask PostgreSQL, and nothing that works beside them does. */
const totalsText = '%from hourly_total where merchant_id%';
const eventLogText = '%and webhook_event is not null and sequence%';

const lives = 20;

let service: ServiceInUse;
let pool: pg.Pool;
let neighbour: Merchant;
let crowd: readonly Merchant[];
before(async () => {
  service = await startOwn();
  pool = openPool(service.databaseUrl, 2);
  neighbour = await makeMerchant(service);
  crowd = await Promise.all(twenty.slice(0, 6).map(() => makeMerchant(service)));
});
after(async () => {
  await pool?.end();
  await service?.stop();
});

/** Calls until `signal`; gives how often each status came. */
const insist = async (
  connections: number,
  signal: AbortSignal,
  call: () => Promise<number>,
): Promise<ReadonlyMap<number, number>> => {
  const statuses = new Map<number, number>();
  const work = async (): Promise<void> => {
    while (!signal.aborted) {
      const status = await call();
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  return statuses;
};

const askDocument = async ({ key }: Merchant, query: string): Promise<number> => {
  const answer = await fetch(`${service.graph}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ query }),
  });
  await answer.arrayBuffer();
  assert.equal(answer.headers.has('retry-after'), answer.status === 429);
  return answer.status;
};

const askList = async (merchant: Merchant, path: string): Promise<number> =>
  (await merchant.call('GET', path)).status;

/** A payment that is made, read and cancelled; gives the answers that are not of success. */
const live = async ({ call }: Merchant): Promise<readonly object[]> => {
  const made = await call('POST', '/payments', { amount: 1_000, method: 'sbp' });
  const { id } = made.body.payment ?? {};
  const read = await call('GET', `/payments/${id}`);
  const cancelled = await call('POST', `/payments/${id}/cancel`);
  return [made, read, cancelled].flatMap(({ status, headers, body }) =>
    status < 300 ? [] : [{ status, headers: [...headers], body }],
  );
};

/** How many statements of these texts PostgreSQL runs at this moment. */
const runningNow = async (text: string): Promise<number> => {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
     where datname = current_database() and state = 'active' and pid <> pg_backend_pid() and query like $1`,
    [text],
  );
  return rows[0]?.count ?? 0;
};

/** The most of those statements at a time while the neighbour lives some payments. */
const crowdedBy = async (
  text: string,
  flood: (signal: AbortSignal) => readonly Promise<ReadonlyMap<number, number>>[],
) => {
  const stop = new AbortController();
  const floods = flood(stop.signal);
  await eventually(async () => (await runningNow(text)) > 0, 'the crowd runs');
  const failed: object[] = [];
  let most = 0;
  for (let life = 0; life < lives; life += 1) {
    failed.push(...(await live(neighbour)));
    most = Math.max(most, await runningNow(text));
  }
  stop.abort();
  const statuses = await Promise.all(floods);
  return { failed, most, statuses: new Set(statuses.flatMap((one) => [...one.keys()])) };
};

const ofAll = Math.max(1, Math.floor(availableParallelism() / 2));

describe('a crowd', () => {
  const greedy = (): Merchant => crowd[0] ?? assert.fail('the crowd is empty');

  for (const [what, query, text] of [
    ['totals', totals, totalsText],
    ['narrowed event logs', eventLog, eventLogText],
  ] as const)
    test(`of twenty ${what} a document, on eight connections of a key, has one statement at a time`, async () => {
      const { failed, most, statuses } = await crowdedBy(text, (signal) => [
        insist(8, signal, () => askDocument(greedy(), query)),
      ]);
      assert.deepEqual(failed, []);
      assert.ok(most <= 1, `${most} statements at a time`);
      assert.deepEqual(
        [...statuses].filter((status) => ![200, 429].includes(status)),
        [],
      );
    });

  test('of lists on sixteen connections has one statement at a time', async () => {
    const { failed, most } = await crowdedBy(eventLogText, (signal) => [
      insist(16, signal, () =>
        askList(greedy(), '/event-log?subject_id=00000000-0000-4000-8000-000000000010'),
      ),
    ]);
    assert.deepEqual(failed, []);
    assert.ok(most <= 1, `${most} statements at a time`);
  });

  test('of six merchants has one statement for two cores at a time', async () => {
    const { failed, most, statuses } = await crowdedBy(totalsText, (signal) =>
      crowd.map((merchant) => insist(8, signal, () => askDocument(merchant, totals))),
    );
    assert.deepEqual(failed, []);
    assert.ok(most <= ofAll, `${most} statements at a time`);
    assert.deepEqual(
      [...statuses].filter((status) => ![200, 429].includes(status)),
      [],
    );
  });

  test('subscribes to a hundred different things at a time', async (t) => {
    const sockets = [1, 2, 3].map(() =>
      createClient({
        url: `${service.graph.replace('http', 'ws')}/graphql`,
        webSocketImpl: WebSocket,
        connectionParams: { authorization: `Bearer ${greedy().key}` },
        retryAttempts: 0,
      }),
    );
    t.after(async () => {
      for (const socket of sockets) await socket.dispose();
    });
    let refused = 0;
    const subscribe = (place: number): void => {
      const query = `subscription { paymentStatusChanged { id p${place}: payment { amount } } }`;
      const error = ([{ message }]: any): void => {
        if (/different things/.test(message)) refused += 1;
        // Its tokens are used up for the moment.
        else setTimeout(subscribe, 200, place);
      };
      sockets[place % 3]?.subscribe({ query }, { next: () => {}, error, complete: () => {} });
    };
    for (let place = 0; place < 110; place += 1) subscribe(place);
    await eventually(() => refused === 10, 'ten refusals');
    // The contract's stream is none of them.
    const stream = await fetch(`${service.rest}/v1/public/events`, {
      headers: { authorization: `Bearer ${greedy().key}` },
    });
    assert.equal(stream.status, 200);
    await stream.body?.cancel();
    assert.deepEqual(await live(neighbour), []);
  });
});
