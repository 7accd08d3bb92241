/**
 * The one writer of a new payment (insert-statements.ts): payments of one merchant that are made at
 * the same moment share a statement.
 */
import type pg from 'pg';
import { newRowId } from '../kernel/database/new-id.ts';
import { batched } from '../kernel/database/batch-calls.ts';
import type { IdempotencyClaim } from '../kernel/database/idempotency.ts';
import type { Database } from '../kernel/database/orm.ts';
import { run, columns, rowJson, type Statement } from '../kernel/database/statement.ts';
import { isSharded } from '../kernel/database/sharding.ts';
import { rememberTrace } from '../kernel/database/subject-trace.ts';
import type { Payment } from './entities.ts';
import {
  merchantInsert,
  merchantInsertMany,
  merchantNames,
  recurringInsert,
  recurringInsertMany,
  recurringNames,
  type NewPayment,
  type NewRecurringPayment,
} from './insert-statements.ts';
import { type RatedPayment, paymentNames } from './store-payment.ts';

/*
 * Writes new payments where the tables are sharded: by a function that runs on the machine of their
 * merchant. It writes what the statements of `insert-statements` do.
 */

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
interface PaymentWithClaim {
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

const valuesOf = <Name extends keyof Payment>(
  names: readonly Name[],
  payment: Pick<Payment, Name>,
): unknown[] =>
  names.map((name) => (name === 'metadata' ? JSON.stringify(payment[name]) : payment[name]));

/** A merchant's own payment, with the claim of its key. */
interface Insertion {
  readonly payment: NewPayment;
  readonly claim: IdempotencyClaim | null;
  /** The terms of its receipt; null: it has none of its own. */
  readonly terms: object | null;
}

const parametersOf = ({ payment, claim }: Insertion): unknown[] => [
  ...valuesOf(merchantNames, payment),
  newRowId(),
  claim?.key ?? null,
  claim?.fingerprint ?? null,
  claim?.request ?? null,
  claim?.asksLater ?? false,
];
const termsOf = ({ terms }: Insertion): unknown => terms && JSON.stringify(terms);

/** Whether the merchant's machine writes them; receipts' terms go with the statement alone. */
const isForShard = async (pool: pg.Pool, insertions: readonly Insertion[]): Promise<boolean> =>
  !insertions.some(({ terms }) => terms) && (await isSharded(pool));

const insertAlone = async (pool: pg.Pool, insertion: Insertion): Promise<Payment | null> => {
  if (await isForShard(pool, [insertion]))
    return (await insertOnShard(pool, [insertion]))[0] ?? null;
  const values = parametersOf(insertion);
  const rows = insertion.terms
    ? run<Payment>(pool, merchantInsert.withTerms, [...values, termsOf(insertion)])
    : run<Payment>(pool, merchantInsert.plain, values);
  return (await rows)[0] ?? null;
};

/**
 * The parameters of several rows of one merchant: who it is, and a list of all their values for
 * each other column.
 */
const columnsOf = (rows: readonly (readonly unknown[])[]): readonly unknown[] => {
  const [merchantId, ...others] = rows[0] ?? [];
  return [merchantId, ...others.map((_, column) => rows.map((row) => row[column + 1]))];
};

const createTogether = async (
  pool: pg.Pool,
  insertions: readonly Insertion[],
): Promise<Payment[]> => {
  if (await isForShard(pool, insertions)) return insertOnShard(pool, insertions);
  const values = columnsOf(insertions.map(parametersOf));
  return insertions.some(({ terms }) => terms)
    ? run<Payment>(pool, merchantInsertMany.withTerms, [...values, insertions.map(termsOf)])
    : run<Payment>(pool, merchantInsertMany.plain, values);
};

const insertTogether = async (
  pool: pg.Pool,
  insertions: readonly Insertion[],
): Promise<readonly (Payment | 'left' | null)[]> => {
  const created = await createTogether(pool, insertions);
  const found = new Map(created.map((payment) => [payment.id, payment]));
  return insertions.map(({ payment, claim }) => found.get(payment.id) ?? (claim && 'left'));
};

/** Gives `left` for what a batch did not write since its key is taken, or about to be. */
const insertGathered = batched<Insertion, Payment | 'left' | null>({
  name: merchantInsert.plain.name,
  callerOf: ({ payment }) => payment.merchantId,
  perCaller: true,
  alone: insertAlone,
  together: insertTogether,
});

/**
 * Writes a merchant's own payment, with the terms of its receipt where it has some; null when the
 * key is taken or the shop does not exist any more.
 */
export const insertPayment = async (
  { pool }: Database,
  payment: NewPayment,
  claim: IdempotencyClaim | null,
  terms: object | null = null,
): Promise<Payment | null> => {
  const insertion = { payment, claim, terms };
  const answered = await insertGathered(pool, insertion);
  // Outside the batches, it may wait for the holder of the key.
  const created = answered === 'left' ? await insertAlone(pool, insertion) : answered;
  if (created) await rememberTrace(pool, { merchantId: created.merchantId, subjectId: created.id });
  return created;
};

type CreatedWithRate = Payment & { readonly rateBps: number };

const rated = ({ rateBps, ...payment }: CreatedWithRate): RatedPayment => ({ payment, rateBps });

const recurringParametersOf = (payment: NewRecurringPayment): unknown[] => [
  ...valuesOf(recurringNames, payment),
  newRowId(),
];

const insertRecurringGathered = batched<NewRecurringPayment, RatedPayment | null>({
  name: recurringInsert.name,
  callerOf: ({ merchantId }) => merchantId,
  perCaller: true,
  alone: async (pool, payment) => {
    const values = recurringParametersOf(payment);
    const [created] = await run<CreatedWithRate>(pool, recurringInsert, values);
    return created ? rated(created) : null;
  },
  together: async (pool, payments) => {
    const rows = payments.map(recurringParametersOf);
    const created = await run<CreatedWithRate>(pool, recurringInsertMany, columnsOf(rows));
    const left = new Map(created.map((payment) => [payment.id, payment]));
    return payments.map(({ id }) => {
      const found = left.get(id);
      // Of two calls with one id, the first has made it.
      left.delete(id);
      return found ? rated(found) : null;
    });
  },
});

/**
 * Writes a payment of a saved method, and reads its rate; null when one with its id exists or the
 * shop does not exist any more.
 */
export const insertRecurringPayment = async (
  { pool }: Database,
  payment: NewRecurringPayment,
): Promise<RatedPayment | null> => {
  const created = await insertRecurringGathered(pool, payment);
  const { merchantId, id: subjectId } = payment;
  if (created) await rememberTrace(pool, { merchantId, subjectId });
  return created;
};
