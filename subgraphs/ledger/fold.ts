/**
 * The fold: moves deltas into the balance rows and the ledger's hours. One statement folds thousands
 * of deltas of a merchant; when it fails, each account is folded separately, and one that fails is
 * set aside with an alert. A balance is the row plus the deltas, so it is correct meanwhile, whatever
 * is not folded.
 */
import type pg from 'pg';
import type { Owner } from '../platform/database/sql-file.ts';
import {
  isPassing,
  notDeadLetter,
  putDeadLetter,
  type Subject,
} from '../platform/alerts/dead-letters.ts';
import { run, type Runner, type Statement } from '../platform/database/statement.ts';

/** The task under which accounts are set aside. */
const task = 'fold-balances';
const account = (row: string): string =>
  `${row}.shop_id || '/' || ${row}.mode || '/' || ${row}.currency || '/' || ${row}.account`;
const notDead = notDeadLetter(task, 'waiting.merchant_id', account('waiting'));

// Of one merchant, whose id is `$2` wherever it is named, so that one shard runs it; of all its
// accounts that are not set aside, or of the one in `$3`. A sum of bigint
// is numeric: one that fits no balance fails here, for its account alone. The hours come behind the
// balances, whose rows are their locks.
const fold: Statement = {
  name: 'balance.fold',
  text: `with due as (delete from balance_delta where merchant_id = $2 and ctid = any (array(
      select ctid from balance_delta as waiting where waiting.merchant_id = $2
        and ($3::text is null and ${notDeadLetter(task, '$2', account('waiting'))} or ${account('waiting')} = $3) limit $1 for update skip locked)) returning *),
    sums as (select shop_id, mode, currency, account, sum(amount) as amount from due group by 1, 2, 3, 4 order by 1, 2, 3, 4),
    folded as (insert into balance (merchant_id, shop_id, mode, currency, account, amount)
      select $2::uuid, shop_id, mode, currency, account, amount from sums
      on conflict (merchant_id, shop_id, mode, currency, account) do update set amount = balance.amount + excluded.amount returning 1),
    hours as (insert into ledger_hour (merchant_id, mode, currency, hour, shop_id, account, type, amount)
      select $2::uuid, mode, currency, hour, shop_id, account, part.type, sum(part.amount::numeric)
      from due cross join jsonb_each_text(due.moved) as part (type, amount) where (select count(*) from folded) > 0
      group by 1, 2, 3, 4, 5, 6, 7 order by 1, 2, 3, 4, 5, 6, 7
      on conflict (merchant_id, mode, currency, hour, shop_id, account, type) do update set amount = ledger_hour.amount + excluded.amount)
    select count(*)::int as count from due`,
};

const merchantsDue: Statement = {
  name: 'balance.fold_merchants',
  text: `select merchant_id as "merchantId", count(*)::int as count
    from (select merchant_id from balance_delta as waiting where ${notDead} limit $1) as due group by 1`,
};

/** Folds the next deltas, one merchant after another. */
const foldEachMerchant = async (pool: pg.Pool, limit: number): Promise<number> => {
  let folded = 0;
  for (const { merchantId, count } of await run<Owner>(pool, merchantsDue, [limit])) {
    const [row] = await run<{ count: number }>(pool, fold, [count, merchantId, null]);
    folded += row?.count ?? 0;
  }
  return folded;
};

const accountsDue: Statement = {
  name: 'balance.fold_accounts',
  text: `select distinct merchant_id as "merchantId", ${account('due')} as "subjectId"
    from (select * from balance_delta as waiting where ${notDead} limit $1) as due order by 1, 2`,
};

/** Folds the accounts of the next deltas one by one. `folded` are deltas, `failed` accounts. */
const foldEach = async (
  runner: Runner,
  limit: number,
): Promise<{ folded: number; failed: number }> => {
  let [folded, failed] = [0, 0];
  for (const due of await run<Subject>(runner, accountsDue, [limit])) {
    try {
      const [row] = await run<{ count: number }>(runner, fold, [
        limit,
        due.merchantId,
        due.subjectId,
      ]);
      folded += row?.count ?? 0;
    } catch (error) {
      if (isPassing(error)) throw error;
      failed += 1;
      await putDeadLetter(runner, task, due, error);
    }
  }
  return { folded, failed };
};

/** Folds up to `limit` deltas; exact, since what is deleted is what is added. Returns how many. */
export const foldBalances = async (pool: pg.Pool, limit = 5_000): Promise<number> => {
  for (;;) {
    try {
      return await foldEachMerchant(pool, limit);
    } catch (error) {
      if (isPassing(error)) throw error;
      const { folded, failed } = await foldEach(pool, limit);
      if (folded > 0) return folded;
      // A round of nothing but poisoned accounts is followed by the next one. One that has failed
      // without any is not about accounts.
      if (failed === 0) throw error;
    }
  }
};

/** SQL: whether there are deltas to fold. */
export const isFoldDue = `exists (select 1 from balance_delta as waiting where ${notDead})`;

/**
 * One run of the fold: rounds of `limit` deltas until one finds nothing, `rounds` are done, or
 * `stopping`. So a run ends even while deltas arrive, and 200,000 of them in about a second exceed
 * any load: a few runs clear the backlog of an outage.
 */
export const foldBacklog = async (
  pool: pg.Pool,
  stopping: AbortSignal,
  { limit = 5_000, rounds = 40 } = {},
): Promise<void> => {
  for (let round = 0; round < rounds && !stopping.aborted; round++)
    if ((await foldBalances(pool, limit)) === 0) return;
};
