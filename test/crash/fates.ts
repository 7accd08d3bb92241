/**
 * What happens to the payments of the crash test, and what must be seen of each when all is over.
 */

/**
 * What happens to the payment of an index: some are refunded, at once, late or never by the bank;
 * some succeed after they had failed; some are held first, and captured or released.
 */
export type Fate =
  | 'kept'
  | 'refunded'
  | 'refunded late'
  | 'refund pending'
  | 'late success'
  | 'captured'
  | 'captured late'
  | 'released';
const fates: readonly Fate[] = [
  'kept',
  'refunded',
  'refunded late',
  'kept',
  'refund pending',
  'late success',
  'kept',
  'refunded',
  'captured',
  'released',
  'captured late',
];
export const fateOf = (index: number): Fate => fates[index % fates.length] ?? 'kept';

/** How much is refunded: the last two digits say when the simulated bank does it. */
export const refundOf: Readonly<Partial<Record<Fate, number>>> = {
  refunded: 600,
  'refunded late': 307,
  'refund pending': 106,
};

/** How much of a hold is captured; the last two digits say when. */
export const captureOf: Readonly<Partial<Record<Fate, number>>> = {
  captured: 900,
  'captured late': 807,
};

/** Whether the bank holds the money of a fate's payment first. */
export const isHeld = (fate: Fate): boolean => fate === 'released' || captureOf[fate] !== undefined;

/** The bank refuses, and approves a second later. */
export const contradicted = { simulator_outcome: 'failed', simulator_callbacks: 'contradictory' };

/** Whether the buyer of a payment is done. */
export const isOver = ({ status }: { status: string }): boolean =>
  !['pending', 'processing'].includes(status);

/**
 * How the buyer of an index pays: some by a method whose order needs nothing of them when it is
 * given again.
 */
export const methodOf = (index: number): 'cards' | 'sbp' | 'tpay' => {
  if (index % 5 === 3 && !isHeld(fateOf(index))) return 'sbp';
  return index % 7 === 2 ? 'tpay' : 'cards';
};

/**
 * Whether a sale was lost to a kill, which no kill may do: what the bank has not seen is given to
 * it again.
 */
export const isLost = ({ metadata }: any): boolean =>
  metadata.failure_code === 'processing_error' || metadata.failure_code === 'session_expired';

/** Whether a payment has come to rest, with all that the bank will ever do about it. */
export const isAtRest = (fate: Fate, payment: any): boolean => {
  if (!isOver(payment) || payment.status === 'authorized') return false;
  if (fate === 'late success')
    return (
      payment.metadata.late_success === 'true' &&
      payment.refunds.length > 0 &&
      payment.refunds[0].status === 'succeeded'
    );
  // A refund whose call was cut off is done by a sweep.
  const isGivenBack = fate === 'refunded' || fate === 'refunded late';
  return !isGivenBack || payment.refunds[0]?.status === 'succeeded';
};

/**
 * The status and the refunds that a payment of a fate must have, and the webhooks that it must have
 * caused.
 */
export const expectedOf = (fate: Fate, payment: any): { seen: string; webhooks: string[] } => {
  const amount = refundOf[fate];
  if (isHeld(fate)) {
    const status = fate === 'released' ? 'cancelled' : 'succeeded';
    return { seen: status, webhooks: ['payment.authorized', `payment.${status}`] };
  }
  if (fate === 'late success')
    return {
      seen: `failed succeeded ${payment.amount}`,
      webhooks: ['payment.failed', 'payment.refunded'],
    };
  if (amount === undefined) return { seen: 'succeeded', webhooks: ['payment.succeeded'] };
  if (fate === 'refund pending')
    return { seen: `succeeded pending ${amount}`, webhooks: ['payment.succeeded'] };
  return {
    seen: `succeeded succeeded ${amount}`,
    webhooks: ['payment.refunded', 'payment.succeeded'],
  };
};
