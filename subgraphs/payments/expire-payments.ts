/**
 * Ends what time has ended: links whose life is over, sessions without a final answer. Contract "States and transitions".
 * A session is asked about once more before it expires, so that a success that we have not heard of yet is not lost.
 */
import type { Banks } from '../kernel/banks/route.ts';
import type { Database } from '../kernel/database/orm.ts';
import { run, type Statement } from '../kernel/database/statement.ts';
import type { FailureCode } from '../kernel/rules/failure-code.ts';
import { isRefused } from '../kernel/rules/refusal.ts';
import { askBank } from './ask-bank.ts';
import { changePayment, statusEvents } from './change-payment.ts';
import { paymentMove, type PaymentTrigger } from './rules/payment.ts';
import type { PaymentKey } from './store-payment.ts';

/** How many payments one round takes, and how many of them at once. */
const roundMost = 500;
const abreast = 8;

const linksDue: Statement = {
  name: 'payment_links_due',
  text: `select merchant_id as "merchantId", id as "paymentId" from payment where status = 'pending' and expires_at <= $1 order by expires_at limit $2`,
};

const sessionsDue: Statement = {
  name: 'payment_sessions_due',
  text: `select merchant_id as "merchantId", id as "paymentId" from payment where status = 'processing' and processing_until <= $1 order by processing_until limit $2`,
};

const expire = async (database: Database, key: PaymentKey, trigger: PaymentTrigger, failureCode: FailureCode, now: Temporal.Instant): Promise<void> => {
  await changePayment(database, key, now, ({ payment }) => {
    const due = trigger === 'link_elapsed' ? payment.expiresAt : payment.processingUntil;
    const status = paymentMove(payment.status, trigger);
    if (!status || !due || Temporal.Instant.compare(due, now) > 0) return 'unchanged';
    return {
      patch: { status, failureCode, finalizedAt: now, askAt: null, step: null, stepUrl: null, metadata: { ...payment.metadata, failure_code: failureCode } },
      postings: [],
      events: (after) => statusEvents(after, [], now),
    };
  });
};

const abreastOf = async (keys: readonly PaymentKey[], work: (key: PaymentKey) => Promise<void>): Promise<void> => {
  const left = keys.values();
  await Promise.all(
    Array.from({ length: abreast }, async () => {
      for (const key of left) await work(key);
    }),
  );
};

/** Expires what is due, a round at a time, until nothing is. Returns how many were looked at. */
export const expirePayments = async (database: Database, banks: Banks, clock: () => Temporal.Instant): Promise<number> => {
  for (let seen = 0; ;) {
    const now = clock();
    const links = await run<PaymentKey>(database.pool, linksDue, [now, roundMost]);
    await abreastOf(links, (key) => expire(database, key, 'link_elapsed', 'link_expired', now));
    const sessions = await run<PaymentKey>(database.pool, sessionsDue, [now, roundMost]);
    await abreastOf(sessions, async (key) => {
      const asked = await askBank(database, banks, key, now);
      if (isRefused(asked) || asked.status === 'processing') await expire(database, key, 'session_elapsed', 'session_expired', now);
    });
    seen += links.length + sessions.length;
    if (links.length < roundMost && sessions.length < roundMost) return seen;
  }
};
