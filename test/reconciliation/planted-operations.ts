/**
 * Many operations of several merchants at a bank, as one statement writes them: payments that
 * succeeded, evenly over a span, with their postings, and beside each tenth a refund of it and a
 * payout. They have no events.
 */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';

/** How many, of whom, in what time. */
interface Planted {
  readonly keys: readonly KeyPrincipal[];
  readonly payments: number;
  readonly since: Temporal.Instant;
  readonly until: Temporal.Instant;
}

/** Writes them, and has PostgreSQL take its statistics. */
export const plantOperations = async (
  pool: pg.Pool,
  { keys, payments, since, until }: Planted,
): Promise<void> => {
  const owners = [
    keys.map(({ merchantId }) => merchantId),
    keys.map(({ shopId }) => shopId),
    payments,
    since.toString(),
    until.toString(),
    randomUUID(),
  ];
  await pool.query(
    `create unlogged table planted_here as
       select md5($6 || n)::uuid as id, ($1::uuid[])[n % $7 + 1] as merchant_id, ($2::uuid[])[n % $7 + 1] as shop_id,
         $4::timestamptz + n * (($5::timestamptz - $4::timestamptz) / $3) as at, 100 + n % 900 as amount, n
       from generate_series(0, $3::int - 1) as n`.replaceAll(/\$(\d)/g, (_, at) =>
      literal([...owners, keys.length][Number(at) - 1]),
    ),
  );
  await pool.query(`insert into payment (merchant_id, id, version, public_id, shop_id, terminal_id, terminal_name, shop_name, mode, order_id, amount,
      amount_refunded, currency, method, status, bank_ref, metadata, created_at, expires_at, captured_at, finalized_at, fee, connector)
    select merchant_id, id, 3, id, shop_id, shop_id, 'T', 'S', 'test', 'order-' || n, amount, case when n % 10 = 0 then 10 else 0 end, 'RUB', 'sbp', 'succeeded',
      'bank_' || id, '{}', at, at + interval '1 hour', at, at, 0, 'simulator' from planted_here`);
  await pool.query(`insert into posting (merchant_id, id, shop_id, mode, currency, type, from_account, to_account, amount, description, source_kind,
      source_id, payment_id, created_at)
    select merchant_id, md5(id::text)::uuid, shop_id, 'test', 'RUB', 'payment', 'acquirer_clearing', 'merchant', amount, '', 'payment', id, id, at
    from planted_here`);
  await pool.query(`insert into refund (merchant_id, id, payment_id, shop_id, mode, amount, status, created_at, completed_at, bank_ref)
    select merchant_id, md5('r' || id)::uuid, id, shop_id, 'test', 10, 'succeeded', at, at, 'back_' || id from planted_here where n % 10 = 0`);
  await pool.query(
    `insert into posting (merchant_id, id, shop_id, mode, currency, type, from_account, to_account, amount, description, source_kind,
      source_id, payment_id, created_at)
    select merchant_id, md5('p' || md5('r' || id)::uuid)::uuid, shop_id, 'test', 'RUB', 'refund', 'merchant_reserved', 'acquirer_clearing', 10, '', 'refund',
      md5('r' || id)::uuid, id, at from planted_here where n % 10 = 0`,
  );
  await pool.query(`insert into payout (merchant_id, id, shop_id, terminal_id, mode, amount, currency, method, status, created_at, completed_at, fee, bank_ref, connector)
    select merchant_id, md5('o' || id)::uuid, shop_id, shop_id, 'test', 20, 'RUB', 'payouts_sbp', 'succeeded', at, at, 0, 'out_' || id, 'simulator'
    from planted_here where n % 10 = 0`);
  await pool.query(`insert into posting (merchant_id, id, shop_id, mode, currency, type, from_account, to_account, amount, description, source_kind,
      source_id, payout_id, created_at)
    select merchant_id, md5('q' || id)::uuid, shop_id, 'test', 'RUB', 'payout', 'merchant_reserved', 'acquirer_clearing', 20, '', 'payout', md5('o' || id)::uuid,
      md5('o' || id)::uuid, at from planted_here where n % 10 = 0`);
  await pool.query('drop table planted_here');
  await pool.query('analyze payment, refund, payout, posting, shop, merchant');
};

const literal = (value: unknown): string =>
  Array.isArray(value)
    ? `'{${value.join(',')}}'`
    : typeof value === 'number'
      ? String(value)
      : `'${String(value)}'`;

/** Writes a run that is ready, of the bank's operations in a span, each with its line. */
export const plantReport = async (
  pool: pg.Pool,
  since: Temporal.Instant,
  until: Temporal.Instant,
): Promise<string> => {
  const id = randomUUID();
  const span = [since.toString(), until.toString()];
  const { rowCount } = await pool.query(
    `insert into reconciliation_line (run_id, part, line, reference, operation_id, kind, amount, currency, status, at)
     select '${id}', 1, row_number() over (order by kind, id), bank_ref, case when n % 4 > 0 then id end, kind, amount, 'RUB', 'succeeded', at from (
       select 'payment' as kind, id, bank_ref, amount, captured_at as at, row_number() over (order by id) as n from payment where captured_at >= $1 and captured_at < $2
       union all select 'payout', id, bank_ref, amount, completed_at, row_number() over (order by id) from payout where completed_at >= $1 and completed_at < $2
       union all select 'refund', id, bank_ref, amount, completed_at, row_number() over (order by id) from refund where completed_at >= $1 and completed_at < $2
     ) as done`,
    span,
  );
  await pool.query(
    `insert into reconciliation_run (id, connector, mode, reference, since, until, status, lines, matched, differences, created_at, created_by)
     values ($1, 'simulator', 'test', $1::uuid::text, $2, $3, 'ready', $4, 0, 0, now(), 'test')`,
    [id, ...span, rowCount],
  );
  return id;
};
