/**
 * Two-step payments (docs/contract.md#two-step-payments): the held, the capturable and the captured
 * amount.
 */
import { minorUnits, type MinorUnits } from '../../rules/money.ts';
import { refuse, type Refusal } from '../../rules/refusal.ts';
import type { PaymentStatus } from '../rules/payment.ts';

/** When the money is taken: as the buyer pays, or by a capture. */
export type CaptureMode = 'automatic' | 'manual';

/**
 * The order to a bank about a hold: capture it; release it for a merchant who cancels (`cancel`),
 * at the end of its time (`end`), or because the payment had ended before the bank held the money
 * (`give_up`).
 */
export type HoldOrderKind = 'capture' | 'cancel' | 'end' | 'give_up';

/** The fields of a payment that determine what was captured. */
export interface Capturing {
  readonly amount: bigint;
  /** Null: everything. */
  readonly amountCaptured: bigint | null;
  readonly capturedAt: Temporal.Instant | null;
}

/** What was taken of the buyer: 0 until the money came. */
export const capturedOf = ({ amount, amountCaptured, capturedAt }: Capturing): bigint =>
  capturedAt === null ? 0n : (amountCaptured ?? amount);

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
        `amount: expected at most ${payment.amount}(the held amount), got ${amount}`,
      );
};
