/**
 * Payments and postings of one shop, many at once, by one statement: for tests of registries that
 * pages alone would take too long to fill.
 */
import type pg from 'pg';
import type { Mode } from '../../subgraphs/rules/mode.ts';

export interface PlantedShop {
  readonly merchantId: string;
  readonly shopId: string;
}

/**
 * `count` payments in `mode`, the n-th (from 0) with the status, the moment and the customer that
 * SQL over `n` gives.
 */
export const plantPayments = async (
  pool: pg.Pool,
  { merchantId, shopId }: PlantedShop,
  mode: Mode,
  count: number,
  of: { readonly status: string; readonly at: string; readonly customer?: string },
): Promise<void> => {
  await pool.query(
    `insert into payment (merchant_id, id, version, public_id, shop_id, terminal_id, terminal_name, shop_name, mode, order_id, amount, amount_refunded, currency,
        method, status, metadata, created_at, expires_at, processing_until, capture_before, customer_id)
      select $1, gen_random_uuid(), 1, 'P-' || nextval('payment_public_id'), $2, $2, 'Terminal', 'Shop', $3, 'order-' || n, 100, 0, 'RUB', 'sbp', ${of.status},
        json_build_object('mode', $3::text), ${of.at}, ${of.at} + interval '1 hour', ${of.at} + interval '1 hour', ${of.at} + interval '7 days', ${of.customer ?? 'null'}
      from generate_series(0, $4::int - 1) as n`,
    [merchantId, shopId, mode, count],
  );
};

/**
 * `count` postings: the n-th (from 0) of the type, between the accounts and at the moment that SQL
 * over `n` gives.
 */
export const plantPostings = async (
  pool: pg.Pool,
  { merchantId, shopId }: PlantedShop,
  mode: Mode,
  count: number,
  of: { readonly type: string; readonly from: string; readonly to: string; readonly at: string },
): Promise<void> => {
  await pool.query(
    `insert into posting (merchant_id, id, shop_id, mode, currency, type, from_account, to_account, amount, description, source_kind, source_id, payment_id, created_at)
      select $1, gen_random_uuid(), $2, $3, 'RUB', ${of.type}, ${of.from}, ${of.to}, n + 1, 'P-' || n, 'payment', gen_random_uuid(), gen_random_uuid(), ${of.at}
      from generate_series(0, $4::int - 1) as n`,
    [merchantId, shopId, mode, count],
  );
};
