/**
 * Matching a registry with our operations: in the database, in a few statements however many lines
 * there are. A line is ours by our operation's id, or by the bank's reference when it has no id.
 * What succeeded here and is in no registry of the bank is missing there, unless it is too young to
 * be in one.
 */
import type pg from 'pg';
import { raiseAlert } from '../../kernel/alerts/raise-alert.ts';
import { notSetAside, workBatch, type Subject } from '../../kernel/alerts/set-aside.ts';
import {
  columns,
  inTransaction,
  propertyNames,
  run,
  type Statement,
} from '../../kernel/database/statement.ts';
import { platformMerchantId } from '../../kernel/rules/platform.ts';
import { ReconciliationRunEntity, type ReconciliationRun } from './entities.ts';

const runColumns = columns(propertyNames(ReconciliationRunEntity));
/** What succeeded less than this ago may come in the bank's next registry. */
const youngest_h = 24;
/**
 * How far before a registry's span what is missing at the bank is looked for: late registries, and
 * what was too young the last time.
 */
const lookBack_d = 31;

/**
 * Our operations at a bank: parameters are the mode and the connector. A voided verification moved
 * no money and is in no registry.
 */
const ours = (mode: string, connector: string): string => `
  select 'payment' as kind, merchant_id, shop_id, id, bank_ref, coalesce(amount_captured, amount) as amount, currency, captured_at as succeeded_at,
    case when captured_at is not null then 'succeeded' when status in ('pending', 'processing', 'authorized') then 'pending' else 'failed' end as status
  from payment where mode = ${mode} and connector = ${connector} and not (verification and method = 'cards')
  union all
  select 'refund', refund.merchant_id, refund.shop_id, refund.id, refund.bank_ref, refund.amount, payment.currency,
    case refund.status when 'succeeded' then refund.completed_at end, refund.status
  from refund join payment on payment.merchant_id = refund.merchant_id and payment.id = refund.payment_id
  where refund.mode = ${mode} and payment.connector = ${connector} and not (payment.verification and payment.method = 'cards')
  union all
  select 'payout', merchant_id, shop_id, id, bank_ref, amount, currency, case status when 'succeeded' then completed_at end, status
  from payout where mode = ${mode} and connector = ${connector}`;

const compare: Statement = {
  name: 'reconciliation.compare',
  text: `with line as materialized (
      select *, row_number() over (partition by kind, coalesce(operation_id::text, reference) order by part, line) as copy
      from reconciliation_line where run_id = $1),
    pairs as materialized (
      select line.part, line.line, operation.* from line
        join (${ours('$2', '$3')}) as operation on operation.kind = line.kind and operation.id = line.operation_id
      union all
      (select distinct on (line.part, line.line) line.part, line.line, operation.* from line
        join (${ours('$2', '$3')}) as operation on operation.kind = line.kind and operation.bank_ref = line.reference
      where line.operation_id is null order by line.part, line.line)),
    seen as (
      select line.*, pairs.merchant_id, pairs.id, pairs.amount as our_amount, pairs.currency as our_currency, pairs.status as our_status,
        case when line.copy > 1 then 'duplicate' when pairs.id is null then 'missing_here' when pairs.amount <> line.amount then 'amount_differs'
          when pairs.currency <> line.currency then 'currency_differs' when pairs.status <> line.status then 'status_differs' end as wrong
      from line left join pairs on pairs.part = line.part and pairs.line = line.line),
    marked as (update reconciliation_line as stored set matched_id = seen.id from seen
      where stored.run_id = $1 and stored.part = seen.part and stored.line = seen.line and seen.id is not null returning 1),
    found as (insert into reconciliation_difference (merchant_id, id, run_id, kind, operation, operation_id, reference, detail, found_at)
      select coalesce(merchant_id, $4), gen_random_uuid(), $1, wrong, kind, coalesce(operation_id, id), reference,
        case wrong when 'duplicate' then 'the registry has the ' || kind || ' ' || copy || ' times'
          when 'missing_here' then 'the registry has a ' || kind || ' of ' || amount || ' ' || currency || ' that is not known here'
          when 'status_differs' then 'the ' || kind || ' is ' || status || ' at the bank and ' || our_status || ' here'
          else 'the ' || kind || ' is of ' || amount || ' ' || currency || ' at the bank and of ' || our_amount || ' ' || our_currency || ' here' end, $5
      from seen where wrong is not null returning 1),
    cleared as (update reconciliation_difference as earlier set resolved_at = $5, resolved_by = 'reconciliation', note = 'Found in a later registry'
      from seen where earlier.kind = 'missing_at_bank' and earlier.resolved_at is null and earlier.operation_id = seen.id and earlier.merchant_id = seen.merchant_id
      returning 1)
    select (select count(*) from seen where wrong is null)::int as matched, (select count(*) from found)::int as found`,
};

// The first report of a bank covers nothing before it.
const missing: Statement = {
  name: 'reconciliation.missing',
  text: `with span as (select greatest(min(since), $6::timestamptz) as since from reconciliation_run where connector = $3 and mode = $2),
    found as (insert into reconciliation_difference (merchant_id, id, run_id, kind, operation, operation_id, reference, detail, found_at)
      select merchant_id, gen_random_uuid(), $1, 'missing_at_bank', kind, id, bank_ref,
        'the ' || kind || ' of ' || amount || ' ' || currency || ' that succeeded here is in no registry of the bank', $4
      from (${ours('$2', '$3')}) as operation cross join span
      where succeeded_at >= span.since and succeeded_at < $5
        and not exists (select from reconciliation_line as line where line.matched_id = operation.id)
        and not exists (select from reconciliation_difference as earlier where earlier.operation_id = operation.id and earlier.kind = 'missing_at_bank')
      returning 1)
    select count(*)::int as found from found`,
};

/** The task under which runs are set aside that cannot be matched. A run is the platform's. */
const task = 'match-registries';
const notAside = notSetAside(task, `'${platformMerchantId}'`, 'reconciliation_run.id::text');
const ofReady = `from reconciliation_run where status = 'ready' and ${notAside}`;
/** SQL: whether a run is ready to be matched. */
export const isMatchDue = `exists (select ${ofReady})`;

const oldestReady: Statement = {
  name: 'reconciliation.oldest_ready',
  text: `select '${platformMerchantId}' as "merchantId", id::text as "subjectId" ${ofReady} order by created_at limit 1`,
};
const takeReady: Statement = {
  name: 'reconciliation.take_ready',
  text: `select ${runColumns} ${ofReady} order by created_at limit 1 for update skip locked`,
};
const finish: Statement = {
  name: 'reconciliation.finish',
  text: `update reconciliation_run set status = 'matched', matched = $2, differences = $3, matched_at = $4 where id = $1 returning ${runColumns}`,
};

const alertOf = (
  client: pg.PoolClient,
  { id, connector, mode, reference }: ReconciliationRun,
  differences: number,
  at: Temporal.Instant,
) =>
  raiseAlert(client, {
    kind: 'reconciliation_difference',
    merchantId: null,
    shopId: null,
    mode,
    subjectId: id,
    detail: `the registry ${reference} of ${connector} has ${differences} differences`,
    at,
  });

const earliest = (one: Temporal.Instant, other: Temporal.Instant): Temporal.Instant =>
  Temporal.Instant.compare(one, other) <= 0 ? one : other;

/**
 * Matches the oldest run that is ready, in one transaction, and alerts when it has differences;
 * null when none is ready. A crash leaves it ready. A run that cannot be matched is set aside, and
 * the next one is matched.
 */
export const matchNext = async (
  pool: pg.Pool,
  now: Temporal.Instant,
): Promise<ReconciliationRun | null> => {
  const first = async () => (await run<Subject>(pool, oldestReady, []))[0] ?? null;
  const { result } = await workBatch(pool, {
    task,
    limit: 1,
    work: () => matchOldest(pool, now),
    first,
  });
  return result;
};

const matchOldest = (pool: pg.Pool, now: Temporal.Instant): Promise<ReconciliationRun | null> =>
  inTransaction(pool, async (client) => {
    const [ready] = await run<ReconciliationRun>(client, takeReady, []);
    if (!ready) return null;
    const { id, mode, connector, since, until } = ready;
    // What was just written has no statistics: the planner would take a registry for a few lines,
    // and read all our operations for each of them.
    await client.query('set local enable_nestloop = off');
    const [compared] = await run<{ matched: number; found: number }>(client, compare, [
      id,
      mode,
      connector,
      platformMerchantId,
      now,
    ]);
    const oldEnough = earliest(until, now.subtract({ hours: youngest_h }));
    const from = since.subtract({ hours: lookBack_d * 24 });
    const [lacking] = await run<{ found: number }>(client, missing, [
      id,
      mode,
      connector,
      now,
      oldEnough,
      from,
    ]);
    const differences = (compared?.found ?? 0) + (lacking?.found ?? 0);
    if (differences > 0) await alertOf(client, ready, differences, now);
    const [matched] = await run<ReconciliationRun>(client, finish, [
      id,
      compared?.matched ?? 0,
      differences,
      now,
    ]);
    return matched ?? null;
  });
