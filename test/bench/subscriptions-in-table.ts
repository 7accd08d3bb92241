/**
 * Subscriptions in large numbers, made by the database itself, all of one token that the simulated
 * bank lets be charged.
 */
import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { freePort } from '../support/free-port.ts';
import { spawnProcess, stopProcess, untilReady } from '../support/service.ts';
import { cpuOfProcess, type CpuClock } from './cpu.ts';
import type { Fixture } from './fixture.ts';

const chunk_rows = 50_000;

/** Adds the token; gives its id. */
export const addToken = async (pool: Pool, { merchant }: Fixture): Promise<string> => {
  const [token, operation] = [randomUUID(), randomUUID()];
  await pool.query(
    `insert into simulator_operation (merchant_id, operation_id, reference, outcome, answer_at, created_at) values ($1, $2, $3, 'succeeded', now(), now())`,
    [merchant.id, operation, `bench_${operation}`],
  );
  await pool.query(
    `insert into token (merchant_id, id, shop_id, mode, customer_ref, method, status, saved_reference, created_at)
      values ($1, $2, $3, 'test', 'bench', 'sbp', 'active', $4, now())`,
    [merchant.id, token, merchant.shopId, `simulator:sim_saved_${operation}`],
  );
  return token;
};

/** Adds active subscriptions until there are so many; none is due for a year. */
export const fillSubscriptions = async (
  pool: Pool,
  { merchant }: Fixture,
  token: string,
  count: number,
  progress: (text: string) => void,
): Promise<void> => {
  const { rows } = await pool.query<{ count: number }>(
    'select count(*)::int as count from subscription',
  );
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

/** Makes so many of them due at the same moment, and forgets earlier charges. */
export const makeDue = async (pool: Pool, due: number): Promise<void> => {
  await pool.query('delete from subscription_charge');
  const chosen = `select ctid from subscription where due_at > now() + interval '1 month' limit $1`;
  await pool.query(`update subscription set due_at = now() where ctid = any (array(${chosen}))`, [
    due,
  ]);
};

/** How many have been charged since. */
export const countCharged = async (pool: Pool): Promise<number> => {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::int as count from subscription_charge where status = 'succeeded'`,
  );
  return rows[0]?.count ?? 0;
};

/**
 * Starts a worker of the fixture's database, with payments in its own process; `stack` ends it.
 * Gives the clock of its CPU time.
 */
export const startChargingWorker = async (
  { environment }: Fixture,
  stack: AsyncDisposableStack,
): Promise<CpuClock> => {
  const worker = spawnProcess('worker subgraph payments', await freePort(), environment);
  stack.defer(async () => void (await stopProcess(worker)));
  await untilReady(worker);
  return cpuOfProcess(worker.child.pid ?? 0);
};
