/**
 * Counts payments, refunds and payouts in their hours. The previous counted state is stored, and
 * the statement that adds the current state subtracts it: counted twice or late, the totals are the
 * same. The counting transaction locks the consumer's row, so that one transaction counts at a
 * time.
 */
import { platformMerchantId } from '../../rules/ids.ts';
import type { Subject } from '../../platform/alerts/dead-letters.ts';
import { run, type Runner, type Statement } from '../../platform/database/statement.ts';
import { countedKinds, countedStatuses, type CountedKind } from '../entities.ts';

/** A verification of a card is voided at the bank: it moves no money. */
const isVoided = "(payment.verification and payment.method = 'cards')";
const hasMoney = `payment.captured_at is not null and not ${isVoided}`;

const hourOf = (row: string): string => `date_trunc('hour', ${row}.created_at, 'UTC')`;

/**
 * SQL: a fact's columns except its money, in the order of `counted_fact`. `of` is the table with
 * its currency, method and bank, `failure` its column with the failure's code.
 */
const factColumns = (kind: CountedKind, of: 'payment' | 'payout', failure: string): string =>
  `${kind}.merchant_id, ${kind}.shop_id, '${kind}' as kind, ${kind}.id, ${kind}.mode,
    ${of}.currency, ${hourOf(kind)} as hour, ${of}.method,
    coalesce(${of}.connector, '') as bank, coalesce(${kind}.${failure}, '') as failure_code,
    ${kind}.status, ${kind}.amount`;

/** SQL: a row is the merchant's: every table names it, so that one shard runs the statement. */
const ofMerchant = (row: string): string => ` and ${row}.merchant_id = $1`;

const present = `
  select ${factColumns('payment', 'payment', 'failure_code')},
    case when ${hasMoney} then coalesce(payment.amount_captured, payment.amount) else 0 end as moved,
    case when ${hasMoney} then coalesce(payment.fee, 0) else 0 end as fee
  from touched join payment
    on payment.merchant_id = touched.merchant_id and payment.id = touched.payment_id${ofMerchant('payment')}
  union all
  select ${factColumns('refund', 'payment', 'fail_reason')},
    case when refund.status = 'succeeded' and not ${isVoided} then refund.amount else 0 end, 0
  from touched join refund
    on refund.merchant_id = touched.merchant_id and refund.payment_id = touched.payment_id${ofMerchant('refund')}
    join payment on payment.merchant_id = refund.merchant_id and payment.id = refund.payment_id
  union all
  select ${factColumns('payout', 'payout', 'fail_reason')},
    case when payout.status = 'succeeded' then payout.amount else 0 end,
    case when payout.status = 'succeeded' then payout.fee else 0 end
  from named join payout
    on payout.merchant_id = named.merchant_id and payout.id = named.subject_id${ofMerchant('payout')}`;

const key = ['merchant_id', 'hour', 'shop_id', 'kind', 'id'];
const rest = ['mode', 'currency', 'method', 'bank', 'failure_code', 'status', 'amount'];
const money = ['moved', 'fee'];
const kept = [...rest, ...money];
const columnsOf = (row: string, names: readonly string[]): string =>
  names.map((name) => `${row}.${name}`).join(', ');

/** SQL: two rows belong to the same fact. */
const same = (one: string, other: string): string =>
  key.map((name) => `${one}.${name} = ${other}.${name}`).join(' and ');

const sums = ['count', 'amount'].flatMap((of) =>
  countedStatuses.map((status) => ({
    column: `${of}_${status}`,
    value: `coalesce(sum(${of === 'count' ? 'sign' : 'sign * amount'}) filter (where status = '${status}'), 0)`,
  })),
);
const movements = money.map((column) => ({ column, value: `sum(sign * ${column})` }));
const added = [...sums, ...movements];
const place = ['mode', 'currency', 'kind', 'hour', 'method', 'bank', 'failure_code'];
const nobody = `'${platformMerchantId}'::uuid`;
const kinds = countedKinds.map((kind) => `'${kind}'`).join(', ');

const totalColumns = ['merchant_id', 'shop_id', ...place, ...added.map(({ column }) => column)];
const addTotals = (rows: string): string =>
  `insert into hourly_total as total (${totalColumns.join(', ')}) ${rows}
      on conflict (merchant_id, shop_id, ${place.join(', ')}) do update set
        ${added.map(({ column }) => `${column} = total.${column} + excluded.${column}`).join(', ')}`;

const countOfMerchant: Statement = {
  name: 'totals.count_of_merchant',
  text: `with named as materialized (select distinct $1::uuid as merchant_id, subject_id
      from unnest($2::uuid[]) as each (subject_id)),
    touched as materialized (
      select merchant_id, subject_id as payment_id from named
      union select refund.merchant_id, refund.payment_id from named join refund
        on refund.merchant_id = named.merchant_id and refund.id = named.subject_id${ofMerchant('refund')}),
    present as materialized (${present}),
    former as materialized (select counted_fact.* from present join counted_fact
      on ${same('counted_fact', 'present')} where counted_fact.kind in (${kinds})${ofMerchant('counted_fact')}),
    changed as materialized (select present.* from present left join former
      on ${same('former', 'present')}
      where former.id is null
        or (${columnsOf('former', kept)}) is distinct from (${columnsOf('present', kept)})),
    counted as (insert into counted_fact (${[...key, ...kept].join(', ')})
      select ${[...key, ...kept].join(', ')} from changed
      on conflict (${key.join(', ')}) do update set
        ${kept.map((name) => `${name} = excluded.${name}`).join(', ')}),
    moves as (
      select 1 as sign, ${columnsOf('changed', [...key, ...kept])} from changed
      union all
      select -1, ${columnsOf('former', [...key, ...kept])}
      from changed join former on ${same('former', 'changed')}),
    parts as (
      select sign, merchant_id, shop_id, mode, currency, kind, hour, method, bank,
        '' as failure_code, status, amount, moved, fee from moves
      union all
      select sign, merchant_id, shop_id, mode, currency, kind || '_failure', hour, '', '',
        failure_code, status, amount, 0, 0 from moves where status = 'failed'),
    summed as (
      select whose.merchant_id, whose.shop_id, ${place.join(', ')},
        ${added.map(({ column, value }) => `${value} as ${column}`).join(', ')}
      from parts cross join lateral (values (parts.merchant_id, parts.shop_id),
        (parts.merchant_id, ${nobody}), (${nobody}, ${nobody})) as whose (merchant_id, shop_id)
      group by whose.merchant_id, whose.shop_id, ${place.join(', ')}),
    totalled as (${addTotals(`select * from summed where merchant_id <> ${nobody}`)})
    select count(*)::int as count,
      (select jsonb_agg(to_jsonb(summed))::text from summed where merchant_id = ${nobody}) as "ofAll"
    from changed`,
};
const addOfAll: Statement = {
  name: 'totals.add_of_all',
  text: addTotals(
    `select ${totalColumns.map((name) => (name === 'merchant_id' ? nobody : name)).join(', ')}
      from jsonb_populate_recordset(null::hourly_total, $1::jsonb)`,
  ),
};

/**
 * Counts the named facts (a payment with its refunds, a refund with its payment, a payout) merchant
 * by merchant, with each merchant's sums added to the total, in the caller's transaction, which
 * holds the consumer's row. Returns how many facts were new or had changed.
 */
export const countFacts = async (runner: Runner, named: readonly Subject[]): Promise<number> => {
  let count = 0;
  for (const [merchantId, own] of Map.groupBy(named, (one) => one.merchantId)) {
    const subjects = own.map(({ subjectId }) => subjectId);
    const [row] = await run<{ count: number; ofAll: string | null }>(runner, countOfMerchant, [
      merchantId,
      subjects,
    ]);
    count += row?.count ?? 0;
    if (row?.ofAll) await run(runner, addOfAll, [row.ofAll]);
  }
  return count;
};
