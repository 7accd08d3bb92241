/**
 * Searches within the caller's reach by index. Keys begin with the merchant, so an id is looked up
 * under each merchant. Payments are found by everything that `payment-terms` reads in the text.
 * Fields without an index are searched among the newest payments and those of the day in the text.
 */
import type { enums } from '../../../schema/generated/enums.ts';
import { run, type Runner, type Statement } from '../../platform/database/statement.ts';
import {
  hasTalk,
  readingsOf,
  type Reading,
  type Typed,
  searchWays,
  spellings,
  type SearchWay,
} from './payment-terms.ts';

type FoundKind = (typeof enums.SearchKind)[number];
/** The field that the text matches. */
type FoundBy = (typeof enums.SearchField)[number];

export interface Found {
  readonly kind: FoundKind;
  readonly by: FoundBy;
  readonly merchantId: string;
  readonly id: string;
  /** The payment that it is or belongs to; null when there is none. */
  readonly paymentId: string | null;
  readonly at: Temporal.Instant;
}

/** Things found at most, and of each kind by each field. */
const found_max = 50;
const ofOneKind_max = 20;
/** Payments that are looked at for what has no index, in each mode: the newest, and those of a day. */
const looked_max_payments = 10_000;
/** Payments examined for each term that has an index. */
const ofOneTerm_max = 200;

const merchants = '(select id from merchant where $1::uuid is null or merchant.id = $1) as reached';

interface Place {
  readonly kind: FoundKind;
  readonly by: FoundBy;
  /** SQL: the condition on `t`, a row of the kind's table; `$2` is the text, or its spellings. */
  readonly where: string;
  readonly paymentId?: string;
  readonly table?: string;
  readonly at?: string;
}

const branch = ({ kind, by, where, paymentId = 'null', table = kind, at = 'created_at' }: Place) =>
  `select * from (select '${kind}' as kind, '${by}' as by, found.merchant_id as "merchantId", found.id, found.payment_id as "paymentId", found.at
    from ${merchants} cross join lateral (select t.merchant_id, t.id, ${paymentId}::uuid as payment_id, t.${at} as at from ${table} t
      where t.merchant_id = reached.id and ${where} limit ${ofOneKind_max}) found limit ${ofOneKind_max}) branch`;

const statement = (name: string, branches: readonly string[]): Statement => ({
  name: `search.${name}`,
  text: `${branches.join('\n union all ')} order by at desc limit ${found_max}`,
});

const byId = (kind: FoundKind, paymentId?: string): string =>
  branch({ kind, by: 'id', where: 't.id = $2::uuid', ...(paymentId ? { paymentId } : {}) });

const ofMerchant = `select 'merchant' as kind, 'id' as by, id as "merchantId", id, null::uuid as "paymentId", created_at as at
  from merchant where id = $2::uuid and ($1::uuid is null or id = $1)`;

const seen =
  'merchant_id, id, created_at, customer_card_mask, customer_phone_mask, order_id, customer_id, rrn, public_id, amount';
const inOrder = 'order by payment.created_at desc, payment.id desc limit';
const inSpan = 'payment.created_at >= span.since and payment.created_at < span.until';

/** SQL: all days, unless every reading can do without, and the days that the text names. */
const spans = `span as materialized (
    select '-infinity'::timestamptz as since, 'infinity'::timestamptz as until where $3::boolean
    union select since, until from term where since is not null)`;
const modes = `(values ('live'), ('test')) as m(mode)`;

/** SQL: the newest payments of each span of all merchants, as the part `looked` of a statement. */
const newestOfAll = `looked as materialized (select p.* from span cross join ${modes} cross join lateral (
    select ${seen} from payment where payment.mode = m.mode and ${inSpan} ${inOrder} ${looked_max_payments}) p where $1::uuid is null)`;
/** SQL: those of one, which has a range of an index a shop. */
const newestOfOne = `looked as materialized (select p.* from shop cross join span cross join ${modes} cross join lateral (
    select ${seen} from payment where merchant_id = $1::uuid and shop_id = shop.id and payment.mode = m.mode and ${inSpan}
    ${inOrder} (select greatest(${ofOneKind_max}, ${looked_max_payments} / greatest(count(*), 1)) from shop where merchant_id = $1::uuid)) p
    where shop.merchant_id = $1::uuid)`;

/** SQL: payments that an index finds by a field of a term; \`of\` is the condition on both. */
const byTerm = (of: string): string =>
  `select p.*, null as email, null as phone from ${merchants} cross join term cross join lateral (select ${seen} from payment
    where merchant_id = reached.id and ${of} limit ${ofOneTerm_max}) p`;

/** SQL: payments by what their receipts show of the customer. */
const byReceipt = (field: 'email' | 'phone'): string =>
  `select p.*, ${field === 'email' ? 'term.email, null' : 'null, term.phone'} from ${merchants} cross join term cross join lateral (
    select payment_id from receipt where receipt.merchant_id = reached.id and receipt.customer_shown ->> '${field}' = term.${field}
    order by created_at desc limit ${ofOneTerm_max}) r cross join lateral (select ${seen} from payment
    where payment.merchant_id = reached.id and payment.id = r.payment_id) p`;

/** SQL: by bytes, as the index over order ids is in order. */
const beginsWith = (column: string): string =>
  `${column} ~>=~ term.prefix and ${column} ~<~ (term.prefix || U&'\\+10FFFF')`;

/** SQL: what of a payment a term is; null: nothing. */
const fieldOf = `case
    when c.order_id = any(term.texts) then 'order_id'
    when c.customer_id = any(term.texts) then 'customer'
    when c.rrn = any(term.texts) then 'rrn'
    when c.public_id = term.public_id then 'public_id'
    when c.email = term.email then 'receipt_email'
    when c.phone = term.phone then 'receipt_phone'
    when right(c.customer_card_mask, 4) = term.digits then 'card_mask'
    when right(replace(c.customer_phone_mask, '-', ''), 4) = term.digits then 'phone_mask'
    when c.amount = term.amount then 'amount'
    when ${beginsWith('c.order_id')} then 'order_id'
    when c.created_at >= term.since and c.created_at < term.until then 'day'
  end`;

/** $1 merchant, $2 terms of all readings, $3 whether the newest are looked at. */
const payments = (name: string, looked: string): Statement => ({
  name,
  text: `with term as materialized (select * from jsonb_to_recordset($2::jsonb) as t(reading int, place int, places int, texts text[], prefix text,
      public_id text, digits text, amount int8, since timestamptz, until timestamptz, email text, phone text)),
    ${spans}, ${looked},
    candidate as (select *, null as email, null as phone from looked
      union ${byTerm('payment.order_id = any(term.texts)')}
      union ${byTerm(beginsWith('payment.order_id'))}
      union ${byTerm('payment.customer_id = any(term.texts)')}
      union ${byTerm('payment.rrn = any(term.texts)')}
      union select ${seen}, null, null from payment where public_id = any(array(select public_id from term)) and ($1::uuid is null or merchant_id = $1)
      union ${byReceipt('email')}
      union ${byReceipt('phone')}),
    fitting as (select c.merchant_id, c.id, c.created_at, term.reading, term.place, term.places, ${fieldOf} as by
      from candidate c cross join term),
    found as (select merchant_id, id, created_at, reading, min(by) filter (where place = 1) as by from fitting where by is not null
      group by merchant_id, id, created_at, reading, places having count(distinct place) = places)
    select 'payment' as kind, min(by) as by, merchant_id as "merchantId", id, id as "paymentId", created_at as at
      from found group by merchant_id, id, created_at order by created_at desc limit ${ofOneKind_max}`,
});
const paymentsOfAll = payments('search.payments_of_all', newestOfAll);
const paymentsOfOne = payments('search.payments_of_one', newestOfOne);

const statements: Readonly<Record<SearchWay, Statement>> = {
  id: statement('id', [
    byId('payment', 't.id'),
    byId('refund', 't.payment_id'),
    byId('payout'),
    byId('subscription'),
    byId('token'),
    byId('payment_link'),
    byId('webhook_delivery'),
    byId('shop'),
    ofMerchant,
  ]),
  event: statement('event', [
    branch({
      kind: 'event',
      by: 'event_id',
      where: 't.id = $2::uuid',
      paymentId: `case when t.stream_kind like 'payment.%' then t.subject_id end`,
    }),
  ]),
  token: statement('token', [
    branch({
      kind: 'token',
      by: 'customer',
      where: `t.mode in ('live', 'test') and t.customer_ref = any($2::text[])`,
    }),
  ]),
  request: statement('request', [
    `select 'audit_entry' as kind, 'request_id' as by, merchant_id as "merchantId", id, null::uuid as "paymentId", at
      from audit_entry where request_id = $2 and ($1::uuid is null or merchant_id = $1)`,
  ]),
};

/** Whether an index finds what the reading may name. */
const hasIndex = (reading: Reading): boolean =>
  reading.some(({ digits, amount, since }) => digits === null && amount === null && since === null);

const lookForPayments = (
  runner: Runner,
  merchantId: string | null,
  readings: readonly Reading[],
): Promise<Found[]> => {
  const terms = readings.flatMap((reading, number) =>
    reading.map(({ publicId, since, until, ...term }, place) => ({
      ...term,
      public_id: publicId,
      since: since?.toString() ?? null,
      until: until?.toString() ?? null,
      reading: number,
      place: place + 1,
      places: reading.length,
    })),
  );
  if (terms.length === 0) return Promise.resolve([]);
  const isLooking = readings.some((reading) => !hasIndex(reading));
  const newest = merchantId === null ? paymentsOfAll : paymentsOfOne;
  return run<Found>(runner, newest, [merchantId, JSON.stringify(terms), isLooking]);
};

/** Payments that the text names; when there is none, without those words that may be talk. */
const findPayments = async (
  runner: Runner,
  merchantId: string | null,
  text: string,
  typed: Typed,
): Promise<Found[]> => {
  const found = await lookForPayments(runner, merchantId, readingsOf(text, typed, 'with'));
  return found.length > 0 || !hasTalk(text, typed)
    ? found
    : lookForPayments(runner, merchantId, readingsOf(text, typed, 'without'));
};

/**
 * What the text names, newest first, at most 50 things: of one merchant, or of all when
 * `merchantId` is null. Nothing is refused: what names nothing is not found.
 */
export const searchAnything = async (
  runner: Runner,
  merchantId: string | null,
  text: string,
  typed: Typed,
): Promise<Found[]> => {
  // Sequential: a search uses one connection.
  const found = await findPayments(runner, merchantId, text, typed);
  for (const [way, value] of searchWays(text)) {
    const values = [merchantId, way === 'token' ? spellings(value) : value];
    found.push(...(await run<Found>(runner, statements[way], values)));
  }
  const each = new Map(found.map((one) => [`${one.kind} ${one.merchantId} ${one.id}`, one]));
  return [...each.values()]
    .toSorted((one, other) => Temporal.Instant.compare(other.at, one.at))
    .slice(0, found_max);
};
