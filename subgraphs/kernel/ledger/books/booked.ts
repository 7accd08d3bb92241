/**
 * Every fact has exactly the postings that the accounting policy lists for it, no more and no
 * fewer, and every posting has its fact. The policy is written here a second time, in the words of
 * the database, so that a mistake in the first place is not repeated.
 */
import { accounts } from '../../rules/postings.ts';
import type { Check, CheckName, Walk } from './check.ts';

/**
 * `expected` gives merchant_id, id, shop_id, mode, type and amount of each posting that the facts
 * in `part` should have.
 */
const booked = (name: CheckName, walk: Walk, expected: string): Check => ({
  name,
  walk,
  text: (part) => `with part as materialized (${part}),
    expected as (${expected}),
    actual as (select part.merchant_id, part.id, entry.shop_id, entry.mode, entry.type, entry.amount
      from part join posting as entry on entry.merchant_id = part.merchant_id and entry.source_kind = '${walk}' and entry.source_id = part.id),
    wrong as (select coalesce(expected.merchant_id, actual.merchant_id) as merchant_id, coalesce(expected.id, actual.id) as id,
        case when actual.id is null then 'lacks the posting ' || expected.type || ' of ' || expected.amount
          else 'has an unexpected posting ' || actual.type || ' of ' || actual.amount end as what
      from expected full join actual on actual.merchant_id = expected.merchant_id and actual.id = expected.id and actual.shop_id = expected.shop_id
        and actual.mode = expected.mode and actual.type = expected.type and actual.amount = expected.amount
      where expected.id is null or actual.id is null)
    select part.merchant_id as "merchantId", part.shop_id as "shopId", part.mode, part.id::text as "subjectId",
      'the ${walk} is ' || part.status || ' and ' || string_agg(wrong.what, ', ' order by wrong.what) as detail
    from wrong join part on part.merchant_id = wrong.merchant_id and part.id = wrong.id group by part.merchant_id, part.shop_id, part.mode, part.id, part.status
    limit $5`,
});

const row = 'part.merchant_id, part.id, part.shop_id, part.mode';

/** A verification of a card is voided at the bank: it moves no money. */
const voided = (payment: string): string =>
  `${payment}.verification and ${payment}.method = 'cards'`;

const paymentBooked = booked(
  'payment_booked',
  'payment',
  // Money that came is marked by its moment, also when it came too late.
  `select ${row}, due.type, due.amount from part
    cross join lateral (values ('payment', coalesce(part.amount_captured, part.amount)), ('fee', coalesce(part.fee, 0))) as due(type, amount)
    where part.captured_at is not null and due.amount > 0 and not (${voided('part')})`,
);

const refundBooked = booked(
  'refund_booked',
  'refund',
  // What cannot be given back of a late success leaves the merchant's money by an adjustment, not
  // by a release.
  `select ${row}, due.type, part.amount
    from part join payment on payment.merchant_id = part.merchant_id and payment.id = part.payment_id
    cross join lateral (values ('reserve', true), ('refund', part.status = 'succeeded'),
      ('release', part.status = 'failed' and payment.status in ('succeeded', 'refunded')),
      ('adjustment', part.status = 'failed' and payment.status not in ('succeeded', 'refunded'))) as due(type, now_due)
    where due.now_due and not (${voided('payment')})`,
);

const payoutBooked = booked(
  'payout_booked',
  'payout',
  // A payout that no bank was given is failed from the beginning, and nothing was set aside for it.
  `select ${row}, due.type, due.amount from part
    cross join lateral (select exists (select 1 from posting where posting.merchant_id = part.merchant_id and posting.source_kind = 'payout'
      and posting.source_id = part.id) as opened) as set_aside
    cross join lateral (values ('reserve', part.amount + part.fee, part.status <> 'failed' or opened), ('payout', part.amount, part.status = 'succeeded'),
      ('payout_fee', part.fee, part.status = 'succeeded' and part.fee > 0), ('release', part.amount + part.fee, part.status = 'failed' and opened))
      as due(type, amount, now_due)
    where due.now_due`,
);

const known = accounts.map((account) => `'${account}'`).join(', ');
const hasFact = (walk: Walk): string =>
  `exists (select 1 from ${walk} as fact where fact.merchant_id = entry.merchant_id and fact.id = entry.source_id)`;

/** A settlement or an adjustment is its own fact: the operator's entry. */
const postingSourced: Check = {
  name: 'posting_sourced',
  walk: 'posting',
  text: (
    part,
  ) => `select entry.merchant_id as "merchantId", entry.shop_id as "shopId", entry.mode, entry.id::text as "subjectId",
      'the posting ' || entry.type || ' of ' || entry.amount || ' ' || fault.what as detail
    from (${part}) as entry cross join lateral (select case
      when entry.amount < 1 or entry.from_account = entry.to_account then 'moves nothing'
      when entry.from_account not in (${known}) or entry.to_account not in (${known}) then 'names an account that does not exist'
      when not exists (select 1 from shop where shop.merchant_id = entry.merchant_id and shop.id = entry.shop_id) then 'is of a shop that does not exist'
      when entry.source_kind = 'payment' and not ${hasFact('payment')} then 'is of a payment that does not exist'
      when entry.source_kind = 'refund' and not ${hasFact('refund')} then 'is of a refund that does not exist'
      when entry.source_kind = 'payout' and not ${hasFact('payout')} then 'is of a payout that does not exist'
      end as what) as fault
    where fault.what is not null limit $5`,
};

/**
 * The refunded amount is the sum of the refunds that succeeded. A payment is `refunded` when that
 * is all that was captured.
 */
const paymentRefunded: Check = {
  name: 'payment_refunded',
  walk: 'payment',
  text: (
    part,
  ) => `select fact.merchant_id as "merchantId", fact.shop_id as "shopId", fact.mode, fact.id::text as "subjectId",
      'the payment of ' || fact.amount || ' is ' || fact.status || ' with ' || fact.amount_refunded || ' given back, its successful refunds are '
        || given.amount as detail
    from (${part}) as fact cross join lateral (select coalesce(sum(refund.amount), 0) as amount from refund
      where refund.merchant_id = fact.merchant_id and refund.payment_id = fact.id and refund.status = 'succeeded') as given
    where (fact.amount_refunded <> given.amount or fact.status = 'refunded' and given.amount <> coalesce(fact.amount_captured, fact.amount)
      or fact.status in ('succeeded', 'refunded') and fact.captured_at is null) limit $5`,
};

export const bookedChecks: readonly Check[] = [
  paymentBooked,
  refundBooked,
  payoutBooked,
  postingSourced,
  paymentRefunded,
];
