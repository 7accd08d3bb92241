/**
 * Work on rows of many merchants where one failure does not stop the others. A row on which a task
 * fails is set aside as a dead letter: the task skips it for a while, which grows from seconds to an
 * hour, and an alert names it. The same run continues with the other rows. A failure that affects all rows, such
 * as an unavailable database, sets nothing aside.
 */
import { raw } from '@mikro-orm/core';
import { Counter } from 'prom-client';
import * as v from 'valibot';
import { raiseAlert } from './alerts.ts';
import { metrics } from '../tracing/telemetry.ts';
import { isDatabaseLost, errorCode } from '../tracing/error-code.ts';
import { DeadLetterEntity } from '../database/entities.ts';
import { emOn } from '../database/orm-connections.ts';
import { run, type Runner, type Statement } from '../database/statement.ts';
import { platformMerchantId } from '../../rules/ids.ts';

/** What a task failed at. */
export interface Subject {
  readonly merchantId: string;
  /** The row's id, or another name of it, within the merchant. */
  readonly subjectId: string;
}

const deadLettersTotal = new Counter({
  name: 'dead_letters_total',
  help: 'Rows that a background task failed to process and skips for a while, by task.',
  labelNames: ['task'],
  registers: [metrics],
});

/** In the place of a row's name: everything of the merchant. */
const everything = '*';

/**
 * SQL: a task has not set the row aside. `merchant` and `subject` are expressions over it. A value
 * and not a join, so that rows are still found in the order of their index, however many wait: the
 * table is nearly always empty.
 */
export const notDeadLetter = (task: string, merchant: string, subject: string): string =>
  `coalesce((select max(dead_letter.due_at) <= now() from dead_letter where dead_letter.merchant_id = ${merchant} and dead_letter.task = '${task}'
    and dead_letter.subject_id in (${subject}, '${everything}')), true)`;

/** The same as a condition of the ORM, over rows of one merchant, or of all of them (null). */
export const isNoDeadLetter = (task: string, merchantId: string | null) =>
  merchantId === null
    ? raw((row) => notDeadLetter(task, `${row}.merchant_id`, `${row}.id::text`))
    : raw((row) => notDeadLetter(task, '?', `${row}.id::text`), [merchantId]);

/** 5 seconds, twice as long after each failure, up to an hour. */
const pauses_s: readonly number[] = Array.from({ length: 12 }, (_, tries) =>
  Math.min(5 * 2 ** tries, 3_600),
);

/**
 * SQL: the same for a row of the platform. What is set aside is read once, apart from the rows:
 * they are in tables of the coordinator where those of merchants are sharded.
 */
export const notDeadLetterOfPlatform = (task: string, subject: string): string =>
  `not (array[${subject}, '${everything}'] && array(select dead_letter.subject_id from dead_letter
    where dead_letter.merchant_id = '${platformMerchantId}' and dead_letter.task = '${task}' and dead_letter.due_at > now()))`;

/** The names of the platform's rows that a task has set aside. */
export const deadLettersOfPlatform = async (
  runner: Runner,
  task: string,
): Promise<readonly string[]> => {
  const waiting = { merchantId: platformMerchantId, task, dueAt: { $gt: Temporal.Now.instant() } };
  return (await emOn(runner).find(DeadLetterEntity, waiting)).map(({ subjectId }) => subjectId);
};

// The moments come from the program: a shard evaluates nothing that hangs on the session.
const put: Statement = {
  name: 'dead_letter.put',
  text: `insert into dead_letter (merchant_id, task, subject_id, tries, due_at) values ($1, $2, $3, 1, ($4::timestamptz[])[1])
    on conflict (merchant_id, task, subject_id) do update set tries = dead_letter.tries + 1,
      due_at = ($4::timestamptz[])[least(dead_letter.tries + 1, ${pauses_s.length})]`,
};

/**
 * PostgreSQL's deadlock, failed serialization, lock that was not to be had, and cancelled
 * statement: the next try may succeed.
 */
const passingStates: ReadonlySet<string> = new Set(['40P01', '40001', '55P03', '57014']);

const unavailable = v.object({ extensions: v.object({ code: v.literal('unavailable') }) });

/**
 * Whether an error is unrelated to the row: the database or a subgraph is away, or another session
 * was in the way.
 */
export const isPassing = (error: unknown): boolean => {
  if (isDatabaseLost(error) || passingStates.has(errorCode(error))) return true;
  return error instanceof Error && v.is(unavailable, error);
};

/**
 * What of an error may stand in an alert: its kind and the names in it. Its message may hold the
 * row's values.
 */
const described = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown error';
  const names = ['table', 'constraint', 'routine'].flatMap((name) => {
    const value: unknown = Object.getOwnPropertyDescriptor(error, name)?.value;
    return typeof value === 'string' ? [`${name} ${value}`] : [];
  });
  return [error.name, errorCode(error), ...names].filter((part) => part !== '').join(' ');
};

/**
 * Counts a row that was set aside, and raises the alert `dead_letter`, one for each task and
 * merchant.
 */
export const reportDeadLetter = async (
  runner: Runner,
  task: string,
  { merchantId, subjectId }: Subject,
  error: unknown,
): Promise<void> => {
  deadLettersTotal.inc({ task });
  const detail = `the task ${task} fails at ${subjectId} (${described(error)}); it leaves that alone, and tries again by itself after a while that grows to an hour`;
  const alert = {
    kind: 'dead_letter',
    shopId: null,
    mode: null,
    detail,
    fields: { task, row: subjectId, error: described(error) },
    at: Temporal.Now.instant(),
  } as const;
  // Where the merchant's own alerts are what fails, the platform's takes its place.
  await raiseAlert(runner, { ...alert, merchantId, subjectId: task }).catch(() =>
    raiseAlert(runner, { ...alert, merchantId: null, subjectId: `${task}/${merchantId}` }),
  );
};

/** Sets a row aside at which a task failed, and raises an alert. */
export const putDeadLetter = async (
  runner: Runner,
  task: string,
  subject: Subject,
  error: unknown,
): Promise<void> => {
  const now = Temporal.Now.instant();
  const moments = pauses_s.map((seconds) => now.add({ seconds }));
  await run(runner, put, [subject.merchantId, task, subject.subjectId, moments]);
  await reportDeadLetter(runner, task, subject, error);
};

/**
 * Does `work` for every item, up to `limit` at once; an item that fails is set aside. Rejects at
 * the end with what failed, when all others are done.
 */
export const eachAlone = async <Item>(
  runner: Runner,
  {
    task,
    limit,
    subjectOf,
  }: { readonly task: string; readonly limit: number; readonly subjectOf: (item: Item) => Subject },
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
): Promise<void> => {
  const left = items.values();
  const failures: unknown[] = [];
  const attempt = async (item: Item): Promise<void> => {
    try {
      await work(item);
    } catch (error) {
      failures.push(error);
      if (!isPassing(error))
        await putDeadLetter(runner, task, subjectOf(item), error).catch((further: unknown) =>
          failures.push(further),
        );
    }
  };
  const take = async (): Promise<void> => {
    for (const item of left) await attempt(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, take));
  if (failures.length > 0)
    throw new AggregateError(failures, `${task}: ${failures.length} of ${items.length} failed`);
};

/** A batch of rows in one statement or transaction; one row may make all of it fail. */
export interface Batch<Result> {
  readonly task: string;
  readonly limit: number;
  /**
   * Works so many rows at most, the oldest first, passing over what was set aside. All of it
   * happens or nothing, and its locks are released when the work rejects.
   */
  readonly work: (limit: number) => Promise<Result>;
  /** The row that `work(1)` would work; null when there is none. */
  readonly first: () => Promise<Subject | null>;
}

/** So many rows are set aside by one run at most: when more fail, it is hardly the rows. */
const deadLetters_max = 20;
/**
 * When so many of one merchant fail in one run, everything of that merchant is set aside: one by
 * one, thousands of them would hold up the others.
 */
const ofMerchant_max = 3;

/**
 * Processes a batch. When it fails it is made smaller until the failing row is alone, which is set
 * aside; then it continues. Returns the result of the first batch that succeeds, and how many rows
 * that one could have had.
 */
export const workBatch = async <Result>(
  runner: Runner,
  { task, limit, work, first }: Batch<Result>,
): Promise<{ result: Result; limit: number }> => {
  const failed: string[] = [];
  for (let size = limit; ;) {
    try {
      return { result: await work(size), limit: size };
    } catch (error) {
      if (isPassing(error)) throw error;
      if (size > 1) {
        size = Math.max(1, Math.floor(size / 4));
        continue;
      }
      const subject = await first();
      if (!subject || failed.length === deadLetters_max) throw error;
      failed.push(subject.merchantId);
      const isOneOfMany =
        failed.filter((merchantId) => merchantId === subject.merchantId).length >= ofMerchant_max;
      await putDeadLetter(
        runner,
        task,
        isOneOfMany ? { ...subject, subjectId: everything } : subject,
        error,
      );
      size = limit;
    }
  }
};
