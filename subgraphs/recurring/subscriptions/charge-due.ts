/**
 * Charges what is due. A charge is written before payments is asked to make its payment, under a
 * key that follows from the charge, so that whatever crashes or runs twice, a period is charged
 * once (decision D-65). The jobs only wake this: it finds by itself what is due.
 */
import type pg from 'pg';
import type { Timeline } from '../../kernel/clock/due.ts';
import {
  eachAlone,
  isPassing,
  setAside,
  reportSetAside,
  workBatch,
} from '../../kernel/alerts/set-aside.ts';
import { inTransaction } from '../../kernel/database/statement.ts';
import { isRefused } from '../../kernel/rules/refusal.ts';
import type { Logger } from '../../kernel/service/tracing/telemetry.ts';
import { askCharge, paymentOf, standingOf } from './ask-charge.ts';
import type { Payments } from '../ask-payments.ts';
import type { Token } from '../tokens/entities.ts';
import { loadTokens } from '../find-recurring.ts';
import { loadSubscriptions } from './find-subscriptions.ts';
import { chargeEnd } from '../rules/charge-end.ts';
import { begun, ended, type EndReason } from '../rules/subscription.ts';
import { settleCharges, type ChargeNews, type ChargePayment } from './settle-charges.ts';
import {
  dueAsks,
  dueSubscriptions,
  noteAsked,
  storeSubscriptions,
  takeAsks,
  type SubscriptionChange,
} from './store-subscription.ts';
import type { Subscription, SubscriptionCharge } from './entities.ts';

export interface ChargingParts {
  readonly pool: pg.Pool;
  readonly payments: Payments;
  readonly log: Logger;
}

/** Subscriptions of a round, and charges at once: few, so that nothing waits for the database. */
const page_max = 200;
const concurrentCharges_max = 8;

/** When a charge whose asker was lost is asked for again. Asking twice makes one payment. */
const askLease_s = 120;

/** The moment at which another may ask for a charge that is asked for now. */
export const leaseFrom = (now: Temporal.Instant): Temporal.Instant =>
  now.add({ seconds: askLease_s });

const beginning = (before: Subscription, now: Temporal.Instant): SubscriptionChange => {
  const { merchantId, id, shopId, mode, amount, currency } = before;
  const { charge, patch } = begun(before);
  const due = {
    merchantId,
    subscriptionId: id,
    ...charge,
    shopId,
    mode,
    kind: 'subscription_charge',
    amount,
    currency,
  } as const;
  const open = {
    status: 'open',
    paymentId: paymentOf(due),
    failureCode: null,
    askAt: leaseFrom(now),
    createdAt: now,
    settledAt: null,
  } as const;
  return { before, patch, charge: { ...due, ...open }, at: now };
};

/**
 * What becomes of a subscription that is due: its charge begins, or there is nothing left to
 * charge.
 */
const dueChange = (
  before: Subscription,
  token: Token | null | undefined,
  now: Temporal.Instant,
): SubscriptionChange =>
  token?.status === 'active'
    ? beginning(before, now)
    : {
        before,
        patch: ended(before, 'charging_ended', now, 'token_cancelled' satisfies EndReason),
        at: now,
      };

interface Round {
  readonly charges: readonly SubscriptionCharge[];
  /** Whether more may be due. */
  readonly more: boolean;
}

/** Begins the charges of subscriptions that are due, a page at most. */
const beginCharges = (
  pool: pg.Pool,
  now: Temporal.Instant,
  timeline: Timeline,
  limit: number,
): Promise<Round> =>
  inTransaction(pool, async (client) => {
    const due = await dueSubscriptions.due(client, timeline, now, limit);
    if (due.length === 0) return { charges: [], more: false };
    const tokens = await loadTokens(
      client,
      due.map(({ merchantId, tokenId }) => ({ merchantId, id: tokenId })),
    );
    const changes = due.map((subscription, index) => dueChange(subscription, tokens[index], now));
    const stored = await storeSubscriptions(client, changes);
    if (stored.size < due.length)
      throw new Error(
        `${due.length - stored.size} locked subscriptions were written by somebody else`,
      );
    return { charges: changes.flatMap(({ charge }) => (charge ? [charge] : [])), more: true };
  });

/**
 * Takes what a crash or an outage left unasked, and begins the charges of subscriptions that are
 * due: a page of each. A subscription that makes either fail is set aside.
 */
const takeRound = async (
  pool: pg.Pool,
  now: Temporal.Instant,
  timeline: Timeline,
  limit: number,
): Promise<Round> => {
  const left = await workBatch(pool, {
    task: dueAsks.task,
    limit,
    work: (some) =>
      inTransaction(pool, (client) =>
        takeAsks(client, timeline, { now, until: leaseFrom(now), limit: some }),
      ),
    first: () => dueAsks.first(pool, timeline, now),
  });
  const fresh = await workBatch(pool, {
    task: dueSubscriptions.task,
    limit,
    work: (some) => beginCharges(pool, now, timeline, some),
    first: () => dueSubscriptions.first(pool, timeline, now),
  });
  return {
    charges: [...left.result, ...fresh.result.charges],
    more: left.result.length > 0 || fresh.result.more,
  };
};

/** A charge with what it is made from. */
interface Asking {
  readonly charge: SubscriptionCharge;
  readonly subscription: Subscription;
  readonly token: Token;
}

/** Charges with what they are made from; one that has lost it is set aside. */
const withParts = async (
  pool: pg.Pool,
  charges: readonly SubscriptionCharge[],
): Promise<readonly Asking[]> => {
  const subscriptions = await loadSubscriptions(
    pool,
    charges.map(({ merchantId, subscriptionId }) => ({ merchantId, id: subscriptionId })),
  );
  const tokens = await loadTokens(
    pool,
    subscriptions.flatMap((subscription) =>
      subscription ? [{ merchantId: subscription.merchantId, id: subscription.tokenId }] : [],
    ),
  );
  const byId = new Map(tokens.flatMap((token) => (token ? [[token.id, token]] : [])));
  const asking: Asking[] = [];
  for (const [index, charge] of charges.entries()) {
    const subscription = subscriptions[index];
    const token = subscription && byId.get(subscription.tokenId);
    if (token) asking.push({ charge, subscription, token });
    else
      await setAside(
        pool,
        dueAsks.task,
        subjectOf(charge),
        new Error('a charge has lost its subscription or its token'),
      );
  }
  return asking;
};

const subjectOf = ({ merchantId, subscriptionId: subjectId }: SubscriptionCharge) => ({
  merchantId,
  subjectId,
});

/** Settles charges together; when that fails each by itself, and one that fails is set aside. */
const settleAll = async (pool: pg.Pool, news: readonly ChargeNews[]): Promise<void> => {
  try {
    await settleCharges(pool, news);
  } catch (error) {
    if (isPassing(error) || news.length === 0) throw error;
    await eachAlone(
      pool,
      { task: dueAsks.task, limit: 1, subjectOf: ({ charge }) => subjectOf(charge) },
      news,
      (one) => settleCharges(pool, [one]),
    );
  }
};

/** Asks for the payment of one charge. Rejects when there was no answer. */
const ask = async (
  { payments, log }: ChargingParts,
  { charge, subscription, token }: Asking,
): Promise<ChargePayment> => {
  const asked = await askCharge(payments, charge, subscription, token);
  if (!isRefused(asked)) return standingOf(asked.payment);
  // Nothing was charged. What the operator must correct (a route, a block) may be corrected before
  // the next attempt.
  const { merchantId, subscriptionId, period, attempt } = charge;
  log.warn(
    { merchantId, subscriptionId, period, attempt, code: asked.code, why: asked.message },
    'a charge of a subscription was refused',
  );
  return { id: null, status: 'failed', failureCode: 'processing_error', at: charge.createdAt };
};

const isFinal = ({ payment: { status, failureCode } }: ChargeNews): boolean =>
  chargeEnd(status, failureCode) !== null;

/**
 * Asks for the payments of charges, several at once, and brings home what came of them. What has no
 * answer stays as it is, and is asked again. Gives how many had one.
 */
const askFor = async (
  parts: ChargingParts,
  charges: readonly SubscriptionCharge[],
): Promise<number> => {
  const news: ChargeNews[] = [];
  const failures: unknown[] = [];
  const left = (await withParts(parts.pool, charges)).values();
  const askSome = async (): Promise<void> => {
    for (const asking of left) {
      try {
        news.push({ charge: asking.charge, payment: await ask(parts, asking) });
      } catch (error) {
        failures.push(error);
        // Its lease leaves it alone.
        if (!isPassing(error))
          await reportSetAside(parts.pool, dueAsks.task, subjectOf(asking.charge), error);
      }
    }
  };
  await Promise.all(Array.from({ length: concurrentCharges_max }, askSome));
  if (failures.length > 0)
    parts.log.warn(
      { charges: failures.length, err: failures[0] },
      'payments did not answer about charges; they are asked again',
    );
  const open = news.filter((payment) => !isFinal(payment));
  await noteAsked(
    parts.pool,
    open.map(({ charge }) => charge),
  );
  await settleAll(parts.pool, news.filter(isFinal));
  return news.length;
};

interface ChargeDueOptions {
  readonly timeline?: Timeline;
  readonly stopping?: AbortSignal;
  readonly limit?: number;
}

/**
 * Charges everything that is due at `clock()` on a timeline, in rounds of up to `limit`, and asks
 * again for what a crash or an outage left unasked. Ends early when `stopping` is aborted. Any
 * number of these may run at once. Gives how many charges were asked for.
 */
export const chargeDue = async (
  parts: ChargingParts,
  clock: () => Temporal.Instant,
  { timeline = null, stopping, limit = page_max }: ChargeDueOptions = {},
): Promise<number> => {
  let asked = 0;
  const isStopped = (): boolean => stopping?.aborted === true;
  // What was just charged may be due again: after an outage, periods are made up for one after the
  // other.
  for (let more = true; more && !isStopped();) {
    const round = await takeRound(parts.pool, clock(), timeline, limit);
    const answered = round.charges.length > 0 ? await askFor(parts, round.charges) : 0;
    asked += round.charges.length;
    // While payments are away, no more charges are begun than one round for each turn.
    more = round.more && (answered > 0 || round.charges.length === 0);
  }
  return asked;
};
