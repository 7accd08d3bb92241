/** What of a payment is held, captured and refunded. */
import { enums } from '../../../schema/generated/enums.ts';
import { refundReasonAbove_minor } from '../../../schema/limits.ts';
import { minorUnits, type MinorUnits } from '../../rules/money.ts';
import { movesBy } from '../../rules/moves.ts';
import { refuse, type Refusal } from '../../rules/refusal.ts';
import { endedUnpaid, type PaymentStatus } from './payment.ts';

// Two-step payments (docs/contract.md#two-step-payments): the held, the capturable and the captured
// amount.

/** When the money is taken: as the buyer pays, or by a capture. */
export type CaptureMode = 'automatic' | 'manual';

/**
 * The order to a bank about a hold: capture it; release it for a merchant who cancels (`cancel`),
 * at the end of its time (`end`), or because the payment had ended before the bank held the money
 * (`give_up`).
 */
export type HoldOrderKind = 'capture' | 'cancel' | 'end' | 'give_up';

/** The fields of a payment that determine what was captured. */
interface Capturing {
  readonly amount: bigint;
  /** Null: everything. */
  readonly amountCaptured: bigint | null;
  readonly capturedAt: Temporal.Instant | null;
}

/** What was taken of the buyer: 0 until the money came. */
export const capturedOf = ({ amount, amountCaptured, capturedAt }: Capturing): bigint =>
  capturedAt === null ? 0n : (amountCaptured ?? amount);

/** What was captured less the fee; null until the payment has succeeded. */
export const netOf = (payment: Capturing & { readonly fee: bigint | null }): bigint | null =>
  payment.fee === null ? null : capturedOf(payment) - payment.fee;

/** The fields of a payment that determine what may happen to its hold. */
interface Holding {
  readonly status: PaymentStatus;
  readonly amount: bigint;
  readonly holdOrder: HoldOrderKind | null;
  readonly captureBefore: Temporal.Instant | null;
}

/** 0 unless the payment is authorized, and 0 while the result of an order is unknown. */
export const capturableOf = (payment: Omit<Holding, 'captureBefore'>): bigint =>
  payment.status === 'authorized' && payment.holdOrder === null ? payment.amount : 0n;

/** Why nothing may be done with the hold now, in words; null when something may. */
export const holdObstacle = (
  { status, holdOrder, captureBefore }: Holding,
  now: Temporal.Instant,
): string | null => {
  if (status !== 'authorized') return `the payment is ${status}`;
  if (holdOrder !== null)
    return `the bank is still processing the ${holdOrder === 'capture' ? 'capture' : 'release'} of the payment`;
  // Over already, although the sweep has not written it yet.
  return captureBefore && Temporal.Instant.compare(captureBefore, now) <= 0
    ? 'the time to capture the payment has passed'
    : null;
};

/**
 * The amount of a capture: the requested one, or everything if it is null or 0. Refuses with
 * `payment_not_authorized` and `amount_exceeds_remainder`.
 */
export const captureAmount = (
  payment: Holding,
  asked: bigint | null,
  now: Temporal.Instant,
): { readonly amount: MinorUnits } | Refusal => {
  const obstacle = holdObstacle(payment, now);
  if (obstacle)
    return refuse(
      'payment_not_authorized',
      `${obstacle}; only an authorized payment can be captured, and only once`,
    );
  const amount = asked || payment.amount;
  return amount >= 1n && amount <= payment.amount
    ? { amount: minorUnits(amount) }
    : refuse(
        'amount_exceeds_remainder',
        `amount: expected at most ${payment.amount} (the held amount), got ${amount}`,
      );
};

// Refunds (docs/contract.md#refunds). A pending refund counts against the remainder; the merchant's
// balance does not matter.

export const refundStatuses = enums.RefundStatus;
export type RefundStatus = (typeof refundStatuses)[number];

type RefundTrigger = 'bank_approved' | 'bank_declined';

export const refundMove = movesBy<RefundStatus, RefundTrigger>({
  pending: { bank_approved: 'succeeded', bank_declined: 'failed' },
  succeeded: {},
  failed: {},
});

const reasonAbove_minor = BigInt(refundReasonAbove_minor);
/** More than this of a payment is an administrator's, in minor units: 1,000,000.00. */
const financeRefund_max_minor = 100_000_000n;

/**
 * Why a person may not make a refund after this total: `scope_required` for finance above its
 * limit, `bad_request` for a missing reason; null if they may.
 */
export const personLimit = (
  role: 'viewer' | 'support' | 'finance' | 'admin',
  sum: bigint,
  reason: string | null,
): Refusal | null => {
  if (role !== 'admin' && sum > financeRefund_max_minor)
    return refuse(
      'scope_required',
      `only the role admin can refund more than ${financeRefund_max_minor} of a payment`,
    );
  return sum > reasonAbove_minor && (reason ?? '').trim() === ''
    ? refuse(
        'bad_request',
        `reason: required to refund more than ${reasonAbove_minor} of a payment in total`,
      )
    : null;
};

interface Refundable extends Capturing {
  readonly status: PaymentStatus;
  readonly amountRefunded: bigint;
}

/** What of a refund decides how much is left. */
interface RefundPart {
  readonly status: RefundStatus;
  readonly amount: bigint;
}

/**
 * Whether a payment may have refunds, including pending ones: its money has come, in time or late.
 */
export const mayHaveRefunds = ({ capturedAt }: Pick<Capturing, 'capturedAt'>): boolean =>
  capturedAt !== null;

/** The refundable remainder: what was captured less refunds, including pending ones. */
const remainderOf = (payment: Refundable, refunds: readonly RefundPart[]): bigint => {
  const pending = refunds.reduce(
    (sum, { status, amount }) => (status === 'pending' ? sum + amount : sum),
    0n,
  );
  return capturedOf(payment) - payment.amountRefunded - pending;
};

/**
 * The amount of a new refund: the requested one, or the whole remainder if it is null or 0. Refuses
 * with `already_refunded`, `payment_not_succeeded` or `amount_exceeds_remainder`, also if pending
 * refunds leave nothing.
 */
export const refundAmount = (
  payment: Refundable,
  refunds: readonly RefundPart[],
  asked: bigint | null,
): { readonly amount: MinorUnits } | Refusal => {
  if (payment.status === 'refunded')
    return refuse('already_refunded', 'the payment is already refunded in full');
  if (payment.status !== 'succeeded')
    return refuse(
      'payment_not_succeeded',
      `the payment is ${payment.status}; only a succeeded payment can be refunded`,
    );
  const remainder = remainderOf(payment, refunds);
  const amount = asked || remainder;
  if (remainder === 0n)
    return refuse(
      'amount_exceeds_remainder',
      'nothing is left to refund: pending refunds take all of it',
    );
  if (amount >= 1n && amount <= remainder) return { amount: minorUnits(amount) };
  return refuse(
    'amount_exceeds_remainder',
    `amount: expected at most ${remainder} (the remainder), got ${amount}`,
  );
};

/**
 * Why a refund cannot be ordered again; null if it can. Only the refund of a late success can: the
 * money of other failed refunds returned to the merchant, who orders a new one.
 */
export const retryObstacle = (
  payment: Refundable,
  refunds: readonly RefundPart[],
  refund: RefundPart,
): Refusal | null => {
  if (!endedUnpaid(payment.status) || payment.capturedAt === null || refund.status !== 'failed')
    return refuse(
      'bad_request',
      `id: expected a refused automatic refund of a late success, got a refund that is ${refund.status} of a payment that is ${payment.status}`,
    );
  if (payment.amountRefunded > 0n)
    return refuse('already_refunded', 'the money has already been returned');
  return remainderOf(payment, refunds) < refund.amount
    ? refuse('amount_exceeds_remainder', 'another refund of the payment is in progress')
    : null;
};

/**
 * Why support may not make this refund by itself; null if it may. What was already refunded of the
 * payment counts, by whomever, so that no number of small refunds passes the merchant's limit.
 */
export const supportLimit = (
  payment: Refundable,
  refunds: readonly RefundPart[],
  amount: bigint,
  max: bigint,
): Refusal | null =>
  capturedOf(payment) - remainderOf(payment, refunds) + amount > max
    ? refuse(
        'scope_required',
        `support can refund at most ${max} of a payment: propose the refund instead`,
      )
    : null;

/** Whether a refund of `amount` that succeeds gives back the last of the payment. */
export const isLastOf = (payment: Refundable, amount: bigint): boolean =>
  payment.amountRefunded + amount === capturedOf(payment);
