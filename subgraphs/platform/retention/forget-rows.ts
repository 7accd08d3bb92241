/**
 * Rows that are deleted one by one: old ones in the default partitions, lines of registries,
 * resolved alerts. Always few at a time, oldest first, skipping locked rows, so that no session
 * waits.
 */
import type pg from 'pg';
import { platformMerchantId } from '../../rules/ids.ts';
import {
  notDeadLetter,
  notDeadLetterOfPlatform,
  deadLettersOfPlatform,
  workBatch,
  type Subject,
} from '../alerts/dead-letters.ts';
import { inRealTime } from '../clock/due.ts';
import { ConsumerOffsetEntity } from '../database/entities.ts';
import { emOn } from '../database/orm-connections.ts';
import { ownersStatement, type Owner } from '../database/sql-file.ts';
import { inTransaction, run } from '../database/statement.ts';

interface OldRows {
  /** Absent: the name of the table. */
  readonly name?: string;
  /** The rows, with the alias `old`. Absent: those of the table. */
  readonly from?: string;
  readonly age: string;
  readonly fits?: string;
  /** The same for the rows of one merchant, with numbers of the coordinator in `$4` and `$5`. */
  readonly fitsMerchant?: string;
  /** A row's name within its merchant. */
  readonly subject: string;
  /** Whether the rows are the platform's, of no merchant. */
  readonly isPlatforms?: boolean;
}

/**
 * The statements that remove old rows of a table, oldest first, skipping locked rows and those that
 * were set aside.
 */
const forgotten = (
  table: string,
  {
    name = table,
    from = `${table} as old`,
    age,
    fits = 'true',
    fitsMerchant,
    subject,
    isPlatforms = false,
  }: OldRows,
) => {
  const task = `forget-${name}`;
  const merchant = isPlatforms ? `'${platformMerchantId}'` : 'old.merchant_id';
  const notDead = isPlatforms
    ? notDeadLetterOfPlatform(task, subject)
    : notDeadLetter(task, merchant, subject);
  const rowsWhere = (where: string): string =>
    `from ${from} where ${age} < $1 and ${where} order by ${age}`;
  const rows = rowsWhere(`${fits} and ${notDead}`);
  // Within an `or` Citus does not find the merchant of one table by that of another.
  const fitsOne = (fitsMerchant ?? fits).replaceAll('old.merchant_id', '$3');
  const [whose, removed] = isPlatforms
    ? ['', `${fits} and not (array[${subject}, '*'] && $3::text[])`]
    : [
        'merchant_id = $3 and ',
        `old.merchant_id = $3 and ${fitsOne} and ${notDeadLetter(task, '$3', subject)}`,
      ];
  return {
    name,
    /** The task under which a row is set aside that cannot be removed. */
    task,
    /** Whose the `$2` oldest are, and how many. Null: they are the platform's. */
    owners: isPlatforms
      ? null
      : ownersStatement(`retention.${name}_owners`, `select old.merchant_id ${rows} limit $2`),
    /**
     * Removes up to `$2` rows that are older than `$1`; gives their `count`. Of the merchant `$3`,
     * and for events up to the numbers `$4` and `$5` that everybody has passed; of the platform's
     * rows those without the names `$3` that were set aside.
     */
    remove: {
      name: `retention.${name}`,
      text: `with forgotten as (delete from ${table} where ${whose}ctid = any (array(select old.ctid ${rowsWhere(removed)} limit $2 for update of old skip locked)) returning 1)
        select count(*)::int as count from forgotten`,
    },
    /** Whether `$4` and `$5` are taken. */
    isByNumbers: fitsMerchant !== undefined,
    /** The oldest row that is older than `$1`, as it would be set aside. */
    first: {
      name: `retention.${name}_first`,
      text: `select ${merchant} as "merchantId", ${subject} as "subjectId" ${rows} limit 1`,
    },
  };
};

export type Forgotten = ReturnType<typeof forgotten>;

const stray = (
  name: string,
  subject: string,
  fits: string,
  more: Pick<OldRows, 'fitsMerchant'> = {},
): Forgotten =>
  forgotten(`partitions.${name}_default`, { name, age: 'old.created_at', fits, subject, ...more });

/** SQL: an event that the totals have counted, and that its consumers have consumed. */
const isPassed = (consumed: string, counted: string): string =>
  `sequence is not null and (follower is null or sequence <= ${consumed})
      and sequence <= ${counted} and ${inRealTime('old')}`;

const keyed = (table: string, id: string): string =>
  `not exists (select 1 from ${table} as first where first.merchant_id = old.merchant_id and first.id = old.${id} and first.created_at = old.created_at)`;

/**
 * What landed in a default partition: test clocks that stand far away, and months that began
 * without a partition. In the order in which they are removed.
 */
export const forgetDefaultPartitions = {
  event: stray(
    'event',
    'old.id::text',
    isPassed(
      '(select min(sequence) from consumer_offset)',
      `(select sequence from consumer_offset where consumer = 'totals')`,
    ),
    { fitsMerchant: isPassed('$4', '$5') },
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

/** Resolved alerts. A problem that persists is found and raised again. */
export const forgetAlerts = forgotten('alert', {
  age: 'old.raised_at',
  fits: 'resolved_at < $1',
  subject: 'old.id::text',
});

/** Lines of registries; the run and its differences stay. */
export const forgetLines = forgotten('reconciliation_line', {
  from: 'reconciliation_run as run join reconciliation_line as old on old.run_id = run.id',
  age: 'run.created_at',
  fits: `run.status = 'matched'`,
  subject: `old.run_id || '/' || old.part || '/' || old.line`,
  isPlatforms: true,
});

/** Digests of a report's parts, with its lines. */
export const forgetParts = forgotten('reconciliation_part', {
  from: 'reconciliation_run as run join reconciliation_part as old on old.run_id = run.id',
  age: 'run.created_at',
  fits: `run.status = 'matched'`,
  subject: `old.run_id || '/' || old.part`,
  isPlatforms: true,
});

/** Resolved differences; unresolved ones stay. */
export const forgetDifferences = forgotten('reconciliation_difference', {
  age: 'old.found_at',
  fits: 'old.resolved_at < $1',
  subject: 'old.id::text',
});

/**
 * Ended operations of the simulated bank: they are queried no more, and a refund is a separate
 * operation. An operation that saved a card stays, because charges of the card use it.
 */
export const forgetTestOperations = forgotten('simulator_operation', {
  age: 'old.created_at',
  fits: `(exists (select 1 from payment where payment.merchant_id = old.merchant_id and payment.id = old.operation_id
        and payment.status not in ('pending', 'processing', 'authorized') and payment.kind is null)
      or exists (select 1 from refund where refund.merchant_id = old.merchant_id and refund.id = old.operation_id and refund.status <> 'pending')
      or exists (select 1 from payout where payout.merchant_id = old.merchant_id and payout.id = old.operation_id and payout.status <> 'pending'))`,
  subject: 'old.operation_id::text',
});

/** Orders of holds, after the operation that they belong to. */
export const forgetHoldOrders = forgotten('simulator_hold_order', {
  age: 'old.created_at',
  fits: `not exists (select 1 from simulator_operation as held where held.merchant_id = old.merchant_id and held.operation_id = old.payment_id)`,
  subject: 'old.operation_id::text',
});

/** How calls to banks went. */
export const forgetBankHealth = forgotten('bank_health', {
  age: 'old.at',
  subject: `old.connector || '/' || old.operation || '/' || old.method || '/' || old.process`,
  isPlatforms: true,
});

/**
 * Idempotency keys; those of a shop with a test clock, whose time says nothing of their age, when
 * the clock is gone. A key is the merchant's own text: a row that is set aside is named by the
 * key's digest.
 */
export const forgetKeys = forgotten('idempotency_key', {
  age: 'old.created_at',
  fits: inRealTime('old'),
  subject: `old.mode || '/' || md5(old.key)`,
});

/** Rows that were set aside and have not failed again since they were due. */
export const forgetDeadLetters = forgotten('dead_letter', {
  age: 'old.due_at',
  subject: `old.task || '/' || old.subject_id`,
});

export const forgetTraces = forgotten('subject_trace', {
  age: 'old.created_at',
  subject: 'old.subject_id::text',
});

/** Small enough that a batch is over in milliseconds. */
const batch_max_rows = 1_000;
/** And so many batches in one run: the next one continues. */
const batches_max = 200;

/** The numbers up to which all consumers have come, and up to which the totals have. */
const passedNumbers = async (client: pg.PoolClient): Promise<readonly (bigint | null)[]> => {
  const offsets = await emOn(client).findAll(ConsumerOffsetEntity, {
    orderBy: { sequence: 'asc' },
  });
  const totals = offsets.find(({ consumer }) => consumer === 'totals');
  return [offsets[0]?.sequence ?? null, totals?.sequence ?? null];
};

/** Removes up to `limit` rows, each merchant's by a statement of its own: all of them or none. */
const removeOldest = (
  pool: pg.Pool,
  { task, owners, remove, isByNumbers }: Forgotten,
  cutoff: Temporal.Instant,
  limit: number,
): Promise<number> =>
  inTransaction(pool, async (client) => {
    const removeRows = async (most: number, ...values: readonly unknown[]): Promise<number> =>
      (await run<{ count: number }>(client, remove, [cutoff, most, ...values]))[0]?.count ?? 0;
    if (!owners) return removeRows(limit, await deadLettersOfPlatform(client, task));
    const passed = isByNumbers ? await passedNumbers(client) : [];
    let removed = 0;
    for (const { merchantId, count } of await run<Owner>(client, owners, [cutoff, limit]))
      removed += await removeRows(count, merchantId, ...passed);
    return removed;
  });

/**
 * Removes up to `limit` rows that are older than `cutoff`, and sets aside what cannot be removed;
 * gives how many went, and how many it could have been.
 */
export const forgetBatch = (
  pool: pg.Pool,
  rows: Forgotten,
  cutoff: Temporal.Instant,
  limit: number,
): Promise<{ result: number; limit: number }> =>
  workBatch(pool, {
    task: rows.task,
    limit,
    work: (some) => removeOldest(pool, rows, cutoff, some),
    first: async () => (await run<Subject>(pool, rows.first, [cutoff]))[0] ?? null,
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
