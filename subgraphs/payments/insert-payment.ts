/**
 * The one writer of a new payment: the row, its `payment.created` event and, where the caller sent
 * an idempotency key, the claim of that key, in one statement, which the payments of one moment
 * share. The names of shop and terminal are frozen from the shop's own row (contract:
 * terminal_name, shop_name). A test proves that the statement writes what the entity describes.
 */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { gathered } from '../kernel/database/gather-calls.ts';
import {
  insertClaim,
  tryKey,
  waitForKey,
  type IdempotencyClaim,
} from '../kernel/database/idempotency.ts';
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
  ['eventId', 'uuid'],
] satisfies [keyof Payment | 'eventId', string][]);

const typeOf = (name: string): string => columnTypes.get(name) ?? 'text';

/** The parameters behind the columns: the event's id, then the idempotency key. */
const laterParameters = ['eventId', 'key', 'fingerprint'];

type Placed = (name: string) => string;

/** Where the values of an insert come from: parameters, or the columns of `from`. */
interface Source {
  readonly $: Placed;
  readonly from?: string;
}

const insertClaimed = ({ $, from }: Source, held: typeof waitForKey): string =>
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
    {
      condition: `select 1 from shop where merchant_id = ${$('merchantId')} and id = ${$('shopId')}`,
      held,
      ...(from === undefined ? {} : { from: `from ${from}` }),
    },
  );

const insertRow = (names: readonly string[], { $, from }: Source): string =>
  `insert into payment (version, public_id, terminal_id, terminal_name, shop_name,
      amount_refunded, ${columnNames(names)})
    select 1, 'P-' || nextval('payment_public_id'), shop.terminal_id, shop.terminal_name, shop.name,
      0, ${names.map((name) => `${$(name)}::${typeOf(name)}`).join(', ')}
    from ${from === undefined ? '' : `${from}, `}shop
    where shop.merchant_id = ${$('merchantId')} and shop.id = ${$('shopId')}`;

const insertCreatedEvent = ($: Placed, from: string): string =>
  `insert into event (merchant_id, id, shop_id, mode, subject_id, stream_kind, payload, created_at)
    select ${$('merchantId')}::uuid, ${$('eventId')}::uuid, ${$('shopId')}::uuid,
      ${$('mode')}::text, ${$('id')}::uuid, 'payment.created',
      json_build_object('id', ${$('id')}::uuid, 'amount', ${$('amount')}::int8,
        'status', ${$('status')}::text),
      ${$('createdAt')}::timestamptz
    from ${from}`;

/**
 * A payment whose caller may send a key is not written when the key is taken; any other is not
 * written when its id is.
 */
const insertText = (names: readonly string[], madeOnceBy: 'key' | 'id'): string => {
  const places = [...names, ...laterParameters];
  const $: Placed = (name) => `$${places.indexOf(name) + 1}`;
  const insert = insertRow(names, { $ });
  const created =
    madeOnceBy === 'key'
      ? `claim as (${insertClaimed({ $ }, waitForKey)}),
        created as (${insert} and (${$('key')}::text is null or exists (select 1 from claim))
          returning ${columns(paymentNames)})`
      : `created as (${insert} on conflict (merchant_id, id) do nothing
          returning ${columns(paymentNames)})`;
  return `with ${created}, published as (${insertCreatedEvent($, 'created')}) select * from created`;
};

/**
 * The same for many: each parameter is a column of all their values. No row can make it fail or
 * wait: one whose key is taken, or about to be, is not written. As subqueries the arrays say
 * nothing to the planner, so that the plan is made once for batches of every size.
 */
const insertManyText = (names: readonly string[]): string => {
  const places = [...names, ...laterParameters];
  const $: Placed = (name) => `sent.${columnNames([name])}`;
  const source = { $, from: 'sent' };
  const arrays = places.map((name, place) => `(select $${place + 1}::${typeOf(name)}[])`);
  return `with sent as materialized (select * from unnest(${arrays.join(', ')})
        with ordinality as sent (${columnNames(places)}, place)),
    claim as (${insertClaimed(source, tryKey)}),
    created as (${insertRow(names, source)}
      and (sent.key is null or sent.id in (select resource_id from claim))
      order by sent.place returning ${columns(paymentNames)}),
    published as (${insertCreatedEvent($, 'created join sent on sent.id = created.id order by sent.place')})
    select * from created`;
};

const merchantInsert: Statement = {
  name: 'payment.create',
  text: insertText(merchantNames, 'key'),
};
const merchantInsertMany: Statement = {
  name: 'payment.create_many',
  text: insertManyText(merchantNames),
};
const recurringInsert: Statement = {
  name: 'recurring_payment.create',
  text: insertText(recurringNames, 'id'),
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
}

const parametersOf = ({ payment, claim }: Insertion): unknown[] => [
  ...valuesOf(merchantNames, payment),
  randomUUID(),
  claim?.key ?? null,
  claim?.fingerprint ?? null,
];

const insertAlone = async (pool: pg.Pool, insertion: Insertion): Promise<Payment | null> =>
  (await run<Payment>(pool, merchantInsert, parametersOf(insertion)))[0] ?? null;

const insertTogether = async (
  pool: pg.Pool,
  insertions: readonly Insertion[],
): Promise<readonly (Payment | 'left' | null)[]> => {
  const rows = insertions.map(parametersOf);
  const created = await run<Payment>(
    pool,
    merchantInsertMany,
    [...merchantNames, ...laterParameters].map((_, column) => rows.map((row) => row[column])),
  );
  const found = new Map(created.map((payment) => [payment.id, payment]));
  return insertions.map(({ payment, claim }) => found.get(payment.id) ?? (claim && 'left'));
};

/** Gives `left` for what a batch did not write since its key is taken, or about to be. */
const insertGathered = gathered<Insertion, Payment | 'left' | null>({
  name: merchantInsert.name,
  callerOf: ({ payment }) => payment.merchantId,
  callersApart: true,
  alone: insertAlone,
  together: insertTogether,
});

/**
 * Writes a merchant's own payment; null when the key is taken or the shop does not exist any more.
 */
export const insertPayment = async (
  { pool }: Database,
  payment: NewPayment,
  claim: IdempotencyClaim | null,
): Promise<Payment | null> => {
  const insertion = { payment, claim };
  const answered = await insertGathered(pool, insertion);
  // Outside of the batches, which go on, it may wait for whoever has the key.
  const created = answered === 'left' ? await insertAlone(pool, insertion) : answered;
  if (created) await rememberTrace(pool, { merchantId: created.merchantId, subjectId: created.id });
  return created;
};

/**
 * Writes a payment of a saved method; null when one with its id exists or the shop does not exist
 * any more.
 */
export const insertRecurringPayment = async (
  { pool }: Database,
  payment: NewRecurringPayment,
): Promise<Payment | null> => {
  const values = [...valuesOf(recurringNames, payment), randomUUID()];
  const [created] = await run<Payment>(pool, recurringInsert, values);
  if (created) await rememberTrace(pool, { merchantId: created.merchantId, subjectId: created.id });
  return created ?? null;
};
