/**
 * Rows that go one by one: what is old in the default partitions, lines of registries, resolved
 * alerts. Always few at a time, oldest first, passing over what somebody is writing, so that nobody
 * waits.
 */
import type pg from 'pg';
import { inRealTime } from '../clock/due.ts';
import {
  notSetAside,
  notSetAsideOfPlatform,
  workBatch,
  type Subject,
} from '../alerts/set-aside.ts';
import { inTransaction, run, type Statement } from '../database/statement.ts';
import { platformMerchantId } from '../rules/platform.ts';

/** Rows that are removed when they are old. */
export interface Forgotten {
  /** The task under which a row is set aside that cannot be removed. */
  readonly task: string;
  /** Removes up to `$2` rows that are older than `$1`; gives their `count`. */
  readonly remove: Statement;
  /** The oldest row that is older than `$1`, as it would be set aside. */
  readonly first: Statement;
}

interface OldRows {
  readonly name: string;
  /** The rows, with the alias `old`. */
  readonly from: string;
  readonly age: string;
  readonly fits?: string;
  /** A row's name within its merchant. */
  readonly subject: string;
  /** Whether the rows are the platform's, of no merchant. */
  readonly isPlatforms?: boolean;
}

/**
 * The statements that remove old rows of a table, oldest first, passing over those that somebody
 * holds and those that were set aside.
 */
const forgotten = (
  table: string,
  { name, from, age, fits = 'true', subject, isPlatforms = false }: OldRows,
): Forgotten => {
  const task = `forget-${name}`;
  const merchant = isPlatforms ? `'${platformMerchantId}'` : 'old.merchant_id';
  const notAside = isPlatforms
    ? notSetAsideOfPlatform(task, subject)
    : notSetAside(task, merchant, subject);
  const rows = `from ${from} where ${age} < $1 and ${fits} and ${notAside} order by ${age}`;
  return {
    task,
    remove: {
      name: `retention.${name}`,
      text: `with forgotten as (delete from ${table} where ctid = any (array(select old.ctid ${rows} limit $2 for update of old skip locked)) returning 1)
        select count(*)::int as count from forgotten`,
    },
    first: {
      name: `retention.${name}_first`,
      text: `select ${merchant} as "merchantId", ${subject} as "subjectId" ${rows} limit 1`,
    },
  };
};

const stray = (table: string, subject: string, fits: string): Forgotten => {
  const place = `partitions.${table}_default`;
  return forgotten(place, {
    name: table,
    from: `${place} as old`,
    age: 'old.created_at',
    fits,
    subject,
  });
};

const keyed = (table: string, id: string): string =>
  `not exists (select 1 from ${table} as first where first.merchant_id = old.merchant_id and first.id = old.${id} and first.created_at = old.created_at)`;

/**
 * What landed in a default partition: test clocks that stand far away, and months that began
 * without a partition. In the order in which they are removed.
 */
export const forgetStrays = {
  event: stray(
    'event',
    'old.id::text',
    `sequence is not null and (follower is null or sequence <= (select min(sequence) from consumer_offset))
      and sequence <= (select sequence from consumer_offset where consumer = 'totals') and ${inRealTime('old')}`,
  ),
  webhook_delivery: stray(
    'webhook_delivery',
    'old.id::text',
    `status <> 'pending' and ${keyed('event', 'event_id')}`,
  ),
  webhook_attempt: stray(
    'webhook_attempt',
    `old.delivery_id || '/' || old.number`,
    keyed('webhook_delivery', 'delivery_id'),
  ),
  bank_call: stray('bank_call', 'old.id::text', 'true'),
  page_opening: stray('page_opening', 'old.payment_id::text', 'true'),
} as const;

/** Alerts that somebody resolved. What is still wrong is found and raised again. */
export const forgetAlerts = forgotten('alert', {
  name: 'alert',
  from: 'alert as old',
  age: 'old.raised_at',
  fits: 'resolved_at < $1',
  subject: 'old.id::text',
});

/** Lines of registries; the run and its differences stay. */
export const forgetLines = forgotten('reconciliation_line', {
  name: 'reconciliation_line',
  from: 'reconciliation_run as run join reconciliation_line as old on old.run_id = run.id',
  age: 'run.created_at',
  fits: `run.status = 'matched'`,
  subject: `old.run_id || '/' || old.part || '/' || old.line`,
  isPlatforms: true,
});

/** Digests of a report's parts, with its lines. */
export const forgetParts = forgotten('reconciliation_part', {
  name: 'reconciliation_part',
  from: 'reconciliation_run as run join reconciliation_part as old on old.run_id = run.id',
  age: 'run.created_at',
  fits: `run.status = 'matched'`,
  subject: `old.run_id || '/' || old.part`,
  isPlatforms: true,
});

/** Differences that were resolved; those that nobody resolved stay. */
export const forgetDifferences = forgotten('reconciliation_difference', {
  name: 'reconciliation_difference',
  from: 'reconciliation_difference as old',
  age: 'old.found_at',
  fits: 'old.resolved_at < $1',
  subject: 'old.id::text',
});

/**
 * What the simulated bank did, of what has ended: nobody asks about that any more, and a refund is
 * an operation of its own. What saved a card stays, as the card is charged by it.
 */
export const forgetTestOperations = forgotten('simulator_operation', {
  name: 'simulator_operation',
  from: 'simulator_operation as old',
  age: 'old.created_at',
  fits: `(exists (select 1 from payment where payment.merchant_id = old.merchant_id and payment.id = old.operation_id
        and payment.status not in ('pending', 'processing', 'authorized') and payment.kind is null)
      or exists (select 1 from refund where refund.merchant_id = old.merchant_id and refund.id = old.operation_id and refund.status <> 'pending')
      or exists (select 1 from payout where payout.merchant_id = old.merchant_id and payout.id = old.operation_id and payout.status <> 'pending'))`,
  subject: 'old.operation_id::text',
});

/** Orders of holds, after the operation that they belong to. */
export const forgetHoldOrders = forgotten('simulator_hold_order', {
  name: 'simulator_hold_order',
  from: 'simulator_hold_order as old',
  age: 'old.created_at',
  fits: `not exists (select 1 from simulator_operation as held where held.merchant_id = old.merchant_id and held.operation_id = old.payment_id)`,
  subject: 'old.operation_id::text',
});

/** How calls to banks went. */
export const forgetBankHealth = forgotten('bank_health', {
  name: 'bank_health',
  from: 'bank_health as old',
  age: 'old.at',
  subject: `old.connector || '/' || old.operation || '/' || old.method || '/' || old.process`,
  isPlatforms: true,
});

// A key is the merchant's own text: a row that is set aside is named by the key's digest.
export const forgetKeys = forgotten('idempotency_key', {
  name: 'idempotency_key',
  from: 'idempotency_key as old',
  age: 'old.created_at',
  subject: `old.mode || '/' || md5(old.key)`,
});

export const forgetTraces = forgotten('subject_trace', {
  name: 'subject_trace',
  from: 'subject_trace as old',
  age: 'old.created_at',
  subject: 'old.subject_id::text',
});

/** Small enough that a batch is over in milliseconds. */
const batch_max_rows = 1_000;
/** And so many batches in one run: the next one goes on. */
const batches_max = 200;

/**
 * Removes up to `limit` rows that are older than `cutoff`, and sets aside what cannot be removed;
 * gives how many went, and how many it could have been.
 */
export const forgetBatch = (
  pool: pg.Pool,
  { task, remove, first }: Forgotten,
  cutoff: Temporal.Instant,
  limit: number,
): Promise<{ result: number; limit: number }> =>
  workBatch(pool, {
    task,
    limit,
    work: (some) =>
      inTransaction(
        pool,
        async (client) =>
          (await run<{ count: number }>(client, remove, [cutoff, some]))[0]?.count ?? 0,
      ),
    first: async () => (await run<Subject>(pool, first, [cutoff]))[0] ?? null,
  });

/** Removes what is older than `cutoff`, a batch at a time; gives how many rows went. */
export const forgetOlder = async (
  pool: pg.Pool,
  rows: Forgotten,
  cutoff: Temporal.Instant,
  stopping: AbortSignal,
): Promise<number> => {
  let removed = 0;
  for (let batch = 0; batch < batches_max && !stopping.aborted; batch += 1) {
    const { result, limit } = await forgetBatch(pool, rows, cutoff, batch_max_rows);
    removed += result;
    if (result < limit) break;
  }
  return removed;
};
