/**
 * Expires payments whose link or session has ended (docs/contract.md#payment-states). Thousands may
 * end in one minute: a round locks them, skips rows that are locked by others, and writes all in
 * one statement. A session is queried once more before it expires, so that an unknown success is
 * not lost. A bank that does not answer delays no other payment and is queried again later.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Banks } from '../acquirers/route.ts';
import { dueOn, type Timeline } from '../platform/clock/due.ts';
import { eachMerchant } from '../platform/database/sql-file.ts';
import type { Database } from '../platform/database/orm.ts';
import { workBatch } from '../platform/alerts/dead-letters.ts';
import { columns, inTransaction, run, type Statement } from '../platform/database/statement.ts';
import { nextQuestionAfterEnd } from '../rules/banks.ts';
import type { FailureCode } from '../rules/failure-code.ts';
import { askBank } from './bank-answers/ask-bank.ts';
import { statusChange } from './change-payment.ts';
import type { Payment } from './entities.ts';
import { paymentMove, earlyOrderAskAt, type PaymentTrigger } from './rules/payment.ts';
import {
  type PaymentChange,
  paymentNames,
  storePayments,
  type PaymentKey,
} from './store-payment.ts';

/** How many payments one round takes. */
const round_max = 500;
/** How many last questions are asked at once, and how long a round waits for the answers. */
const questionsAtOnce = 100;
const answersPatience_ms = 2_000;

/** Links that end at a known moment. */
export const linkEnds = dueOn<Payment>({
  name: 'payment_links',
  table: 'payment',
  at: 'expires_at',
  columns: columns(paymentNames),
  where: `status = 'pending'`,
  locked: true,
});

/** Sessions that end at a known moment. */
export const sessionEnds = dueOn<PaymentKey>({
  name: 'payment_sessions',
  table: 'payment',
  at: 'processing_until',
  columns: 'merchant_id as "merchantId", id as "paymentId"',
  where: `status = 'processing'`,
});

const sessionsStillDue: Statement = {
  name: 'payment.sessions_still_due',
  text: `select ${columns(paymentNames)} from payment where merchant_id = $2 and id = any ($3::uuid[])
    and status = 'processing' and processing_until <= $1 for update skip locked`,
};

interface Ending {
  readonly trigger: PaymentTrigger & ('link_elapsed' | 'session_elapsed');
  readonly failureCode: FailureCode;
  /** When the bank is asked whether it was paid after all. */
  readonly askAt: (before: Payment) => Temporal.Instant | null;
}

const expired = (
  before: Payment,
  { trigger, failureCode, askAt }: Ending,
  now: Temporal.Instant,
): PaymentChange => {
  const status = paymentMove(before.status, trigger);
  if (!status) throw new Error(`payment ${before.id} is ${before.status} and was found as due`);
  const metadata = { ...before.metadata, failure_code: failureCode };
  return statusChange(now, {
    status,
    failureCode,
    finalizedAt: now,
    askAt: askAt(before),
    step: null,
    stepUrl: null,
    metadata,
  });
};

const expire = (
  client: pg.PoolClient,
  due: readonly Payment[],
  ending: Ending,
  now: Temporal.Instant,
): Promise<number> =>
  storePayments(
    client,
    due.map((before) => ({ before, change: expired(before, ending, now) })),
    now,
  );

/** One round of links, at most so many; gives how many were due. */
const expireLinks = (
  database: Database,
  timeline: Timeline,
  now: Temporal.Instant,
  limit: number,
): Promise<number> =>
  inTransaction(database.pool, async (client) => {
    const due = await linkEnds.due(client, timeline, now, limit);
    const ending: Ending = {
      trigger: 'link_elapsed',
      failureCode: 'link_expired',
      askAt: (payment) => earlyOrderAskAt(payment, now),
    };
    await expire(client, due, ending, now);
    return due.length;
  });

/**
 * Asks about sessions that are due to end. A question that fails is one without an answer; one that
 * is answered later is applied when it is.
 */
const askOnceMore = async (
  database: Database,
  banks: Banks,
  due: readonly PaymentKey[],
  now: Temporal.Instant,
): Promise<void> => {
  const left = due.values();
  const ask = async (): Promise<void> => {
    for (const key of left) await askBank(database, banks, key, now).catch(() => {});
  };
  const answers = Promise.all(Array.from({ length: Math.min(questionsAtOnce, due.length) }, ask));
  await Promise.race([answers, delay(answersPatience_ms, undefined, { ref: false })]);
};

/** One round of sessions, at most so many, each asked about first; gives how many were due. */
const expireSessions = async (
  database: Database,
  banks: Banks,
  timeline: Timeline,
  now: Temporal.Instant,
  limit: number,
): Promise<number> => {
  const due = await sessionEnds.due(database.pool, timeline, now, limit);
  if (due.length === 0) return 0;
  await askOnceMore(database, banks, due, now);
  const ending: Ending = {
    trigger: 'session_elapsed',
    failureCode: 'session_expired',
    askAt: () => nextQuestionAfterEnd(now, now),
  };
  await inTransaction(database.pool, async (client) => {
    const left = await eachMerchant(due, (own, merchantId) =>
      run<Payment>(client, sessionsStillDue, [
        now,
        merchantId,
        own.map(({ paymentId }) => paymentId),
      ]),
    );
    await expire(client, left, ending, now);
  });
  return due.length;
};

/** Expires what is due on a timeline, in rounds, until nothing is; gives how many were seen. */
export const expirePayments = async (
  database: Database,
  banks: Banks,
  clock: () => Temporal.Instant,
  timeline: Timeline = null,
): Promise<number> => {
  const { pool } = database;
  for (let seen = 0; ;) {
    const now = clock();
    const links = await workBatch(pool, {
      task: linkEnds.task,
      limit: round_max,
      work: (limit) => expireLinks(database, timeline, now, limit),
      first: () => linkEnds.first(pool, timeline, now),
    });
    const sessions = await workBatch(pool, {
      task: sessionEnds.task,
      limit: round_max,
      work: (limit) => expireSessions(database, banks, timeline, now, limit),
      first: () => sessionEnds.first(pool, timeline, now),
    });
    seen += links.result + sessions.result;
    if (links.result < links.limit && sessions.result < sessions.limit) return seen;
  }
};
