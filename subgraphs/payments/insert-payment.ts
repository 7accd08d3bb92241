/**
 * The one writer of a new payment: of a merchant's own, and of one of a saved method. Payments of
 * one merchant that are made at the same moment share a statement.
 */
import type pg from 'pg';
import { ReceiptTermsEntity, type NewTerms } from '../acquirers/entities.ts';
import { newRowId } from '../platform/database/new-id.ts';
import { batched } from '../platform/database/batch-calls.ts';
import type { IdempotencyClaim } from '../platform/database/idempotency.ts';
import type { Database } from '../platform/database/orm.ts';
import { numberForShard, runRows, sqlFile } from '../platform/database/sql-file.ts';
import { propertyNames, rowJson } from '../platform/database/statement.ts';
import { rememberTrace } from '../platform/database/subject-trace.ts';
import { PaymentEntity, type Payment } from './entities.ts';
import type { RatedPayment } from './store-payment.ts';

const create = sqlFile(import.meta.dirname, 'create-payment.sql');

const termsNames = propertyNames(ReceiptTermsEntity);

/** What a merchant's own payment is created with. */
const merchantNames = [
  'merchantId',
  'id',
  'shopId',
  'mode',
  'orderId',
  'amount',
  'capture',
  'currency',
  'method',
  'status',
  'returnUrl',
  'onDecline',
  'webhookUrl',
  'description',
  'customerId',
  'metadata',
  'createdAt',
  'expiresAt',
  'plannedOutcome',
  'plannedFailureCode',
  'amountUsdt',
  'receiptTermsId',
  'madeByKey',
] as const satisfies readonly (keyof Payment)[];

/** What a payment of a saved method is created with. */
export const recurringNames = [
  ...merchantNames,
  'kind',
  'tokenId',
  'subscriptionId',
  'verification',
  'savedReference',
  'connector',
  'bankName',
  'processingUntil',
  'askAt',
] as const satisfies readonly (keyof Payment)[];

/** A merchant's own payment before it is a row. */
export type NewPayment = Pick<Payment, (typeof merchantNames)[number]>;
/** A payment of a saved method before it is a row. */
export type NewRecurringPayment = Pick<Payment, (typeof recurringNames)[number]>;

/** A payment to write, with the claim of its key and the terms of its receipt, if it has them. */
interface Insertion {
  readonly payment: NewPayment | NewRecurringPayment;
  readonly claim: IdempotencyClaim | null;
  readonly terms: NewTerms | null;
}

type Drawn = Pick<Payment, 'id' | 'publicId' | 'terminalId' | 'terminalName' | 'shopName'> & {
  readonly rateBps: number | null;
};

const sentRow = ({ payment, claim, terms }: Insertion): object => ({
  ...rowJson('kind' in payment ? recurringNames : merchantNames, payment),
  event_id: newRowId(),
  ...(claim && {
    key: claim.key,
    fingerprint: claim.fingerprint,
    request: claim.request,
    asks_later: claim.asksLater,
  }),
  ...(terms && { terms: rowJson(termsNames, terms) }),
});

/** What a payment has before anything is chosen. */
const blank: object = {
  ...Object.fromEntries(propertyNames(PaymentEntity).map((name) => [name, null])),
  version: 1,
  amountRefunded: 0n,
  verification: false,
};

/** A moment as it is stored: in milliseconds. */
const storedMoment = (value: unknown): unknown =>
  value instanceof Temporal.Instant
    ? Temporal.Instant.fromEpochMilliseconds(value.epochMilliseconds)
    : value;

const createdPayment = (payment: Insertion['payment'], drawn: Omit<Drawn, 'rateBps'>): Payment => {
  const created: Record<string, unknown> = { ...blank };
  for (const [name, value] of Object.entries(payment)) created[name] = storedMoment(value);
  return Object.assign(created, drawn) as Payment;
};

/**
 * Writes payments of one merchant; null for one that was not written. One payment waits for the
 * holder of its key; of several, one with a key is `left`, since that may be about to be taken.
 */
const insertAll = async (
  pool: pg.Pool,
  insertions: readonly Insertion[],
): Promise<readonly (RatedPayment | 'left' | null)[]> => {
  const merchantId = insertions[0]?.payment.merchantId ?? '';
  const rows = insertions.map(sentRow);
  await numberForShard(pool, rows, 'public_number', 'payment_public_id');
  await numberForShard(pool, rows, 'position', 'event_position_seq');
  const isAlone = insertions.length === 1;
  const created = await runRows<Drawn>(pool, create, merchantId, rows, isAlone);
  const left = new Map(created.map(({ rateBps, ...drawn }) => [drawn.id, { rateBps, drawn }]));
  return insertions.map(({ payment, claim }) => {
    const found = left.get(payment.id);
    // Of two calls with one id, the first has made it.
    left.delete(payment.id);
    if (!found) return claim && !isAlone ? 'left' : null;
    return { payment: createdPayment(payment, found.drawn), rateBps: found.rateBps };
  });
};

const insertGathered = batched<Insertion, RatedPayment | null>({
  name: create.name,
  callerOf: ({ payment }) => payment.merchantId,
  run: insertAll,
});

/**
 * Writes a payment, and reads the rate of one of a saved method; null when the key is taken, a
 * payment with its id exists, or the shop does not exist any more.
 */
export const insertPayment = async (
  { pool }: Pick<Database, 'pool'>,
  insertion: Insertion,
): Promise<RatedPayment | null> => {
  const { merchantId, id: subjectId } = insertion.payment;
  await rememberTrace(pool, { merchantId, subjectId });
  return insertGathered(pool, insertion);
};
