/**
 * Subscriptions that are due at the same moment, charged by the worker, against token charges made one by one over REST; the same among few subscriptions
 * and among very many; and what a look for what is due costs when nothing is.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'pg';
import { freePort } from '../../subgraphs/kernel/database/embedded/free-port.ts';
import { dueSubscriptions } from '../../subgraphs/recurring/store-subscription.ts';
import { callRest } from '../support/merchant.ts';
import { spawnProcess, stopProcess, untilReady } from '../support/service.ts';
import type { Bench } from './plan.ts';
import type { Row } from './report.ts';
import type { World } from './world.ts';

/** Issue: charges by the schedule over charges one by one, at least. */
const leastRatio = 2;
const chunk_rows = 50_000;
/** Charges one by one: their pace does not depend on how many there are. */
const singles_max = 500;
const looks = 200;
const poll_ms = 20;
const patience_ms = 600_000;

/** A token that the simulated bank lets be charged; every subscription here charges it. */
const addToken = async (pool: Pool, { merchant }: World): Promise<string> => {
  const [token, operation] = [randomUUID(), randomUUID()];
  await pool.query(
    `insert into simulator_operation (merchant_id, operation_id, reference, outcome, answer_at, created_at) values ($1, $2, 'bench', 'succeeded', now(), now())`,
    [merchant.id, operation],
  );
  await pool.query(
    `insert into token (merchant_id, id, shop_id, mode, customer_ref, method, status, saved_reference, created_at)
      values ($1, $2, $3, 'test', 'bench', 'sbp', 'active', $4, now())`,
    [merchant.id, token, merchant.shopId, `simulator:sim_saved_${operation}`],
  );
  return token;
};

/** Adds active subscriptions until there are so many; none is due for a year. */
const fill = async (pool: Pool, { merchant }: World, token: string, count: number, progress: (text: string) => void): Promise<void> => {
  const { rows } = await pool.query<{ count: number }>('select count(*)::int as count from subscription');
  for (let there = rows[0]?.count ?? 0; there < count; there += chunk_rows) {
    await pool.query(
      `insert into subscription (merchant_id, id, version, shop_id, mode, customer_ref, amount, currency, method, period, interval_count, trial_days, status, token_id,
          anchor_at, periods, failures, due_at, next_charge_at, created_at)
        select $1, gen_random_uuid(), 1, $2, 'test', 'bench', 10000, 'RUB', 'sbp', 'month', 1, 0, 'active', $3, now(), 1, 0,
          now() + interval '1 year' + n * interval '1 second', now() + interval '1 year', now() from generate_series(1, $4::int) as n`,
      [merchant.id, merchant.shopId, token, Math.min(chunk_rows, count - there)],
    );
    progress(`${Math.min(count, there + chunk_rows).toLocaleString('en')} subscriptions`);
  }
  await pool.query('vacuum (analyze) subscription');
};

/** Makes so many subscriptions due and waits until each is charged; gives how many a second. */
const drain = async (pool: Pool, due: number): Promise<number> => {
  await pool.query('delete from subscription_charge');
  await pool.query(
    `update subscription set due_at = now() where ctid = any (array(select ctid from subscription where due_at > now() + interval '1 month' limit $1))`,
    [due],
  );
  const began_ms = performance.now();
  while (performance.now() < began_ms + patience_ms) {
    const { rows } = await pool.query<{ count: number }>(`select count(*)::int as count from subscription_charge where status = 'succeeded'`);
    if ((rows[0]?.count ?? 0) >= due) return (due * 1_000) / (performance.now() - began_ms);
    await sleep(poll_ms);
  }
  throw new Error(`${due} subscriptions were not charged within ${patience_ms} ms`);
};

/** Charges a token over REST, each charge after the answer to the one before; gives how many a second. */
const oneByOne = async ({ merchant, service }: World, token: string, charges: number): Promise<number> => {
  const began_ms = performance.now();
  for (let charge = 0; charge < charges; charge += 1) {
    await callRest({ rest: service.url, key: merchant.key }, 'POST', `/tokens/${token}/charge`, { amount: 10_000 });
  }
  return (charges * 1_000) / (performance.now() - began_ms);
};

/** Microseconds that one look for what is due takes when nothing is: that of the least disturbed tenth, once the plans are kept. */
const emptyLook_us = async (pool: Pool): Promise<number> => {
  const took: number[] = [];
  for (let look = 0; look < looks * 2; look += 1) {
    const began_ms = performance.now();
    await dueSubscriptions.due(pool, null, Temporal.Now.instant(), 200);
    if (look >= looks) took.push((performance.now() - began_ms) * 1_000);
  }
  return took.toSorted((one, other) => one - other)[Math.floor(looks / 10)] ?? Number.NaN;
};

interface Measured {
  readonly perSecond: number;
  readonly look_us: number;
}

/** Measures among so many subscriptions, with a worker that is there for it alone. */
const among = async (world: World, pool: Pool, token: string, rows: number, { plan, progress }: Bench): Promise<Measured> => {
  await fill(pool, world, token, rows, (text) => progress(`recurring: ${text}`));
  const look_us = await emptyLook_us(pool);
  const environment = { DATABASE_URL: world.databaseUrl, SECRET_KEY: randomBytes(32).toString('base64'), NODE_ENV: 'production' };
  const worker = spawnProcess('worker subgraph payments', await freePort(), environment);
  try {
    await untilReady(worker);
    progress(`recurring: warming up among ${rows.toLocaleString('en')}`);
    await drain(pool, Math.ceil(plan.dueSubscriptions / 5));
    progress(`recurring: charging ${plan.dueSubscriptions} of ${rows.toLocaleString('en')}`);
    return { perSecond: await drain(pool, plan.dueSubscriptions), look_us };
  } finally {
    await stopProcess(worker);
  }
};

/** The rows. */
export const recurringRows = async (world: World, bench: Bench): Promise<readonly Row[]> => {
  const { plan, progress } = bench;
  const pool = new Pool({ connectionString: world.databaseUrl, max: 2 });
  try {
    const token = await addToken(pool, world);
    const due = plan.dueSubscriptions;
    const singles = Math.min(due, singles_max);
    await oneByOne(world, token, Math.ceil(singles / 5));
    progress(`recurring: ${singles} charges one by one`);
    const single = await oneByOne(world, token, singles);
    const [few, many] = [due * 2, plan.subscriptions];
    const amongFew = await among(world, pool, token, few, bench);
    const amongMany = await among(world, pool, token, many, bench);
    const [fewText, manyText] = [few.toLocaleString('en'), many.toLocaleString('en')];
    const speed = ({ perSecond }: Measured): string => `${perSecond.toFixed(0)}/s`;
    return [
      {
        what: `${due} due subscriptions charged`,
        against: 'token charges one by one over REST',
        ratio: amongFew.perSecond / single,
        aim: { least: leastRatio },
        rounds: 1,
        figures: `${speed(amongFew)} to ${single.toFixed(0)}/s`,
      },
      {
        what: `the same among ${manyText} subscriptions`,
        against: `among ${fewText}`,
        ratio: amongMany.perSecond / amongFew.perSecond,
        aim: { least: 0.8 },
        rounds: 1,
        figures: `${speed(amongMany)} to ${speed(amongFew)}`,
      },
      {
        what: `a look for what is due among ${manyText} when nothing is`,
        against: `among ${fewText}`,
        ratio: amongFew.look_us / amongMany.look_us,
        aim: { least: 0.5 },
        rounds: looks,
        figures: `${amongMany.look_us.toFixed(0)} us to ${amongFew.look_us.toFixed(0)} us`,
      },
    ];
  } finally {
    await pool.end();
  }
};
