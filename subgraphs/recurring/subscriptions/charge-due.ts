/**
 * Charges what is due. A charge is written before payments is called, under a key derived from the
 * charge, so a period is charged once despite crashes and repeated runs. The jobs only wake this
 * code: it finds due charges itself.
 */
import type pg from 'pg';
import type { Timeline } from '../../platform/clock/due.ts';
import {
  eachAlone,
  isPassing,
  putDeadLetter,
  reportDeadLetter,
} from '../../platform/alerts/dead-letters.ts';
import { isRefusal } from '../../rules/refusal.ts';
import type { Logger } from '../../platform/tracing/telemetry.ts';
import { askCharge, paymentOf, standingOf } from './ask-charge.ts';
import { takeRound } from './begin-charges.ts';
import type { Payments } from '../ask-payments.ts';
import type { Token, Subscription, SubscriptionCharge } from '../entities.ts';
import { loadTokens, loadSubscriptions } from '../find-recurring.ts';
import { chargeEnd } from '../rules/subscription.ts';
import { settleCharges, type ChargeNews, type ChargePayment } from './settle-charges.ts';
import { dueAsks, noteAsked } from './store-subscription.ts';

export interface ChargingDeps {
  readonly pool: pg.Pool;
  readonly payments: Payments;
  readonly log: Logger;
}

/** Subscriptions of a round. */
const page_max = 256;
/** Charges at once: those of one merchant share the statements that write them. */
const concurrentCharges_max = 64;

/** A charge with what it is made from. */
interface Asking {
  readonly charge: SubscriptionCharge;
  readonly subscription: Subscription;
  readonly token: Token;
}

/** In turns: the first charge of each merchant, then the second of each. */
const byTurns = (charges: readonly SubscriptionCharge[]): readonly SubscriptionCharge[] => {
  const turns = new Map<string, number>();
  const placed = charges.map((charge) => {
    const turn = turns.get(charge.merchantId) ?? 0;
    turns.set(charge.merchantId, turn + 1);
    return { charge, turn };
  });
  return placed.toSorted((one, other) => one.turn - other.turn).map(({ charge }) => charge);
};

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
      await putDeadLetter(
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

/**
 * Whether a charge may still be requested: not after its subscription was cancelled or paused, or
 * its saved method revoked.
 */
const mayBeMade = ({ charge: { kind }, subscription: { status }, token }: Asking): boolean =>
  kind === 'subscription_init' ||
  ((status === 'active' || status === 'past_due') && token.status === 'active');

/** What became of a charge that may not be asked for any more; unasked, it is dropped. */
const madeBefore = async (
  { payments }: ChargingDeps,
  { charge }: Asking,
): Promise<ChargePayment> => {
  const { merchantId, createdAt } = charge;
  const [made] = await payments.read([{ merchantId, id: paymentOf(charge) }]);
  return made
    ? standingOf(made)
    : { id: null, status: 'cancelled', failureCode: null, at: createdAt };
};

/** Asks for the payment of one charge. Rejects when there was no answer. */
const ask = async (deps: ChargingDeps, asking: Asking): Promise<ChargePayment> => {
  if (!mayBeMade(asking)) return madeBefore(deps, asking);
  const { payments, log } = deps;
  const { charge, subscription, token } = asking;
  const asked = await askCharge(payments, charge, subscription, token);
  if (!isRefusal(asked)) return standingOf(asked.payment);
  // Nothing was charged. The operator may correct the cause (a route, a block) before the next
  // attempt.
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
 * Requests the payments of charges, several at once, and applies the outcomes. Charges without an
 * answer stay and are requested again. Returns how many were answered.
 */
const askFor = async (
  deps: ChargingDeps,
  charges: readonly SubscriptionCharge[],
): Promise<number> => {
  const news: ChargeNews[] = [];
  const failures: unknown[] = [];
  const left = (await withParts(deps.pool, byTurns(charges))).values();
  const askSome = async (): Promise<void> => {
    for (const asking of left) {
      try {
        news.push({ charge: asking.charge, payment: await ask(deps, asking) });
      } catch (error) {
        failures.push(error);
        // Its lease leaves it alone.
        if (!isPassing(error))
          await reportDeadLetter(deps.pool, dueAsks.task, subjectOf(asking.charge), error);
      }
    }
  };
  await Promise.all(Array.from({ length: concurrentCharges_max }, askSome));
  if (failures.length > 0)
    deps.log.warn(
      { charges: failures.length, err: failures[0] },
      'the payments subgraph did not answer about charges; retrying',
    );
  const open = news.filter((payment) => !isFinal(payment));
  await noteAsked(
    deps.pool,
    open.map(({ charge }) => charge),
  );
  await settleAll(deps.pool, news.filter(isFinal));
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
  deps: ChargingDeps,
  clock: () => Temporal.Instant,
  { timeline = null, stopping, limit = page_max }: ChargeDueOptions = {},
): Promise<number> => {
  let asked = 0;
  const isStopped = (): boolean => stopping?.aborted === true;
  let isShared = false;
  const except = new Set<string>();
  // What was just charged may be due again: after an outage, periods are made up for one after the
  // other.
  for (let more = true; more && !isStopped();) {
    const options = { timeline, limit, isShared, except: [...except] };
    const round = await takeRound(deps.pool, clock(), options);
    // A merchant with a hundred thousand due charges must not delay the others.
    isShared ||= timeline === null && round.isFull;
    const answered = round.charges.length > 0 ? await askFor(deps, round.charges) : 0;
    asked += round.charges.length;
    // While payments are away, no more charges are begun than one round for each turn; but the
    // round may have been of a merchant who fails alone, so that the others have one of theirs.
    const isAway = answered === 0 && round.charges.length > 0;
    more = round.more && (!isAway || (isShared && except.size === 0));
    if (isAway) for (const { merchantId } of round.charges) except.add(merchantId);
  }
  return asked;
};
