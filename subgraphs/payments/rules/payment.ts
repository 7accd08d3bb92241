/**
 * A payment's life. An acquirer may refuse the order as the payment is created. A success that
 * comes too late moves nothing. The table decides every status; nothing else does.
 */
import { enums } from '../../../schema/generated/enums.ts';
import type { Mode } from '../../rules/mode.ts';
import { movesBy } from '../../rules/moves.ts';
import type { WebhookEvent } from '../../rules/event.ts';
import { minorUnits, shareOf, type MinorUnits } from '../../rules/money.ts';
import type { Metadata } from '../../rules/refusal.ts';

/*
 * The platform's commission. Amount x effective rate, rounded half up, when the payment succeeds; 0
 * for test payments.
 */

/** The fee of a payment of `amount` at `rate_bps` (200 = 2.00 %). */
export const feeOf = (mode: Mode, amount: MinorUnits, rate_bps: number): MinorUnits =>
  mode === 'test' ? minorUnits(0n) : shareOf(amount, rate_bps);

export const paymentStatuses = enums.PaymentStatus;
export type PaymentStatus = (typeof paymentStatuses)[number];

export const paymentMethods = enums.PaymentMethod;
export type PaymentMethod = (typeof paymentMethods)[number];

/** What the page does after a decline: return the buyer, or stay. */
export type OnDecline = (typeof enums.OnDecline)[number];

export type PaymentTrigger =
  | 'session_opened'
  | 'link_elapsed'
  | 'merchant_cancelled'
  | 'bank_approved'
  | 'bank_authorized'
  | 'captured'
  | 'hold_released'
  | 'hold_elapsed'
  | 'bank_declined'
  | 'session_elapsed'
  | 'fully_refunded';

export const paymentMove = movesBy<PaymentStatus, PaymentTrigger>({
  pending: {
    session_opened: 'processing',
    bank_declined: 'failed',
    link_elapsed: 'expired',
    merchant_cancelled: 'cancelled',
  },
  processing: {
    bank_approved: 'succeeded',
    bank_authorized: 'authorized',
    bank_declined: 'failed',
    session_elapsed: 'expired',
  },
  authorized: { captured: 'succeeded', hold_released: 'cancelled', hold_elapsed: 'expired' },
  succeeded: { fully_refunded: 'refunded' },
  failed: {},
  expired: {},
  cancelled: {},
  refunded: {},
});

/** Whether the buyer has nothing left to do: what their return waits for. */
export const isDoneByBuyer = (status: PaymentStatus): boolean =>
  status !== 'pending' && status !== 'processing';

/**
 * Whether the payment ended without money: a success that the bank reports afterwards comes too
 * late, and its money goes back.
 */
export const endedUnpaid = (status: PaymentStatus): boolean =>
  status === 'failed' || status === 'expired' || status === 'cancelled';

interface Ended {
  readonly status: PaymentStatus;
  readonly capturedAt: Temporal.Instant | null;
}

/**
 * Whether a success came too late and its money goes back. Derived from the payment's own history:
 * the metadata key `late_success` may be the merchant's.
 */
export const isLateSuccess = ({ status, capturedAt }: Ended): boolean =>
  endedUnpaid(status) && capturedAt !== null;

/** The metadata for consoles: a merchant's own `late_success` could be taken for ours. */
export const consoleMetadata = ({
  metadata,
  ...payment
}: Ended & { readonly metadata: Metadata }): Metadata =>
  isLateSuccess(payment)
    ? metadata
    : Object.fromEntries(Object.entries(metadata).filter(([name]) => name !== 'late_success'));

/** Whether the bank has accepted the payment, whatever became of its money since. */
export const isAccepted = (status: PaymentStatus): boolean =>
  status === 'authorized' || status === 'succeeded' || status === 'refunded';

/**
 * When the bank is asked about a payment that ended before its buyer went on: at once where an
 * order was registered, so that it is ended or watched there, too.
 */
export const earlyOrderAskAt = (
  { mode, bankRef }: { readonly mode: Mode; readonly bankRef: string | null },
  now: Temporal.Instant,
): Temporal.Instant | null => (mode === 'live' && bankRef !== null ? now : null);

/** The webhook of a new status (docs/contract.md#webhooks); null for an intermediate one. */
export const webhookOf = (status: PaymentStatus): WebhookEvent | null =>
  status === 'pending' || status === 'processing' ? null : `payment.${status}`;

/** How long a bank session lasts, whatever the method. */
export const sessionTtl_min = 20;

/** How long a session lasts at a bank where it may live `most_min` at the most. */
export const sessionLength_min = (most_min: number): number => Math.min(sessionTtl_min, most_min);

/**
 * When a session opened now at such a bank ends: never past the link's own end plus one session.
 */
export const sessionEnd = (
  now: Temporal.Instant,
  linkEnd: Temporal.Instant,
  most_min: number,
): Temporal.Instant => {
  const minutes = sessionLength_min(most_min);
  const [end, latest] = [now.add({ minutes }), linkEnd.add({ minutes })];
  return Temporal.Instant.compare(end, latest) <= 0 ? end : latest;
};

/** The merchant's address with `payment_id` and `status` (docs/contract.md#buyer-return). */
export const returnTo = (returnUrl: string, paymentId: string, status: PaymentStatus): string => {
  const [address = '', ...fragment] = returnUrl.split('#');
  const added = `${address.includes('?') ? '&' : '?'}payment_id=${paymentId}&status=${status}`;
  return fragment.length === 0 ? address + added : `${address}${added}#${fragment.join('#')}`;
};
