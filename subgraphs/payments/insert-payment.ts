/**
 * The one writer of a new payment: the row, its `payment.created` event and, where the caller sent
 * an idempotency key, the claim of that key, in one statement. The names of shop and terminal are
 * frozen from the shop's own row (contract: terminal_name, shop_name). A test proves that the
 * statement writes what the entity describes.
 */
import { randomUUID } from 'node:crypto';
import { insertClaim, type IdempotencyClaim } from '../kernel/database/idempotency.ts';
import type { Database } from '../kernel/database/orm.ts';
import { columnNames, columns, run, type Statement } from '../kernel/database/statement.ts';
import { rememberTrace } from '../kernel/database/subject-trace.ts';
import type { Payment } from './entities.ts';
import { paymentNames } from './store-payment.ts';

/** What a merchant's own payment is created with; the hot write sends nothing else. */
const merchantNames = [
  'merchantId',
  'id',
  'shopId',
  'mode',
  'orderId',
  'amount',
  'currency',
  'method',
  'status',
  'returnUrl',
  'webhookUrl',
  'description',
  'customerId',
  'metadata',
  'createdAt',
  'expiresAt',
  'plannedOutcome',
  'plannedFailureCode',
  'amountUsdt',
] as const satisfies readonly (keyof Payment)[];

/** What a payment of a saved method is created with. */
const recurringNames = [
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

/** The types of the columns that are no text: a value may also come as an expression. */
const columnTypes = new Map<string, string>([
  ['merchantId', 'uuid'],
  ['id', 'uuid'],
  ['shopId', 'uuid'],
  ['amount', 'int8'],
  ['metadata', 'json'],
  ['createdAt', 'timestamptz'],
  ['expiresAt', 'timestamptz'],
  ['amountUsdt', 'float8'],
  ['tokenId', 'uuid'],
  ['subscriptionId', 'uuid'],
  ['verification', 'boolean'],
  ['processingUntil', 'timestamptz'],
  ['askAt', 'timestamptz'],
] satisfies [keyof Payment, string][]);

/** The parameters behind the columns: the event's id, then the idempotency key. */
const laterParameters = ['eventId', 'key', 'fingerprint'];

type Placed = (name: string) => string;

const insertClaimed = ($: Placed): string =>
  insertClaim(
    {
      merchantId: $('merchantId'),
      mode: $('mode'),
      key: $('key'),
      fingerprint: $('fingerprint'),
      shopId: $('shopId'),
      resourceId: $('id'),
      at: $('createdAt'),
    },
    `select 1 from shop where merchant_id = ${$('merchantId')} and id = ${$('shopId')}`,
  );

const insertCreatedEvent = ($: Placed): string =>
  `insert into event (merchant_id, id, shop_id, mode, subject_id, stream_kind, payload, created_at)
    select ${$('merchantId')}::uuid, ${$('eventId')}::uuid, ${$('shopId')}::uuid,
      ${$('mode')}::text, ${$('id')}::uuid, 'payment.created',
      json_build_object('id', ${$('id')}::uuid, 'amount', ${$('amount')}::int8,
        'status', ${$('status')}::text),
      ${$('createdAt')}::timestamptz
    from created`;

/**
 * A payment whose caller may send a key is not written when the key is taken; any other is not
 * written when its id is.
 */
const insertText = (names: readonly string[], madeOnceBy: 'key' | 'id'): string => {
  const places = [...names, ...laterParameters];
  const $: Placed = (name) => `$${places.indexOf(name) + 1}`;
  const insert = `insert into payment (version, public_id, terminal_id, terminal_name, shop_name,
      amount_refunded, ${columnNames(names)})
    select 1, 'P-' || nextval('payment_public_id'), shop.terminal_id, shop.terminal_name, shop.name,
      0, ${names.map((name) => `${$(name)}::${columnTypes.get(name) ?? 'text'}`).join(', ')}
    from shop where shop.merchant_id = ${$('merchantId')} and shop.id = ${$('shopId')}`;
  const created =
    madeOnceBy === 'key'
      ? `claim as (${insertClaimed($)}),
        created as (${insert} and (${$('key')}::text is null or exists (select 1 from claim))
          returning ${columns(paymentNames)})`
      : `created as (${insert} on conflict (merchant_id, id) do nothing
          returning ${columns(paymentNames)})`;
  return `with ${created}, published as (${insertCreatedEvent($)}) select * from created`;
};

const merchantInsert: Statement = {
  name: 'payment.create',
  text: insertText(merchantNames, 'key'),
};
const recurringInsert: Statement = {
  name: 'recurring_payment.create',
  text: insertText(recurringNames, 'id'),
};

const insert = async (
  { pool }: Database,
  statement: Statement,
  values: readonly unknown[],
): Promise<Payment | null> => {
  const [payment] = await run<Payment>(pool, statement, values);
  if (payment) await rememberTrace(pool, { merchantId: payment.merchantId, subjectId: payment.id });
  return payment ?? null;
};

const valuesOf = <Name extends keyof Payment>(
  names: readonly Name[],
  payment: Pick<Payment, Name>,
): unknown[] =>
  names.map((name) => (name === 'metadata' ? JSON.stringify(payment[name]) : payment[name]));

/**
 * Writes a merchant's own payment; null when the key is taken or the shop does not exist any more.
 */
export const insertPayment = (
  database: Database,
  payment: NewPayment,
  claim: IdempotencyClaim | null,
): Promise<Payment | null> =>
  insert(database, merchantInsert, [
    ...valuesOf(merchantNames, payment),
    randomUUID(),
    claim?.key ?? null,
    claim?.fingerprint ?? null,
  ]);

/**
 * Writes a payment of a saved method; null when one with its id exists or the shop does not exist
 * any more.
 */
export const insertRecurringPayment = (
  database: Database,
  payment: NewRecurringPayment,
): Promise<Payment | null> =>
  insert(database, recurringInsert, [...valuesOf(recurringNames, payment), randomUUID()]);
