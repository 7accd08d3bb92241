/** Lists over REST among millions of payments: first pages, deep ones, and a rare status. */
import { compare, type Row } from './rounds.ts';
import { roundsOf } from './payments.ts';
import { connections, restRequest, underLoad, type Bench, type Side } from './sides.ts';

/** How many payments have the rare status. */
const rareRows = 500;
const chunk_rows = 100_000;

/** The n-th of $2 payments, over 300 days. One in twenty fails, 500 are cancelled. */
const made = `
  select n, gen_random_uuid() as id, timestamptz '2026-01-01 00:00:00Z' + n * (300 * 86400::float8 / $2::int) * interval '1 second' as at,
    case when n % ($2::int / ${rareRows}) = 1 then 'cancelled' when n % 20 = 3 then 'failed' else 'succeeded' end as status
  from generate_series($3::int, $4::int - 1) as n`;
const booked = `(values ('payment', 'acquirer_clearing', 'merchant', 10000), ('fee', 'merchant', 'platform_fees', 280)) as booked(type, from_account, to_account, amount)`;

const intoService = `
  with made as (${made}), paid as (
    insert into payment (merchant_id, id, version, public_id, shop_id, terminal_id, terminal_name, shop_name, mode, order_id, amount, amount_refunded, currency, method,
      status, metadata, created_at, expires_at, captured_at, finalized_at, fee, fee_rate_bps)
    select $1::uuid, id, 3, 'Q-' || n, $5::uuid, $5::uuid, 'Main', 'Tea & Cakes', 'test', 'order-' || n, 10000, 0, 'RUB', 'sbp',
      status, json_build_object('mode', 'test', 'cart', n::text), at, at + interval '1 hour', at, at, 280, 280 from made)
  insert into posting (merchant_id, id, shop_id, mode, currency, type, from_account, to_account, amount, description, source_kind, source_id, payment_id, created_at)
  select $1::uuid, gen_random_uuid(), $5::uuid, 'test', 'RUB', booked.type, from_account, to_account, amount, 'Q-' || n, 'payment', made.id, made.id, at
  from made, ${booked} where status = 'succeeded'`;

const intoBare = `
  with made as (${made}), paid as (
    insert into payment (id, merchant_id, shop_id, order_id, amount, currency, method, status, metadata, created_at, expires_at, captured_at, finalized_at)
    select id, $1::uuid, $5::uuid, 'order-' || n, 10000, 'RUB', 'sbp', status, json_build_object('mode', 'test', 'cart', n::text), at, at + interval '1 hour', at, at from made)
  insert into posting (id, merchant_id, payment_id, type, from_account, to_account, amount, created_at)
  select gen_random_uuid(), $1::uuid, made.id, booked.type, from_account, to_account, amount, at from made, ${booked} where status = 'succeeded'`;

/**
 * Fills the tables of a side without their indexes that are no keys, which are made anew: several
 * times as fast as with them.
 */
const fill = async (
  { pool, merchantId, shopId }: Side,
  insert: string,
  count: number,
  say: (text: string) => void,
): Promise<void> => {
  const { rows } = await pool.query<{ name: string; definition: string }>(
    `select i.relname as name, pg_get_indexdef(x.indexrelid) as definition from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
      where t.relname in ('payment', 'posting') and not x.indisunique order by 1`,
  );
  for (const { name } of rows) await pool.query(`drop index ${name}`);
  for (let from = 0; from < count; from += chunk_rows) {
    say(`${from.toLocaleString('en')} of ${count.toLocaleString('en')} payments`);
    const to = Math.min(count, from + chunk_rows);
    await pool.query(insert, [merchantId, count, from, to, shopId]);
  }
  for (const { definition } of rows) await pool.query(definition);
  for (const table of ['payment', 'posting']) await pool.query(`vacuum (analyze) ${table}`);
};

const pages = {
  'payments, first page': '/payments?limit=50',
  'payments, deep page': '/payments?limit=50&to=2026-03-01',
  'payments, rare status': '/payments?limit=50&status=cancelled&to=2026-06-01',
  'ledger, first page': '/ledger?limit=50',
  'ledger, deep page': '/ledger?limit=50&to=2026-03-01',
};

/** What answers requests alone: the books of rows that no payment has made need not be checked. */
const roles =
  'gateway rest-facade subgraph payments subgraph payouts subgraph recurring subgraph merchants';

export const listRows =
  (payments: number | null) =>
  async (bench: Bench): Promise<readonly Row[]> => {
    const { service, bare, quick, progress } = bench;
    const count = payments ?? (quick ? 20_000 : 5_000_000);
    const say = (text: string): void => progress(`lists: ${text}`);
    await service.restart(() => fill(service, intoService, count, say), roles);
    await fill(bare, intoBare, count, say);
    const rows: Row[] = [];
    for (const [what, path] of Object.entries(pages)) {
      progress(what);
      const measure = (side: Side) =>
        underLoad(bench, side, ({ key }) => [restRequest(key, 'GET', path)], connections);
      const sides = { service: measure(service), bare: measure(bare) };
      const title = `${what} of ${count.toLocaleString('en')}`;
      rows.push(await compare(title, sides, roundsOf(quick)));
    }
    return rows;
  };
