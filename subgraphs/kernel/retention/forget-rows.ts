/**
 * Rows that go one by one: what is old in the default partitions, lines of registries, resolved alerts. Always few at a time, oldest first, passing over what somebody
 * is writing, so that nobody waits.
 */
import { inRealTime } from '../clock/due.ts';
import { run, type Runner, type Statement } from '../database/statement.ts';

/** SQL: removes up to `$2` rows of a table that are older than `$1` and fit; `place` is where they lie. */
const forget = (table: string, { place = table, age, fits }: { readonly place?: string; readonly age: string; readonly fits: string }): Statement => ({
  name: `retention.${table}`,
  text: `with forgotten as (delete from ${place} where ctid = any (array(
      select ctid from ${place} as old where ${age} < $1 and ${fits} order by ${age} limit $2 for update skip locked)) returning 1)
    select count(*)::int as count from forgotten`,
});

const keyed = (table: string, id: string): string =>
  `not exists (select from ${table} as first where first.merchant_id = old.merchant_id and first.id = old.${id} and first.created_at = old.created_at)`;

/** What landed in a default partition: test clocks that stand far away, and months that began without a partition. In the order in which they are removed. */
export const forgetStrays = {
  event: forget('event', {
    place: 'partitions.event_default',
    age: 'created_at',
    fits: `sequence is not null and (follower is null or sequence <= (select min(sequence) from follower_position)) and ${inRealTime('old')}`,
  }),
  webhook_delivery: forget('webhook_delivery', {
    place: 'partitions.webhook_delivery_default',
    age: 'created_at',
    fits: `status <> 'pending' and ${keyed('event', 'event_id')}`,
  }),
  webhook_attempt: forget('webhook_attempt', {
    place: 'partitions.webhook_attempt_default',
    age: 'created_at',
    fits: keyed('webhook_delivery', 'delivery_id'),
  }),
} as const;

/** Alerts that somebody resolved. What is still wrong is found and raised again. */
export const forgetAlerts = forget('alert', { age: 'raised_at', fits: 'resolved_at < $1' });

/** Lines of registries; the run and its differences stay. */
export const forgetLines: Statement = {
  name: 'retention.reconciliation_line',
  text: `with forgotten as (delete from reconciliation_line where ctid = any (array(
      select line.ctid from reconciliation_run as run join reconciliation_line as line on line.run_id = run.id
      where run.created_at < $1 and run.status = 'matched' limit $2 for update of line skip locked)) returning 1)
    select count(*)::int as count from forgotten`,
};

/** Small enough that a batch is over in milliseconds. */
const batchMost_rows = 1_000;
/** And so many batches in one run: the next one goes on. */
const batches_max = 200;

/** Removes what is older than `cutoff`, a batch at a time; gives how many rows went. */
export const forgetOlder = async (runner: Runner, statement: Statement, cutoff: Temporal.Instant, stopping: AbortSignal): Promise<number> => {
  let removed = 0;
  for (let batch = 0; batch < batches_max && !stopping.aborted; batch += 1) {
    const [row] = await run<{ count: number }>(runner, statement, [cutoff, batchMost_rows]);
    removed += row?.count ?? 0;
    if ((row?.count ?? 0) < batchMost_rows) break;
  }
  return removed;
};
