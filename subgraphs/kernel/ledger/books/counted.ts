/**
 * The totals by the hour equal the ledger to the kopeck, in two steps: each fact is counted as it
 * is, with the money of its own postings, and each hour of a shop is the sum of its counted facts;
 * a merchant's hours are those of its shops together. Counting follows the events: a fact whose
 * event waits for it is left out, and everything until what is older than the totals is counted.
 */
import { platformMerchantId } from '../../rules/platform.ts';
import { factColumns } from '../totals/count-facts.ts';
import { countedStatuses, type CountedKind } from '../totals/entities.ts';
import type { Check, CheckName } from './check.ts';

const offset = `(select sequence from consumer_offset where consumer = 'totals')`;
const allCounted = 'not exists (select 1 from totals_walk)';

/** The facts that have changed and whose change is not counted yet, in the same snapshot. */
const waiting = `select subject_id from event where sequence is null or sequence > ${offset}
    union all select subject_id from consumer_retry where consumer = 'totals'`;

/** Besides itself, whose events count a fact. */
const others: Record<CountedKind, string> = {
  payment: `select id from refund where refund.merchant_id = part.merchant_id and refund.payment_id = part.id`,
  refund: 'select part.payment_id',
  payout: 'select null::uuid',
};
const sources: Record<CountedKind, string> = {
  payment: 'part as payment',
  refund: `part as refund join payment
    on payment.merchant_id = refund.merchant_id and payment.id = refund.payment_id`,
  payout: 'part as payout',
};
/** Which postings are a fact's money, and which its fee. */
const postings: Record<CountedKind, { readonly moved: string; readonly fee: string }> = {
  payment: { moved: 'payment', fee: 'fee' },
  refund: { moved: 'refund', fee: '' },
  payout: { moved: 'payout', fee: 'payout_fee' },
};

const sumOf = (type: string): string =>
  `coalesce(sum(entry.amount) filter (where entry.type = '${type}'), 0)`;

// A bank or a method may still be chosen before the payment is anywhere.
const factCounted = (name: CheckName, kind: CountedKind): Check => ({
  name,
  walk: kind,
  text: (part) => `with part as materialized (${part}),
    waiting as materialized (${waiting}),
    present as (select ${factColumns[kind]} from ${sources[kind]}),
    settled as materialized (select present.* from part join present
        on present.merchant_id = part.merchant_id and present.id = part.id
      where ${allCounted} and part.id not in (select subject_id from waiting)
        and not exists (select 1 from waiting where waiting.subject_id in (${others[kind]})))
    select settled.merchant_id as "merchantId", settled.shop_id as "shopId", settled.mode,
      settled.id::text as "subjectId",
      'the ${kind} is ' || settled.status || ' with ' || booked.moved || ' moved and a fee of ' || booked.fee
        || ' in the hour ' || settled.hour || ', it is counted as '
        || coalesce(counted.status || ' with ' || counted.moved || ' and ' || counted.fee || ' in ' || counted.hour, 'nothing') as detail
    from settled cross join lateral (
        select ${sumOf(postings[kind].moved)} as moved, ${sumOf(postings[kind].fee)} as fee
        from posting as entry where entry.merchant_id = settled.merchant_id
          and entry.source_kind = '${kind}' and entry.source_id = settled.id) as booked
      left join counted_fact as counted on counted.merchant_id = settled.merchant_id
        and counted.shop_id = settled.shop_id and counted.kind = '${kind}' and counted.id = settled.id
    where counted.id is null or counted.moved <> booked.moved or counted.fee <> booked.fee
      or (counted.mode, counted.currency, counted.hour, counted.status, counted.amount)
        is distinct from (settled.mode, settled.currency, settled.hour, settled.status, settled.amount)
      or settled.status not in ('pending', 'processing')
        and (counted.method, counted.bank, counted.failure_code)
          is distinct from (settled.method, settled.bank, settled.failure_code)
    limit $5`,
});

const place = ['mode', 'currency', 'kind', 'hour', 'method', 'bank', 'failure_code'];
const sums = ['count', 'amount'].flatMap((of) =>
  countedStatuses.map((status) => ({
    column: `${of}_${status}`,
    value: `coalesce(sum(${of === 'count' ? '1' : 'amount'}) filter (where status = '${status}'), 0)`,
  })),
);
const money = ['moved', 'fee'];
const nobody = `'${platformMerchantId}'::uuid`;
const columns = [...sums.map(({ column }) => column), ...money];
const key = ['merchant_id', 'shop_id', ...place].join(', ');
const inWords = (side: string): string =>
  `coalesce(${columns.map((column) => `${side}.${column}`).join(" || ' ' || ")}, 'nothing')`;
const isEmpty = (side: string): string =>
  columns.map((column) => `coalesce(${side}.${column}, 0) = 0`).join(' and ');

/** SQL: the hours of `total` together, as those of `shop`. */
const together = (
  shop: string,
  from: string,
): string => `select total.merchant_id, ${shop} as shop_id,
        ${place.map((name) => `total.${name}`).join(', ')},
        ${columns.map((column) => `sum(total.${column}) as ${column}`).join(', ')}
      from ${from} group by 1, 2, 3, 4, 5, 6, 7, 8, 9`;

/** What is kept beside what it should be, both with the columns of an hour. */
const compared = `wrong as (select ${key},
        ${inWords('kept')} as kept, ${inWords('due')} as due
      from kept full join due using (${key})
      where not (${isEmpty('kept')} and ${isEmpty('due')})
        and (${columns.map((column) => `kept.${column}`).join(', ')})
          is distinct from (${columns.map((column) => `due.${column}`).join(', ')}))`;

const hourAddsUp: Check = {
  name: 'hour_adds_up',
  walk: 'shop',
  text: (part) => `with part as materialized (${part}),
    counted as (select fact.*, each.kind as place_kind, each.method as place_method,
        each.bank as place_bank, each.code, each.share
      from part join counted_fact as fact on fact.merchant_id = part.merchant_id and fact.shop_id = part.id
        cross join lateral (select fact.kind, fact.method, fact.bank, '' as code, 1 as share
          union all select fact.kind || '_failure', '', '', fact.failure_code, 0 where fact.status = 'failed') as each),
    due as (select merchant_id, shop_id, mode, currency, place_kind as kind, hour,
        place_method as method, place_bank as bank, code as failure_code,
        ${sums.map(({ column, value }) => `${value} as ${column}`).join(', ')},
        ${money.map((column) => `sum(share * ${column}) as ${column}`).join(', ')}
      from counted group by 1, 2, 3, 4, 5, 6, 7, 8, 9),
    kept as (${together(
      'total.shop_id',
      `part join hourly_total as total
        on total.merchant_id = part.merchant_id and total.shop_id = part.id`,
    )}),
    ${compared}
    select merchant_id as "merchantId", shop_id as "shopId", mode,
      shop_id || '/' || mode || '/' || currency || '/' || kind || '/' || hour as "subjectId",
      'the hour ' || hour || ' of ' || kind || ' ' || currency || ' is ' || kept || ', what is counted in it is ' || due as detail
    from wrong limit $5`,
};

/** Once for each merchant, at the first of its shops. */
const hoursTogether: Check = {
  name: 'hours_together',
  walk: 'shop',
  text: (part) => `with part as materialized (${part}),
    whole as (select part.merchant_id, part.id from part where part.id = (
      select id from shop where shop.merchant_id = part.merchant_id order by id limit 1)),
    due as (${together(
      nobody,
      `whole join hourly_total as total on total.merchant_id = whole.merchant_id
      where total.shop_id <> ${nobody}`,
    )}),
    kept as (${together(
      nobody,
      `whole join hourly_total as total
        on total.merchant_id = whole.merchant_id and total.shop_id = ${nobody}`,
    )}),
    ${compared}
    select wrong.merchant_id as "merchantId", whole.id as "shopId", mode,
      mode || '/' || currency || '/' || kind || '/' || hour as "subjectId",
      'the hour ' || hour || ' of the merchant, ' || kind || ' ' || currency || ', is ' || kept || ', its shops together are ' || due as detail
    from wrong join whole on whole.merchant_id = wrong.merchant_id limit $5`,
};

export const countedChecks: readonly Check[] = [
  factCounted('payment_counted', 'payment'),
  factCounted('refund_counted', 'refund'),
  factCounted('payout_counted', 'payout'),
  hourAddsUp,
  hoursTogether,
];
