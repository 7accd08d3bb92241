/** Payments and their ledger in large numbers, made by the database itself. */
import type pg from 'pg';
import type { BenchShop } from './sent-statement.ts';

/**
 * How many of each rare status and of each rare type there are, however many rows there are: what
 * is searched is then the same, and only what lies around it differs.
 */
export const rareRows = 500;
const rareOthers = 400;
const chunk_rows = 100_000;
/** Statements that fill at once, where the pool has connections for them. */
const fillers = 2;

/** The days over which they are spread evenly. */
export const firstDay = '2026-01-01';
export const lastDay = '2026-10-27';
const spread_s = 300 * 86_400;

// The n-th of $4 payments. One in twenty fails, and 500 are cancelled; the others succeed with a
// payment and a fee, or with an adjustment instead of the fee.
const insertChunk = `
  with made as (
    insert into payment (merchant_id, id, version, public_id, shop_id, terminal_id, terminal_name, shop_name, mode, order_id, amount, amount_refunded, currency, method,
      status, metadata, created_at, expires_at, captured_at, finalized_at, fee, fee_rate_bps, customer_card_brand, customer_card_mask, bank_ref)
    select $1::uuid, gen_random_uuid(), 3, 'P-' || n, $2::uuid, $2::uuid, 'Main', 'Tea & Cakes', $3::text, 'order-' || n, 10000, 0, 'RUB', 'cards', chosen.status,
      json_build_object('mode', $3::text, 'cart', n::text), at, at + interval '1 hour', at, at, 280, 280, 'visa', '411111******1111', 'bank-' || n
    from generate_series($5::int, $6::int - 1) as n,
      lateral (select timestamptz '${firstDay} 00:00:00Z' + n * (${spread_s}::float8 / $4::int) * interval '1 second' as at) as moment,
      lateral (select case when n % ($4::int / ${rareRows}) = 1 then 'cancelled' when n % 20 = 3 then 'failed' else 'succeeded' end as status) as chosen
    returning id, public_id, created_at, status)
  insert into posting (merchant_id, id, shop_id, mode, currency, type, from_account, to_account, amount, description, source_kind, source_id, payment_id, created_at)
  select $1::uuid, gen_random_uuid(), $2::uuid, $3::text, 'RUB', booked.type, booked.from_account, booked.to_account, booked.amount, public_id, 'payment', id, id, created_at
  from made, lateral (values
    ('payment', 'acquirer_clearing', 'merchant', 10000),
    (case when substr(public_id, 3)::int % ($4::int / ${rareRows}) = 2 then 'adjustment' else 'fee' end, 'merchant', 'platform_fees', 280)
  ) as booked(type, from_account, to_account, amount)
  where status = 'succeeded'`;

// As many as `n` counts, spread over the same days; about 400 of them failed, however many there
// are.
const insertRefunds = `
  insert into refund (merchant_id, id, payment_id, shop_id, mode, amount, status, fail_reason, created_at, completed_at)
  select $1::uuid, gen_random_uuid(), gen_random_uuid(), $2::uuid, $3::text, 5000, chosen.status, case chosen.status when 'failed' then 'bank_error' end, at, at
  from generate_series(0, $4::int - 1) as n,
    lateral (select timestamptz '${firstDay} 00:00:00Z' + n * (${spread_s}::float8 / $4::int) * interval '1 second' as at) as moment,
    lateral (select case when n % greatest(1, $4::int / ${rareOthers}) = 1 then 'failed' else 'succeeded' end as status) as chosen`;
const insertPayouts = `
  insert into payout (merchant_id, id, shop_id, terminal_id, mode, amount, currency, method, status, fail_reason, recipient_name, fee, created_at, completed_at)
  select $1::uuid, gen_random_uuid(), $2::uuid, $2::uuid, $3::text, 5000, 'RUB', (array['payouts_sbp', 'payouts_card', 'payouts_account'])[1 + n % 3],
    chosen.status, case chosen.status when 'failed' then 'bank_error' end, 'Ivan P.', 0, at, at
  from generate_series(0, $4::int - 1) as n,
    lateral (select timestamptz '${firstDay} 00:00:00Z' + n * (${spread_s}::float8 / $4::int) * interval '1 second' as at) as moment,
    lateral (select case when n % greatest(1, $4::int / ${rareOthers}) = 1 then 'failed' else 'succeeded' end as status) as chosen`;

/** Fills an empty database with so many refunds of a shop, and as many payouts. */
export const fillRefundsAndPayouts = async (
  pool: pg.Pool,
  { merchantId, shopId }: BenchShop,
  mode: 'live' | 'test',
  count: number,
): Promise<void> => {
  for (const [table, text] of [
    ['refund', insertRefunds],
    ['payout', insertPayouts],
  ] as const) {
    await pool.query(`alter table ${table} set unlogged`);
    await pool.query(text, [merchantId, shopId, mode, count]);
    await pool.query(`vacuum (analyze) ${table}`);
  }
};

/**
 * Runs `work` without the indexes of the tables that are no keys, and makes them anew behind it:
 * several times as fast as with them.
 */
const withoutIndexes = async (
  pool: pg.Pool,
  progress: (text: string) => void,
  work: () => Promise<void>,
): Promise<void> => {
  const { rows } = await pool.query<{ name: string; definition: string }>(
    `select i.relname as name, pg_get_indexdef(x.indexrelid) as definition from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
      where t.relname in ('payment', 'posting') and not x.indisunique order by 1`,
  );
  for (const { name } of rows) await pool.query(`drop index ${name}`);
  await work();
  for (const { name, definition } of rows) {
    progress(`making the index ${name} again`);
    await pool.query(definition);
  }
};

/**
 * Fills an empty database with `count` payments of the shop and about twice as many movements,
 * oldest first, and reports its progress.
 */
export const fillPayments = async (
  pool: pg.Pool,
  shop: BenchShop,
  mode: 'live' | 'test',
  count: number,
  progress: (text: string) => void,
): Promise<void> => {
  // Nothing here must outlive a crash.
  await pool.query('alter table payment set unlogged');
  await pool.query('alter table posting set unlogged');
  await withoutIndexes(pool, progress, async () => {
    const starts = Array.from(
      { length: Math.ceil(count / chunk_rows) },
      (_, chunk) => chunk * chunk_rows,
    ).values();
    let made = 0;
    const fill = async (): Promise<void> => {
      for (const from of starts) {
        const to = Math.min(count, from + chunk_rows);
        await pool.query(insertChunk, [shop.merchantId, shop.shopId, mode, count, from, to]);
        made += to - from;
        progress(`${made.toLocaleString('en')} of ${count.toLocaleString('en')} payments`);
      }
    };
    await Promise.all(Array.from({ length: fillers }, fill));
  });
  progress('vacuuming');
  await pool.query('vacuum (analyze) payment');
  await pool.query('vacuum (analyze) posting');
};
