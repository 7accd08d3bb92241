/**
 * Finds whatever a text names, within the caller's reach, by indexes: keys begin with the merchant,
 * so that an id is looked up under each. The last digits of a card or of a phone, which have no
 * index, are looked for among the newest payments alone.
 */
import { run, type Runner, type Statement } from '../../kernel/database/statement.ts';
import { searchWays, spellings, type SearchWay } from './rules.ts';

/** What can be found. */
type FoundKind =
  | 'payment'
  | 'refund'
  | 'payout'
  | 'subscription'
  | 'token'
  | 'payment_link'
  | 'webhook_delivery'
  | 'event'
  | 'audit_entry'
  | 'merchant'
  | 'shop';

/** What of it the text is. */
type FoundBy =
  | 'id'
  | 'public_id'
  | 'order_id'
  | 'customer'
  | 'rrn'
  | 'card_mask'
  | 'phone_mask'
  | 'event_id'
  | 'request_id';

/** One thing that the text names. */
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
/** Payments that are looked at for the last digits of a card or of a phone, in each mode. */
const looked_max_payments = 10_000;

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

const seen = 'merchant_id, id, created_at, customer_card_mask, customer_phone_mask';
const inOrder = 'order by payment.created_at desc, payment.id desc limit';

/** SQL: the newest payments of all merchants, as the part `looked` of a statement. */
const newestOfAll = `live as materialized (select ${seen} from payment where payment.mode = 'live' ${inOrder} ${looked_max_payments}),
    test as materialized (select ${seen} from payment where payment.mode = 'test' ${inOrder} ${looked_max_payments}),
    looked as materialized (select * from live union all select * from test)`;
/** SQL: those of one, which has a range of an index a shop. */
const newestOfOne = `looked as materialized (select p.* from shop cross join (values ('live'), ('test')) as m(mode) cross join lateral (
    select ${seen} from payment where merchant_id = $1::uuid and shop_id = shop.id and payment.mode = m.mode
    ${inOrder} (select greatest(${ofOneKind_max}, ${looked_max_payments} / greatest(count(*), 1)) from shop where merchant_id = $1::uuid)) p
    where shop.merchant_id = $1::uuid)`;

const endingIn = (by: 'card_mask' | 'phone_mask', text: string) =>
  `select * from (select 'payment' as kind, '${by}' as by, merchant_id as "merchantId", id, id as "paymentId", created_at as at from looked
    where right(customer_${by}, 4) = ${text} order by created_at desc limit ${ofOneKind_max}) branch`;

const digitsOf = (name: string, looked: string, text: string): Statement => ({
  name,
  text: `with ${looked}
    ${endingIn('card_mask', text)} union all ${endingIn('phone_mask', text)} order by at desc limit ${found_max}`,
});
const digitsOfAll = digitsOf('search.digits_of_all', newestOfAll, '$1');
const digitsOfOne = digitsOf('search.digits_of_one', newestOfOne, '$2');

const statements: Readonly<Record<Exclude<SearchWay, 'digits'>, Statement>> = {
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
  public_id: statement('public_id', [
    `select 'payment' as kind, 'public_id' as by, merchant_id as "merchantId", id, id as "paymentId", created_at as at
      from payment where public_id = $2 and ($1::uuid is null or merchant_id = $1)`,
  ]),
  text: statement('text', [
    branch({
      kind: 'payment',
      by: 'order_id',
      where: 't.order_id = any($2::text[])',
      paymentId: 't.id',
    }),
    branch({
      kind: 'payment',
      by: 'customer',
      where: 't.customer_id = any($2::text[])',
      paymentId: 't.id',
    }),
    branch({ kind: 'payment', by: 'rrn', where: 't.rrn = any($2::text[])', paymentId: 't.id' }),
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

const look = (runner: Runner, merchantId: string | null, way: SearchWay, text: string) => {
  if (way !== 'digits')
    return run<Found>(runner, statements[way], [
      merchantId,
      way === 'text' ? spellings(text) : text,
    ]);
  return merchantId === null
    ? run<Found>(runner, digitsOfAll, [text])
    : run<Found>(runner, digitsOfOne, [merchantId, text]);
};

/**
 * What the text names, newest first, at most 50 things: of one merchant, or of all when
 * `merchantId` is null. Nothing is refused: what names nothing is not found.
 */
export const searchAnything = async (
  runner: Runner,
  merchantId: string | null,
  text: string,
): Promise<Found[]> => {
  const found: Found[] = [];
  // One after the other: a search takes one connection, whatever the text could be.
  for (const [way, value] of searchWays(text))
    found.push(...(await look(runner, merchantId, way, value)));
  return found
    .toSorted((one, other) => Temporal.Instant.compare(other.at, one.at))
    .slice(0, found_max);
};
