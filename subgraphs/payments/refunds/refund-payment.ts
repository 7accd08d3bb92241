/**
 * Refunds a payment (docs/contract.md#refunds). The refund is written and its money reserved before
 * the bank is called. A crash in between leaves a pending refund whose order is repeated under the
 * same id, so the bank refunds once.
 */
import { reason_max_chars } from '../../../schema/limits.ts';
import { newRowId } from '../../platform/database/new-id.ts';
import type { Banks } from '../../acquirers/route.ts';
import {
  answerUnderKey,
  claimOf,
  type IdempotencyArgument,
} from '../../platform/database/idempotency.ts';
import { metadataMistakes, textMistake } from '../../rules/texts.ts';
import { isUuid } from '../../rules/ids.ts';
import type { Database } from '../../platform/database/orm.ts';
import { withinBound } from '../../ledger/bound.ts';
import { isRefusal, refuse, refuseMistakes, type Refusal } from '../../rules/refusal.ts';
import type { PaymentCaller } from '../caller.ts';
import type { Refund } from './entities.ts';
import type { GivenReceipt } from '../../acquirers/receipts/given-receipt.ts';
import { openRefund } from './open-refund.ts';
import { sendRefund } from './send-refund.ts';

interface RefundRequest {
  readonly paymentId: string;
  /** Null or 0: the whole remainder. */
  readonly amount: bigint | null;
  readonly reason: string | null;
  /** The caller's own pairs; absent: none. */
  readonly metadata?: Record<string, string>;
  /** The refunded items; absent: those of the payment's own receipt. */
  readonly receipt?: GivenReceipt | null;
  /** For the audit log. */
  readonly requestId?: string;
  readonly idempotency?: IdempotencyArgument;
}

interface CreatedRefund {
  readonly refund: Refund;
  /** Whether an earlier call with the same key created it. */
  readonly replayed: boolean;
}

/** The refusal where a balance stands at its lower bound. */
export const beyondBound = refuse(
  'insufficient_balance',
  'the refund would take the available balance below -(2^53-1)',
);

/**
 * Creates a refund of a payment of the caller's and orders it at the bank, or finds the one that
 * an earlier call with the same idempotency key created, once the bank has answered that. Gives it
 * as it is then: final when the bank decided at once, else pending. Refuses with `not_found`, `bad_request`,
 * `payment_not_succeeded`, `already_refunded`, `amount_exceeds_remainder`, `insufficient_balance`
 * (of a balance at its lower bound), `route_not_configured`, or about the key.
 */
export const refundPayment = async (
  database: Database,
  banks: Banks,
  caller: PaymentCaller,
  request: RefundRequest,
  now: Temporal.Instant,
): Promise<CreatedRefund | Refusal> => {
  const { idempotency, requestId: _, receipt = null, ...input } = request;
  const named = { ...input, ...(receipt ? { receipt: receipt.terms } : {}) };
  const claim = claimOf(idempotency, 'refundCreate', named, true);
  if (claim && isRefusal(claim)) return claim;
  if (!isUuid(request.paymentId)) return refuse('not_found', 'there is no such payment');
  const { paymentId, amount, reason, metadata = null, requestId = '' } = request;
  const wrong = refuseMistakes([
    textMistake('reason', reason, 0, reason_max_chars),
    ...metadataMistakes(metadata),
  ]);
  if (wrong) return wrong;
  const { merchantId } = caller;
  const id = newRowId();
  const claimed = { caller, claim, resourceId: id };
  const asked = { banks, paymentId, amount, reason, metadata, receipt, requestId, at: now };
  const making = openRefund(database.pool, { ...claimed, ...asked });
  const created = await withinBound(making, beyondBound);
  if (isRefusal(created)) return created;
  if (created.replayed) return { refund: created.made, replayed: true };
  const refund = await answerUnderKey(
    database.pool,
    claimed,
    async () =>
      (await sendRefund(database, banks, { merchantId, refundId: id }, now)) ?? created.made,
  );
  return { refund, replayed: false };
};
