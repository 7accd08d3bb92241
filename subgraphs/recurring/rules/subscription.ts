/**
 * A subscription's life. The table decides every status; nothing else does.
 *
 * Periods are numbered from 1; period 0 is the trial, whose charge is the verification. A
 * subscription is charged for one period at a time: the next one waits until the charge of the one
 * before is settled, and is made up for then.
 */
import { enums } from '../../../schema/generated/enums.ts';
import { failureCodes, type FailureCode } from '../../rules/failure-code.ts';
import { movesBy } from '../../rules/moves.ts';
import { dateOf, firstIndexAfter, type Schedule, type SchedulePeriod } from './schedule.ts';

/* Maps the status of a charge's payment to its subscription. */

/**
 * How a charge ended; `dropped`: the merchant cancelled the payment, and the period is not charged.
 */
export type ChargeEnd =
  | { readonly kind: 'succeeded' }
  | { readonly kind: 'failed'; readonly failureCode: FailureCode | null }
  | { readonly kind: 'dropped' };

export type PaymentStatus = (typeof enums.PaymentStatus)[number];

/**
 * The end of a charge by its payment's status; null while it is not final. An expired payment moved
 * no money, so it counts as failed.
 */
export const chargeEnd = (
  status: PaymentStatus,
  failureCode: FailureCode | null,
): ChargeEnd | null => {
  switch (status) {
    case 'pending':
    case 'processing':
    case 'authorized':
      return null;
    case 'succeeded':
    case 'refunded':
      return { kind: 'succeeded' };
    case 'failed':
    case 'expired':
      return { kind: 'failed', failureCode };
    case 'cancelled':
      return { kind: 'dropped' };
  }
};

export const subscriptionStatuses = enums.SubscriptionStatus;
export type SubscriptionStatus = (typeof subscriptionStatuses)[number];

type SubscriptionTrigger =
  | 'bound'
  | 'binding_ended'
  | 'charge_succeeded'
  | 'charge_failed'
  | 'charge_dropped'
  | 'charging_ended'
  | 'paused'
  | 'resumed'
  | 'cancelled';

const subscriptionMove = movesBy<SubscriptionStatus, SubscriptionTrigger>({
  pending: { bound: 'active', binding_ended: 'cancelled', cancelled: 'cancelled' },
  active: {
    charge_succeeded: 'active',
    charge_failed: 'past_due',
    charge_dropped: 'active',
    charging_ended: 'cancelled',
    paused: 'paused',
    cancelled: 'cancelled',
  },
  past_due: {
    charge_succeeded: 'active',
    charge_failed: 'past_due',
    charge_dropped: 'active',
    charging_ended: 'cancelled',
    paused: 'paused',
    cancelled: 'cancelled',
  },
  // What was being charged when the pause began is still answered.
  paused: {
    charge_succeeded: 'paused',
    charge_failed: 'paused',
    charge_dropped: 'paused',
    charging_ended: 'cancelled',
    resumed: 'active',
    cancelled: 'cancelled',
  },
  cancelled: {},
});

/** Why a subscription ended, when the merchant gave no reason: the words of `cancel_reason`. */
export type EndReason =
  | 'customer_cancelled'
  | 'payment_failed'
  | 'token_cancelled'
  | 'binding_expired'
  | 'binding_failed'
  | 'binding_cancelled';

/** What a decision needs to know of a subscription. */
export interface Standing {
  readonly status: SubscriptionStatus;
  readonly period: SchedulePeriod;
  readonly intervalCount: number;
  readonly trialDays: number;
  /** The first date of the schedule; null until the method is bound. */
  readonly anchorAt: Temporal.Instant | null;
  /** How many periods have begun: charged, being charged, or missed in a pause. */
  readonly periods: number;
  /** Failed charges in a row. */
  readonly failures: number;
  readonly nextChargeAt: Temporal.Instant | null;
}

/** What a decision changes of a subscription. */
export interface StandingPatch {
  readonly status?: SubscriptionStatus;
  readonly anchorAt?: Temporal.Instant;
  readonly periods?: number;
  readonly failures?: number;
  /** When the next period begins; null while nothing is scheduled. */
  readonly nextChargeAt?: Temporal.Instant | null;
  /**
   * When the sweep has something to do here: a charge or a retry; null while one is under way, and
   * when there is none to come.
   */
  readonly dueAt?: Temporal.Instant | null;
  readonly lastChargeAt?: Temporal.Instant;
  readonly pausedAt?: Temporal.Instant | null;
  readonly cancelledAt?: Temporal.Instant;
  readonly cancelReason?: string | null;
}

/** How long after the first, and after the second failure in a row. */
const retryAfter_days = [1, 3] as const;
const day_h = 24;

export const scheduleOf = ({ anchorAt, period, intervalCount }: Standing): Schedule => {
  if (!anchorAt) throw new Error('a subscription has no schedule before its method is bound');
  return { anchor: anchorAt, period, intervalCount };
};

const moved = (status: SubscriptionStatus, trigger: SubscriptionTrigger): SubscriptionStatus => {
  const to = subscriptionMove(status, trigger);
  if (!to) throw new Error(`a ${status} subscription has no move for ${trigger}`);
  return to;
};

/**
 * The method was bound by a payment that succeeded at `at`. Without a trial that was
 * the charge of the first period; with one the first charge comes when the trial is over,
 * `trial_days` of 24 hours after the binding.
 */
export const activated = (standing: Standing, at: Temporal.Instant): StandingPatch => {
  const { status, trialDays, period, intervalCount } = standing;
  const onTrial = trialDays > 0;
  const anchorAt = onTrial ? at.add({ hours: trialDays * day_h }) : at;
  const periods = onTrial ? 0 : 1;
  const nextChargeAt = dateOf({ anchor: anchorAt, period, intervalCount }, periods);
  return {
    status: moved(status, 'bound'),
    anchorAt,
    periods,
    nextChargeAt,
    dueAt: nextChargeAt,
    ...(onTrial ? {} : { lastChargeAt: at }),
  };
};

/** The charge that is due: which period it is for, and which attempt it is. */
interface DueCharge {
  readonly period: number;
  readonly attempt: number;
}

/**
 * What is due: the retry of a period whose charge failed, else the charge of the next period. With
 * what beginning it changes.
 */
export const begun = (
  standing: Standing,
): { readonly charge: DueCharge; readonly patch: StandingPatch } => {
  const { periods, failures } = standing;
  if (failures > 0)
    return { charge: { period: periods, attempt: failures + 1 }, patch: { dueAt: null } };
  const next = periods + 1;
  return {
    charge: { period: next, attempt: 1 },
    patch: { periods: next, nextChargeAt: dateOf(scheduleOf(standing), next), dueAt: null },
  };
};

/** When the buyer bound the method, and so agreed to the terms; null before. */
export const agreedAt = ({ anchorAt, trialDays }: Standing): Temporal.Instant | null =>
  anchorAt?.subtract({ hours: trialDays * day_h }) ?? null;

/** The end of a period; 0 is the trial. */
export const periodEnd = (standing: Standing, period: number): Temporal.Instant =>
  dateOf(scheduleOf(standing), period);

/** Nothing more is charged. */
export const ended = (
  standing: Pick<Standing, 'status'>,
  trigger: 'cancelled' | 'charging_ended' | 'binding_ended',
  at: Temporal.Instant,
  reason: string | null,
): StandingPatch => ({
  status: moved(standing.status, trigger),
  nextChargeAt: null,
  dueAt: null,
  pausedAt: null,
  cancelledAt: at,
  cancelReason: reason,
});

/** A soft failure: retried after one day, then after three; the third in a row ends it. */
const failedOnce = (standing: Standing, at: Temporal.Instant): StandingPatch => {
  const delay_days = retryAfter_days[standing.failures];
  if (delay_days === undefined)
    return ended(standing, 'charging_ended', at, 'payment_failed' satisfies EndReason);
  return {
    status: moved(standing.status, 'charge_failed'),
    failures: standing.failures + 1,
    dueAt: at.add({ hours: delay_days * day_h }),
  };
};

/**
 * The result of a charge's end; `at` is the moment when its payment became final. A hard decline
 * ends any subscription at once. A failure in a pause, or of a period before a pause, is not
 * retried.
 */
export const settled = (
  standing: Standing,
  { period }: Pick<DueCharge, 'period'>,
  end: ChargeEnd,
  at: Temporal.Instant,
): StandingPatch => {
  const { status, nextChargeAt } = standing;
  if (status === 'cancelled') return end.kind === 'succeeded' ? { lastChargeAt: at } : {};
  const onSchedule = { failures: 0, dueAt: status === 'paused' ? null : nextChargeAt };
  switch (end.kind) {
    case 'succeeded':
      return { status: moved(status, 'charge_succeeded'), lastChargeAt: at, ...onSchedule };
    case 'dropped':
      return { status: moved(status, 'charge_dropped'), ...onSchedule };
    case 'failed': {
      const isHard = end.failureCode !== null && failureCodes[end.failureCode] === 'hard';
      if (isHard)
        return ended(standing, 'charging_ended', at, 'payment_failed' satisfies EndReason);
      return status === 'paused' || period !== standing.periods
        ? onSchedule
        : failedOnce(standing, at);
    }
  }
};

/** A pause schedules nothing and drops a pending retry; null when the status allows none. */
export const paused = ({ status }: Standing, at: Temporal.Instant): StandingPatch | null => {
  const to = subscriptionMove(status, 'paused');
  return to ? { status: to, pausedAt: at, failures: 0, nextChargeAt: null, dueAt: null } : null;
};

/**
 * The end of a pause: dates that passed meanwhile are not charged afterwards, the next one is the
 * first that is still to come. `isCharging`: a charge from before the pause is still without an
 * answer; the next one waits for it. Null when nothing was paused.
 */
export const resumed = (
  standing: Standing,
  isCharging: boolean,
  at: Temporal.Instant,
): StandingPatch | null => {
  const to = subscriptionMove(standing.status, 'resumed');
  if (!to) return null;
  const schedule = scheduleOf(standing);
  const periods = Math.max(standing.periods, firstIndexAfter(schedule, at));
  const nextChargeAt = dateOf(schedule, periods);
  return {
    status: to,
    pausedAt: null,
    periods,
    failures: 0,
    nextChargeAt,
    dueAt: isCharging ? null : nextChargeAt,
  };
};

/**
 * What the end of the binding payment changes. Without a bound method there is nothing to charge,
 * and the subscription is cancelled with its binding, whether that expired, failed or was
 * cancelled.
 */
export const bindingSettled = (
  standing: Standing,
  status: PaymentStatus,
  at: Temporal.Instant,
): StandingPatch => {
  const isPaid = status === 'succeeded' || status === 'refunded';
  // Cancelled by the merchant while the buyer was paying: what was paid for the first period stays
  // paid.
  if (standing.status !== 'pending')
    return isPaid && standing.trialDays === 0 ? { lastChargeAt: at } : {};
  if (isPaid) return activated(standing, at);
  const end = status === 'expired' || status === 'cancelled' ? status : 'failed';
  return ended(standing, 'binding_ended', at, `binding_${end}` satisfies EndReason);
};
