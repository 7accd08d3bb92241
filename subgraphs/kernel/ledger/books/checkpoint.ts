/**
 * Checkpoints of a merchant's balances: the sums of its postings up to one that is old enough for
 * nothing to come in before it any more. The walk over the postings counts them anew from the first
 * one in each of its passes, range by range, so that a posting that was changed is in the next
 * checkpoint however old it is. Sums that are complete never change: the next generation takes
 * their place. A merchant of few postings has none, and is summed whole.
 */
import type pg from 'pg';
import { Counter } from 'prom-client';
import { inTransaction, run, type Statement } from '../../database/statement.ts';
import { newRowId } from '../../database/new-id.ts';
import { metrics } from '../../service/tracing/telemetry.ts';
import { highestId, lowestId, type Range } from './check.ts';

/** SQL: the sides of `entry` that a balance is made of, as `side`. */
const sides = `cross join lateral (values (entry.to_account, entry.amount), (entry.from_account, -entry.amount)) as side(account, amount)`;
const isKept = `side.account in ('merchant', 'merchant_reserved')`;

/**
 * From here on ids are no moments (the year 2109): those that were made at random, before ids began
 * with the time.
 */
const random = '04000000-0000-0000-0000-000000000000';

/** A checkpoint is at least so old before the next one is counted. */
const age_min_h = 1;

/**
 * From where balances are proved: the lowest end of the checkpoints of a range of merchants, `$1`
 * to `$2`.
 */
export const provedFrom: Statement = {
  name: 'books.proved_from',
  text: `select coalesce(min(up_to::text)::uuid, '${random}') as id from balance_proof where merchant_id >= $1 and merchant_id <= $2 and up_to is not null`,
};

/**
 * SQL: the amounts by account of what `part`, some shops, has booked: its merchants' checkpoints
 * and what came since. What came since is found by the key of all postings of the merchant, so
 * that it costs by its own rows alone: `$6`, from `provedFrom`, shows the planner how few they are.
 */
export const enteredSince = `proved as materialized (select merchant_id, generation, up_to from balance_proof
      where merchant_id in (select merchant_id from part) and up_to >= $6::uuid),
    since as materialized (select entry.* from proved cross join lateral (
        select merchant_id, shop_id, mode, currency, from_account, to_account, amount from posting
        where posting.merchant_id = proved.merchant_id and posting.id > proved.up_to and posting.id > $6::uuid and posting.id < '${random}' offset 0) as entry),
    whole as materialized (select * from part where merchant_id not in (select merchant_id from proved)),
    moved as (
      select counted.merchant_id, counted.shop_id, counted.mode, counted.currency, counted.account, counted.amount
      from part join proved on proved.merchant_id = part.merchant_id
        join balance_checkpoint as counted on counted.merchant_id = part.merchant_id and counted.generation = proved.generation and counted.shop_id = part.id
      union all
      select entry.merchant_id, entry.shop_id, entry.mode, entry.currency, side.account, side.amount
      from part join since as entry on entry.merchant_id = part.merchant_id and entry.shop_id = part.id ${sides} where ${isKept}
      union all
      select entry.merchant_id, entry.shop_id, entry.mode, entry.currency, side.account, side.amount
      from whole cross join lateral (
        select merchant_id, shop_id, mode, currency, from_account, to_account, amount from posting
        where posting.merchant_id = whole.merchant_id and posting.shop_id = whole.id offset 0) as entry ${sides} where ${isKept})`;

/** SQL: the same of every posting that there is. */
export const enteredEver = `moved as (
      select entry.merchant_id, entry.shop_id, entry.mode, entry.currency, side.account, side.amount
      from part join posting as entry on entry.merchant_id = part.merchant_id and entry.shop_id = part.id ${sides} where ${isKept})`;

const begin: Statement = {
  name: 'books.begin_count',
  text: `insert into balance_proof (merchant_id, generation, counted_to) values ($1, 0, '${lowestId}')
    on conflict (merchant_id) do update set counted_to = excluded.counted_to, counts_up_to = null
    where balance_proof.counted_to is null and (balance_proof.proved_at is null or balance_proof.proved_at <= $2)`,
};

const hold: Statement = {
  name: 'books.hold_count',
  text: `select generation, counted_to as "countedTo", counts_up_to as "countsUpTo" from balance_proof
    where merchant_id = $1 and counted_to is not null for update`,
};

interface Count {
  readonly generation: number;
  readonly countedTo: string;
  readonly countsUpTo: string | null;
}

// An hour before the oldest transaction that has written something and is not over, or before now:
// a posting's id is made right before its transaction writes it, so that whatever has an older one
// has been committed, or never will be.
const settled: Statement = {
  name: 'books.settled',
  text: `select floor(extract(epoch from least(clock_timestamp(), min(xact_start)) - interval '1 hour') * 1000)::float8 as "at_ms"
    from pg_stat_activity where datname = current_database() and backend_xid is not null and pid <> pg_backend_pid()`,
};

const add: Statement = {
  name: 'books.count_postings',
  text: `insert into balance_checkpoint (merchant_id, generation, shop_id, mode, currency, account, amount)
    select $1::uuid, $2::int, entry.shop_id, entry.mode, entry.currency, side.account, sum(side.amount)
    from posting as entry ${sides}
    where entry.merchant_id = $1 and entry.id > $3::uuid and entry.id <= $4::uuid
      and (entry.id <= $5::uuid or entry.id >= '${random}') and ${isKept}
    group by 3, 4, 5, 6
    on conflict (merchant_id, generation, shop_id, mode, currency, account) do update set amount = balance_checkpoint.amount + excluded.amount`,
};

const move: Statement = {
  name: 'books.move_count',
  text: 'update balance_proof set counted_to = $2, counts_up_to = $3 where merchant_id = $1',
};

const complete: Statement = {
  name: 'books.complete_count',
  text: `update balance_proof set generation = $2, up_to = $3, proved_at = $4, counted_to = null, counts_up_to = null where merchant_id = $1`,
};

const giveUp: Statement = {
  name: 'books.give_up_count',
  text: 'update balance_proof set counted_to = null, counts_up_to = null where merchant_id = $1',
};

const dropOther: Statement = {
  name: 'books.drop_other_sums',
  text: 'delete from balance_checkpoint where merchant_id = $1 and generation <> $2',
};

const forget: Statement = {
  name: 'books.forget_proof',
  text: 'delete from balance_proof where merchant_id = $1',
};

const distrusted = new Counter({
  name: 'books_checkpoints_distrusted_total',
  help: 'Checkpoints of balances that were given up: the balance equals its entries, and the checkpoint does not.',
  registers: [metrics],
});

/** The last id of what can change no more. */
const settledId = async (client: pg.PoolClient): Promise<string> => {
  const [row] = await run<{ at_ms: number }>(client, settled, []);
  return `${newRowId(row?.at_ms ?? 0).slice(0, 14)}4000-8000-000000000000`;
};

/** A range as it was walked. */
interface WalkedPostings extends Range {
  /** Whether it is the merchant's first one that is of no other merchant. */
  readonly isFirst: boolean;
  readonly now: Temporal.Instant;
}

/**
 * Counts a range of postings that was walked, of one merchant or the last one of it. A range that
 * is repeated counts once, whatever was cut short; after one that was not counted the merchant's
 * count is given up, and the next pass begins another.
 */
export const countPostings = async (
  pool: pg.Pool,
  { from, to, isFirst, now }: WalkedPostings,
): Promise<void> => {
  const { merchantId } = from;
  const isLast = to.merchantId !== merchantId;
  if (isLast && (from.id === highestId || merchantId === lowestId)) return;
  if (isFirst) await run(pool, begin, [merchantId, now.subtract({ hours: age_min_h })]);
  const end = isLast ? highestId : to.id;
  await inTransaction(pool, async (client) => {
    const [count] = await run<Count>(client, hold, [merchantId]);
    if (!count || count.countedTo >= end) return;
    const { generation, countedTo, countsUpTo } = count;
    if (!isFirst && countedTo < from.id) {
      await run(client, giveUp, [merchantId]);
      await run(client, dropOther, [merchantId, generation]);
      return;
    }
    const safe = countsUpTo ?? (await settledId(client));
    const next = generation + 1;
    await run(client, add, [merchantId, next, countedTo, end, safe]);
    if (!isLast) {
      await run(client, move, [merchantId, end, end > safe ? safe : null]);
      return;
    }
    await run(client, complete, [merchantId, next, safe, now]);
    await run(client, dropOther, [merchantId, next]);
  });
};

/** Gives a merchant's checkpoint up, and what is counted for the next one. */
export const forgetCheckpoint = async (pool: pg.Pool, merchantId: string): Promise<void> => {
  distrusted.inc();
  await inTransaction(pool, async (client) => {
    await run(client, forget, [merchantId]);
    await run(client, dropOther, [merchantId, 0]);
  });
};
