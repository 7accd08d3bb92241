/**
 * The checks of a merchant's books: one statement each, and so one snapshot, that returns what is
 * wrong. Most read a range of the merchant's rows in the order of their ids.
 */
import type { AlertFields } from '../../rules/alert.ts';
import { madeAtInSql } from '../../platform/database/new-id.ts';
import { isWanted } from '../../platform/events/outbox.ts';
import { platformMerchantId } from '../../rules/ids.ts';
import { factColumns } from '../totals/count-facts.ts';
import { countedStatuses, type CountedKind } from '../entities.ts';

/** What a merchant's check goes through, in this order. */
export const steps = [
  'payment',
  'refund',
  'payout',
  'posting',
  'balance',
  'event',
  'hour',
] as const;
export type Step = (typeof steps)[number];

/** The names of the checks. A closed list: the metric and the subjects of alerts use them. */
export const checkNames = [
  'payment_booked',
  'payment_refunded',
  'refund_booked',
  'payout_booked',
  'posting_sourced',
  'balance_adds_up',
  'ledger_hours_add_up',
  'reserve_covers',
  'event_delivered',
  'event_relayed',
  'payment_counted',
  'refund_counted',
  'payout_counted',
  'hour_adds_up',
  'hours_together',
] as const;
export type CheckName = (typeof checkNames)[number];

/** A fact that the books hold twice and differently. */
export interface Found {
  /** Null: of all shops of the merchant. */
  readonly shopId: string | null;
  readonly mode: 'test' | 'live' | null;
  /** The row that it is about; for a balance the shop, mode, currency and account. */
  readonly subjectId: string;
  readonly detail: string;
  readonly fields: AlertFields;
  /** For a counted fact: the subject of the events that count it. */
  readonly countedBy?: readonly string[];
}

/** The input of a check. */
export interface Asked {
  readonly merchantId: string;
  /** Behind this row, up to and with the other one. */
  readonly from: string;
  readonly to: string;
  /** Null: all of them. */
  readonly limit: number | null;
  /** What the postings up to `from` sum to, by account, as JSON. */
  readonly sums: string;
}

export interface Check {
  readonly name: CheckName;
  readonly step: Step;
  /** SQL that returns rows of `Found`; $1 is the merchant. */
  readonly text: string;
  /** What its parameters are. */
  readonly values: (asked: Asked) => readonly unknown[];
}

const ofRange = ({ merchantId, from, to, limit }: Asked): readonly unknown[] => [
  merchantId,
  from,
  to,
  limit,
];

/** So many differences of one kind in one range are enough to show that something is wrong. */
const enough = 'limit 100';

/** SQL: the rows of the range. Their limit leads the planner to the key's index. */
const rowsOf = (table: string): string =>
  `select * from ${table} where merchant_id = $1 and id > $2::uuid and id <= $3::uuid order by id limit $4::int`;

/**
 * SQL: rows found by their key for each row of another table. `offset 0` keeps them apart: joined,
 * all the merchant's rows are read for a few, since the planner does not know how many one has.
 */
const each = (rows: string): string => `select * from ${rows} offset 0`;

/** SQL: a difference about a row. */
const about = (row: string): string =>
  `${row}.shop_id as "shopId", ${row}.mode, ${row}.id::text as "subjectId"`;

/**
 * A fact has exactly the postings that the accounting policy lists for it. The policy is written
 * here a second time, in SQL, so that a mistake in the first place is not repeated. For each
 * posting of a row of `part`, `due` gives its type, its amount and whether it is due.
 */
const booked = (name: CheckName, step: 'payment' | 'refund' | 'payout', due: string): Check => ({
  name,
  step,
  values: ofRange,
  text: `with part as materialized (${rowsOf(step)}),
    expected as (select part.id, part.shop_id, part.mode, due.type, due.amount
      from part cross join lateral (${due}) as due (type, amount, is_due) where due.is_due and due.amount > 0),
    actual as (select entry.source_id as id, entry.shop_id, entry.mode, entry.type, entry.amount
      from part cross join lateral (${each(`posting where merchant_id = $1 and source_kind = '${step}' and source_id = part.id`)}) as entry),
    wrong as materialized (select coalesce(expected.id, actual.id) as id,
        case when actual.id is null then 'lacks the posting ' || expected.type || ' of ' || expected.amount
          else 'has an unexpected posting ' || actual.type || ' of ' || actual.amount end as what,
        coalesce(expected.type, actual.type) || ' ' || coalesce(expected.amount, actual.amount) as posting, actual.id is null as is_lacking
      from expected full join actual using (id, shop_id, mode, type, amount)
      where expected.id is null or actual.id is null)
    select ${about('part')},
      'the ${step} is ' || part.status || ' and ' || string_agg(wrong.what, ', ' order by wrong.what) as detail,
      jsonb_strip_nulls(jsonb_build_object('status', part.status, 'lacking', string_agg(wrong.posting, ', ' order by wrong.posting) filter (where wrong.is_lacking),
        'unexpected', string_agg(wrong.posting, ', ' order by wrong.posting) filter (where not wrong.is_lacking))) as fields
    from wrong join part using (id) group by part.id, part.shop_id, part.mode, part.status ${enough}`,
});

/** A verification of a card is voided at the bank: it moves no money. */
const voided = (payment: string): string =>
  `(${payment}.verification and ${payment}.method = 'cards')`;

const bookedChecks: readonly Check[] = [
  // Money that came is marked by its moment, also when it came too late.
  booked(
    'payment_booked',
    'payment',
    `values ('payment', coalesce(part.amount_captured, part.amount), part.captured_at is not null and not ${voided('part')}),
      ('fee', coalesce(part.fee, 0), part.captured_at is not null and not ${voided('part')})`,
  ),
  // The part of a late success that cannot be returned leaves the merchant's money by an
  // adjustment, not by a release.
  booked(
    'refund_booked',
    'refund',
    `select each.type, part.amount, each.is_due and not ${voided('payment')}
      from (${each('payment where merchant_id = $1 and id = part.payment_id')}) as payment cross join lateral (values ('reserve', true), ('refund', part.status = 'succeeded'),
        ('release', part.status = 'failed' and payment.status in ('succeeded', 'refunded')),
        ('adjustment', part.status = 'failed' and payment.status not in ('succeeded', 'refunded'))) as each (type, is_due)`,
  ),
  // A payout that was never sent to a bank is failed from the beginning and reserved no money.
  booked(
    'payout_booked',
    'payout',
    `select each.* from (select exists (${each(`posting where merchant_id = $1 and source_kind = 'payout' and source_id = part.id`)}) as opened) as reserved
      cross join lateral (values ('reserve', part.amount + part.fee, part.status <> 'failed' or opened),
        ('payout', part.amount, part.status = 'succeeded'), ('payout_fee', part.fee, part.status = 'succeeded'),
        ('release', part.amount + part.fee, part.status = 'failed' and opened)) as each (type, amount, is_due)`,
  ),
];

/**
 * The refunded amount is the sum of the refunds that succeeded. A payment is `refunded` when that
 * is all that was captured.
 */
const paymentRefunded: Check = {
  name: 'payment_refunded',
  step: 'payment',
  values: ofRange,
  text: `select ${about('fact')},
      'the payment of ' || fact.amount || ' is ' || fact.status || ' with ' || fact.amount_refunded || ' given back, its successful refunds are '
        || given.amount as detail,
      jsonb_build_object('status', fact.status, 'currency', fact.currency, 'found', fact.amount_refunded::text, 'expected', given.amount::text) as fields
    from (${rowsOf('payment')}) as fact cross join lateral (select coalesce(sum(refund.amount), 0) as amount from refund
      where refund.merchant_id = $1 and refund.payment_id = fact.id and refund.status = 'succeeded') as given
    where fact.amount_refunded <> given.amount or fact.status = 'refunded' and given.amount <> coalesce(fact.amount_captured, fact.amount)
      or fact.status in ('succeeded', 'refunded') and fact.captured_at is null ${enough}`,
};

const hasFact = (table: string): string =>
  `exists (${each(`${table} where merchant_id = $1 and id = entry.source_id`)})`;

/** A settlement or an adjustment is its own fact: the operator's entry. */
const postingSourced: Check = {
  name: 'posting_sourced',
  step: 'posting',
  values: ofRange,
  text: `select ${about('entry')}, 'the posting ' || entry.type || ' of ' || entry.amount || ' is of a ' || lacking.what || ' that does not exist' as detail,
      jsonb_build_object('unexpected', concat(entry.type, ' ', entry.amount), 'lacking', lacking.what) as fields
    from (${rowsOf('posting')}) as entry cross join lateral (select case
      when not exists (${each('shop where merchant_id = $1 and id = entry.shop_id')}) then 'shop'
      when entry.source_kind = 'payment' and not ${hasFact('payment')} then 'payment'
      when entry.source_kind = 'refund' and not ${hasFact('refund')} then 'refund'
      when entry.source_kind = 'payout' and not ${hasFact('payout')} then 'payout'
      end as what) as lacking
    where lacking.what is not null ${enough}`,
};

/** SQL: the effect of a range's postings on the accounts with a stored balance. */
const movedBy = (range: string): string =>
  `select entry.shop_id, entry.mode, entry.currency, side.account, side.amount
    from posting as entry cross join lateral (values (entry.to_account, entry.amount), (entry.from_account, -entry.amount)) as side (account, amount)
    where entry.merchant_id = $1 and ${range} and side.account in ('merchant', 'merchant_reserved')`;

/** SQL: sums by account, as `sumPostings` returns them. */
const sumsIn = (parameter: string): string =>
  `select * from jsonb_to_recordset(${parameter}::jsonb) as sum (shop_id uuid, mode text, currency text, account text, amount numeric)`;

/** Adds the postings behind `$2`, up to and with `$3`, to the sums `$4`. */
export const sumPostings = {
  name: 'books.sum_postings',
  text: `select coalesce(jsonb_agg(to_jsonb(total)), '[]')::text as sums from (
      select shop_id, mode, currency, account, sum(amount) as amount
      from (${sumsIn('$4')} union all ${movedBy('entry.id > $2::uuid and entry.id <= $3::uuid')}) as moved
      group by 1, 2, 3, 4) as total`,
};

/** SQL: the stored balances: the rows and their unfolded deltas. */
const kept = `select shop_id, mode, currency, account, sum(amount) as amount
  from (select shop_id, mode, currency, account, amount from balance where merchant_id = $1
    union all select shop_id, mode, currency, account, amount from balance_delta where merchant_id = $1) as moved
  group by 1, 2, 3, 4`;

/** SQL: the balances `kept` that differ from the sums `entered` of their entries or hours. */
const differing = (parts: string): string =>
  `select shop_id as "shopId", mode, shop_id || '/' || mode || '/' || currency || '/' || account as "subjectId",
      'the balance ' || mode || '/' || currency || '/' || account || ' of the shop is ' || coalesce(kept.amount, 0)
        || ', its ${parts} sum to ' || coalesce(entered.amount, 0) as detail,
      jsonb_build_object('account', account, 'currency', currency, 'found', coalesce(kept.amount, 0)::text, 'expected', coalesce(entered.amount, 0)::text) as fields
    from kept full join entered using (shop_id, mode, currency, account)
    where coalesce(kept.amount, 0) <> coalesce(entered.amount, 0) ${enough}`;

const balanceChecks: readonly Check[] = [
  {
    name: 'balance_adds_up',
    step: 'balance',
    values: ({ merchantId, from, sums }) => [merchantId, from, sums],
    text: `with kept as (${kept}),
      entered as (select shop_id, mode, currency, account, sum(amount) as amount
        from (${sumsIn('$3')} union all ${movedBy('entry.id > $2::uuid')}) as moved group by 1, 2, 3, 4)
      ${differing('entries')}`,
  },
  {
    name: 'ledger_hours_add_up',
    step: 'balance',
    values: ({ merchantId }) => [merchantId],
    text: `with kept as (select shop_id, mode, currency, account, sum(amount) as amount from balance where merchant_id = $1 group by 1, 2, 3, 4),
      entered as (select shop_id, mode, currency, account, sum(amount) as amount from ledger_hour where merchant_id = $1 group by 1, 2, 3, 4)
      ${differing('hours')}`,
  },
  {
    name: 'reserve_covers',
    step: 'balance',
    values: ({ merchantId }) => [merchantId],
    // What is pending is found by its status in each shop and mode, not among all that ever was.
    text: `with part as (select shop.id, each.mode from shop cross join (values ('test'), ('live')) as each (mode) where shop.merchant_id = $1),
      waiting as (
        select part.id as shop_id, part.mode, payment.currency, refund.amount
        from part cross join lateral (${each(`refund where merchant_id = $1 and shop_id = part.id and mode = part.mode and status = 'pending'`)}) as refund
          cross join lateral (${each('payment where merchant_id = $1 and id = refund.payment_id')}) as payment
        union all
        select part.id, part.mode, payout.currency, payout.amount + payout.fee
        from part cross join lateral (${each(`payout where merchant_id = $1 and shop_id = part.id and mode = part.mode and status = 'pending'`)}) as payout),
      due as (select shop_id, mode, currency, sum(amount) as amount from waiting group by 1, 2, 3),
      reserved as (select * from (${kept}) as kept where account = 'merchant_reserved')
      select shop_id as "shopId", mode, shop_id || '/' || mode || '/' || currency as "subjectId",
        'reserved are ' || coalesce(reserved.amount, 0) || ' ' || currency || ', the pending refunds and payouts are ' || coalesce(due.amount, 0) as detail,
        jsonb_build_object('currency', currency, 'found', coalesce(reserved.amount, 0)::text, 'expected', coalesce(due.amount, 0)::text) as fields
      from due full join reserved using (shop_id, mode, currency)
      where coalesce(reserved.amount, 0) <> coalesce(due.amount, 0) ${enough}`,
  },
];

/** Endpoints and events are stamped before their transactions end. */
const margin = `interval '1 minute'`;
/** The relay takes milliseconds. */
const patience = `interval '10 minutes'`;

/**
 * The relay numbers an event and makes its deliveries in one transaction. An event with its own
 * address always has one; of the shop's endpoints it had each that was active and unchanged from
 * before it until now. An endpoint that was changed meanwhile (the audit log shows it) proves
 * nothing. All moments here are real ones: an event's `created_at` comes from its shop's test
 * clock, and may be years ahead of an endpoint that was made after it; its id has the real one.
 */
const eventChecks: readonly Check[] = [
  {
    name: 'event_delivered',
    step: 'event',
    values: ofRange,
    // Deliveries are looked for first, and the audit log for what lacks one alone.
    text: `with lacking as materialized (
        select fact.*, target.endpoint_id from (${rowsOf('event')}) as fact cross join lateral (
          select null::uuid as endpoint_id where fact.webhook_url is not null
          union all
          select endpoint.id from webhook_endpoint as endpoint
          where fact.webhook_url is null and endpoint.merchant_id = $1 and endpoint.shop_id = fact.shop_id and endpoint.active
            and endpoint.created_at < ${madeAtInSql('fact.id')} - ${margin} and ${isWanted('endpoint', 'fact.webhook_event')}
        ) as target
        where fact.sequence is not null and fact.webhook_event is not null
          and not exists (${each(`webhook_delivery where merchant_id = $1 and event_id = fact.id
            and created_at = fact.created_at and endpoint_id is not distinct from target.endpoint_id`)}))
      select ${about('lacking')},
        'the event ' || webhook_event || ' of ' || subject_id || ' has no delivery to ' || coalesce('the endpoint ' || endpoint_id, 'its own address') as detail,
        jsonb_build_object('event', webhook_event) as fields
      from lacking
      where endpoint_id is null
        or not exists (${each(`audit_entry where merchant_id = $1 and at >= ${madeAtInSql('lacking.id')} - ${margin}
          and subject_id = lacking.endpoint_id::text`)})
      ${enough}`,
  },
  {
    name: 'event_relayed',
    step: 'event',
    values: ofRange,
    text: `select ${about('fact')}, 'the event of ' || ${madeAtInSql('fact.id')} || ' has not left the outbox' as detail, '{}'::jsonb as fields
      from (${rowsOf('event')}) as fact where fact.sequence is null and ${madeAtInSql('fact.id')} < now() - ${patience} ${enough}`,
  },
];

/** The source of a fact, the subject of the events that count it, and the postings of its money. */
const counted: Record<
  CountedKind,
  { readonly from: string; readonly by: string; readonly moved: string; readonly fee: string }
> = {
  payment: {
    from: 'part as payment',
    by: `payment.id || array(select id from refund where refund.merchant_id = $1 and refund.payment_id = payment.id)`,
    moved: 'payment',
    fee: 'fee',
  },
  refund: {
    from: `part as refund cross join lateral (${each('payment where merchant_id = $1 and id = refund.payment_id')}) as payment`,
    by: 'array[refund.id, refund.payment_id]',
    moved: 'refund',
    fee: '',
  },
  payout: { from: 'part as payout', by: 'array[payout.id]', moved: 'payout', fee: 'payout_fee' },
};

const sumOf = (type: string): string =>
  `coalesce(sum(entry.amount) filter (where entry.type = '${type}'), 0)`;

/**
 * A fact is counted in the totals as it is, with the money of its own postings. A payment's bank or
 * method may still be chosen before it is sent anywhere.
 */
const factCounted = (name: CheckName, kind: CountedKind): Check => ({
  name,
  step: kind,
  values: ofRange,
  text: `with part as materialized (${rowsOf(kind)}),
    present as (select ${factColumns[kind]}, ${counted[kind].by} as counted_by from ${counted[kind].from})
    select ${about('present')}, present.counted_by as "countedBy",
      'the ${kind} is ' || present.status || ' with ' || booked.moved || ' moved and a fee of ' || booked.fee
        || ' in the hour ' || present.hour || ', it is counted as '
        || coalesce(counted.status || ' with ' || counted.moved || ' and ' || counted.fee, 'nothing') as detail,
      jsonb_build_object('status', present.status, 'currency', present.currency, 'found', coalesce(counted.moved, 0)::text, 'expected', booked.moved::text) as fields
    from present cross join lateral (
        select ${sumOf(counted[kind].moved)} as moved, ${sumOf(counted[kind].fee)} as fee
        from posting as entry where entry.merchant_id = $1 and entry.source_kind = '${kind}' and entry.source_id = present.id) as booked
      left join lateral (${each(`counted_fact where merchant_id = $1 and hour = present.hour
        and shop_id = present.shop_id and kind = '${kind}' and id = present.id`)}) as counted on true
    where counted.id is null or counted.moved <> booked.moved or counted.fee <> booked.fee
      or (counted.mode, counted.currency, counted.status, counted.amount)
        is distinct from (present.mode, present.currency, present.status, present.amount)
      or present.status not in ('pending', 'processing')
        and (counted.method, counted.bank, counted.failure_code)
          is distinct from (present.method, present.bank, present.failure_code)
    ${enough}`,
});

const place = ['shop_id', 'mode', 'currency', 'kind', 'hour', 'method', 'bank', 'failure_code'];
const sums = ['count', 'amount'].flatMap((of) =>
  countedStatuses.map((status) => ({
    column: `${of}_${status}`,
    value: `coalesce(sum(${of === 'count' ? '1' : 'amount'}) filter (where status = '${status}'), 0)`,
  })),
);
const columns = [...sums.map(({ column }) => column), 'moved', 'fee'];
const nobody = `'${platformMerchantId}'::uuid`;
const columnsOf = (side: string): string =>
  columns.map((column) => `coalesce(${side}.${column}, 0)`).join(', ');
const inWords = (side: string): string => `concat_ws(' ', ${columnsOf(side)})`;

/**
 * The hours of a shop, or those of the merchant, are what is counted in them; `from` and `to` are
 * hours. Facts and hours change by one statement.
 */
const hoursAddUp = (name: CheckName, shop: string): Check => ({
  name,
  step: 'hour',
  values: ({ merchantId, from, to }) => [merchantId, from, to],
  text: `with part as materialized (select ${shop} as place_shop, fact.* from counted_fact as fact
      where merchant_id = $1 and hour > $2::timestamptz and hour <= $3::timestamptz),
    due as (select place_shop as shop_id, mode, currency, each.kind, hour, each.method, each.bank, each.failure_code,
        ${sums.map(({ column, value }) => `${value} as ${column}`).join(', ')},
        sum(share * moved) as moved, sum(share * fee) as fee
      from part cross join lateral (select part.kind, part.method, part.bank, '' as failure_code, 1 as share
        union all select part.kind || '_failure', '', '', part.failure_code, 0 where part.status = 'failed') as each
      group by 1, 2, 3, 4, 5, 6, 7, 8),
    kept as (select total.* from (select distinct place_shop, mode, currency, each.kind
        from part cross join lateral (values (part.kind), (part.kind || '_failure')) as each (kind)) as counted
      cross join lateral (${each(`hourly_total where merchant_id = $1 and shop_id = counted.place_shop and mode = counted.mode
        and currency = counted.currency and kind = counted.kind and hour > $2::timestamptz and hour <= $3::timestamptz`)}) as total)
    select nullif(shop_id, ${nobody}) as "shopId", mode, concat_ws('/', nullif(shop_id, ${nobody}), mode, currency, kind, hour) as "subjectId",
      'the hour ' || hour || ' of ' || kind || ' ' || currency || ' is ' || ${inWords('kept')} || ', what is counted in it is ' || ${inWords('due')} as detail, jsonb_build_object('currency', currency) as fields
    from kept full join due using (${place.join(', ')})
    where (${columnsOf('kept')}) is distinct from (${columnsOf('due')}) ${enough}`,
});

/** Every check, in no order that matters. */
export const checks: readonly Check[] = [
  ...bookedChecks,
  paymentRefunded,
  postingSourced,
  ...balanceChecks,
  ...eventChecks,
  factCounted('payment_counted', 'payment'),
  factCounted('refund_counted', 'refund'),
  factCounted('payout_counted', 'payout'),
  hoursAddUp('hour_adds_up', 'fact.shop_id'),
  hoursAddUp('hours_together', nobody),
];
