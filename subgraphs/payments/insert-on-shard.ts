/**
 * Writes new payments where the tables are spread: by a function that runs on the machine of their
 * merchant. It writes what the statements of `insert-statements` do.
 */
import type pg from 'pg';
import { newRowId } from '../kernel/database/new-id.ts';
import type { IdempotencyClaim } from '../kernel/database/idempotency.ts';
import { columns, rowJson, run, type Statement } from '../kernel/database/statement.ts';
import type { Payment } from './entities.ts';
import { merchantNames, type NewPayment } from './insert-statements.ts';
import { paymentNames } from './store-payment.ts';

// One sequence each for all machines: a payment's events are numbered in the order of their places.
const drawPlaces: Statement = {
  name: 'payment.draw_places',
  text: `select 'P-' || nextval('payment_public_id') as "publicId", nextval('event_position_seq') as position
    from generate_series(1, $1::int)`,
};
const createOnShard: Statement = {
  name: 'payment.create_on_shard',
  text: 'select payment_create($1::uuid, $2::boolean, $3::json) as rows',
};
/** Rows that come as JSON, with the types of the table's columns. */
const readRows: Statement = {
  name: 'payment.read_created',
  text: `select ${columns(paymentNames)} from json_populate_recordset(null::payment, $1::json)`,
};

/** What no caller chooses. */
const beginning = { version: 1, amountRefunded: 0n, verification: false } as const;
const sentNames = [...merchantNames, 'publicId', ...Object.keys(beginning)];

/** A new payment, with the claim of its key. */
export interface PaymentWithClaim {
  readonly payment: NewPayment;
  readonly claim: IdempotencyClaim | null;
}

/**
 * Writes payments of one merchant and returns those written. A single payment waits for the holder
 * of its key; in a batch, a payment whose key is taken or locked is left out.
 */
export const insertOnShard = async (
  pool: pg.Pool,
  insertions: readonly PaymentWithClaim[],
): Promise<Payment[]> => {
  type Place = { readonly publicId: string; readonly position: bigint };
  const places = await run<Place>(pool, drawPlaces, [insertions.length]);
  const sent = insertions.map(({ payment, claim }, index) => ({
    payment: rowJson(sentNames, { ...payment, ...beginning, publicId: places[index]?.publicId }),
    event_id: newRowId(),
    position: places[index]?.position.toString(),
    key: claim?.key ?? null,
    fingerprint: claim?.fingerprint ?? null,
    request: claim?.request ?? null,
    asks_later: claim?.asksLater ?? false,
  }));
  const [written] = await run<{ rows: string }>(pool, createOnShard, [
    insertions[0]?.payment.merchantId,
    insertions.length > 1,
    JSON.stringify(sent),
  ]);
  return run<Payment>(pool, readRows, [written?.rows]);
};
