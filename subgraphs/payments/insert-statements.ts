/**
 * The statements that write one new payment, or several of the same moment: the row, its
 * `payment.created` event, and the claim of its idempotency key. The names of shop and terminal are
 * copied from the shop's row and stay. A test proves that a statement writes what the entity
 * describes.
 */
import { boundWait, insertClaim, tryKey, waitForKey } from '../kernel/database/idempotency.ts';
import { columnNames, columns, type Statement } from '../kernel/database/statement.ts';
import { effectiveRate } from '../kernel/ledger/rate.ts';
import type { Payment } from './entities.ts';
import { insertTermsFrom } from '../kernel/receipts/given-receipt.ts';
import { paymentNames } from './store-payment.ts';

/** What a merchant's own payment is created with; the hot write sends nothing else. */
export const merchantNames = [
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
  ['receiptTermsId', 'uuid'],
  ['madeByKey', 'uuid'],
  ['eventId', 'uuid'],
  ['asksLater', 'boolean'],
  ['terms', 'json'],
] satisfies [keyof Payment | 'eventId' | 'asksLater' | 'terms', string][]);

const typeOf = (name: string): string => columnTypes.get(name) ?? 'text';

/** The parameters behind the columns: the event's id, then the idempotency key, if one is sent. */
const eventParameter = ['eventId'];
const laterParameters = [...eventParameter, 'key', 'fingerprint', 'request', 'asksLater'];

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
      request: $('request'),
      asksLater: $('asksLater'),
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

/** The parameter behind all others: terms of a receipt, as `termsRow` makes them. */
const termsParameter = ['terms'];
const merchantPlaces = [...merchantNames, ...laterParameters];
const recurringPlaces = [...recurringNames, ...eventParameter];

/** A statement, and the same with terms of receipts in a parameter more. */
interface Insertions {
  readonly plain: Statement;
  readonly withTerms: Statement;
}

const insertionsOf = (
  name: string,
  places: readonly string[],
  textOf: (places: readonly string[], terms: (from: string) => string) => string,
): Insertions => ({
  plain: { name, text: textOf(places, () => '') },
  withTerms: {
    name: `${name}_with_terms`,
    text: textOf(
      [...places, ...termsParameter],
      (rows) => `terms as (${insertTermsFrom(rows)}),
    `,
    ),
  },
});

/** SQL: the terms that were sent with payments that were made. */
const sentTerms = `select sent.terms as row from created join sent on sent.id = created.id where sent.terms is not null`;
const sentTermsAlone = ($: Placed): string => `select ${$('terms')}::json as row from created`;

/** The parameters of one payment, in the order of `places`. */
const sentAlone =
  (places: readonly string[]): Placed =>
  (name) =>
    `$${places.indexOf(name) + 1}`;

/** The columns of `sentMany`; the merchant is a parameter, of all of them. */
const sentColumn: Placed = (name) => (name === 'merchantId' ? '$1' : `sent.${columnNames([name])}`);
const manySource: Source = { $: sentColumn, from: 'sent' };

/**
 * SQL: payments of one merchant, `$1`, as rows, of which each other parameter is a column of all
 * their values. As subqueries the arrays say nothing to the planner, so that the plan is made once
 * for batches of every size.
 */
const sentMany = ([, ...places]: readonly string[]): string => {
  const arrays = places.map((name, place) => `(select $${place + 2}::${typeOf(name)}[])`);
  return `sent as materialized (select * from unnest(${arrays.join(', ')})
        with ordinality as sent (${columnNames(places)}, place))`;
};

/** The order of the calls is that of their events. */
const publishMany = `published as (${insertCreatedEvent(sentColumn, 'created join sent on sent.id = created.id order by sent.place')})`;

/** A payment whose caller may send a key is not written when the key is taken. */
export const merchantInsert = insertionsOf('payment.create', merchantPlaces, (places, terms) => {
  const $ = sentAlone(places);
  return `with claim as (${insertClaimed({ $ }, waitForKey)}),
      created as (${insertRow(merchantNames, { $ })}
        and (${$('key')}::text is null or exists (select 1 from claim))
        returning ${columns(paymentNames)}),
      ${terms(sentTermsAlone($))}published as (${insertCreatedEvent($, 'created')})
      select * from created`;
});

/**
 * The same for many. No row can make it fail or wait: one whose key is taken, or about to be, is
 * not written.
 */
export const merchantInsertMany = insertionsOf(
  'payment.create_many',
  merchantPlaces,
  (places, terms) => `with ${sentMany(places)},
    claim as (${insertClaimed(manySource, tryKey)}),
    created as (${insertRow(merchantNames, manySource)}
      and (sent.key is null or sent.id in (select resource_id from claim))
      order by sent.place returning ${columns(paymentNames)}),
    ${terms(sentTerms)}${publishMany}
    select * from created`,
);

/** A payment of a saved method is written once for its id; with it comes the rate of its method. */
const createdOnce = `on conflict (merchant_id, id) do nothing returning ${columns(paymentNames)}`;
const createdWithRate = `select *, coalesce(${effectiveRate('created."merchantId"', 'created."shopId"', 'created.method', 'created."createdAt"')}, 0) as "rateBps" from created`;

export const recurringInsert: Statement = {
  name: 'recurring_payment.create',
  text: (($) => `with created as (${insertRow(recurringNames, { $ })} ${createdOnce}),
    published as (${insertCreatedEvent($, 'created')})
    ${createdWithRate}`)(sentAlone(recurringPlaces)),
};
export const recurringInsertMany: Statement = {
  name: 'recurring_payment.create_many',
  text: `with ${sentMany(recurringPlaces)},
    created as (${insertRow(recurringNames, manySource)} and ${boundWait} order by sent.place ${createdOnce}),
    ${publishMany}
    ${createdWithRate}`,
};
