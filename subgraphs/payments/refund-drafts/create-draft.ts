/**
 * Proposes a refund, which another person makes by approving it. Its terms are checked like those
 * of a refund; limits of people and the bank are checked on approval. No money moves.
 */
import type pg from 'pg';
import { reason_max_chars } from '../../../schema/limits.ts';
import { insertTerms, termsRow, type GivenReceipt } from '../../acquirers/receipt-terms.ts';
import {
  claimOf,
  createOnce,
  type Created,
  type IdempotencyArgument,
} from '../../platform/database/idempotency.ts';
import type { ListedPage } from '../../platform/database/lists.ts';
import { newRowId, propertyNames } from '../../platform/database/statement.ts';
import { openDraftStore, proposedBy } from '../../platform/drafts/drafts.ts';
import { isRefusal, refuse, type Refusal, textMistake } from '../../rules/refusal.ts';
import type { PersonCaller } from '../parts.ts';
import { type RefundDraft, RefundDraftEntity } from '../entities.ts';
import { lockPayment } from '../lock-payment.ts';
import { agreedRefund } from '../refunds/refund-payment.ts';

interface RefundDraftRequest {
  readonly paymentId: string;
  /** Null or 0: the whole remainder. */
  readonly amount: bigint | null;
  /** For the approver, and for the refund. */
  readonly reason: string;
  /** The refunded items; null: those of the payment's own receipt. */
  readonly receipt: GivenReceipt | null;
  readonly requestId: string;
  readonly idempotency: IdempotencyArgument;
}

// The store of proposed refunds.

export type RefundDraftPage = ListedPage<RefundDraft>;

/** The store. Always lock a payment before a draft of its refund. */
export const refundDrafts = openDraftStore<RefundDraft>({
  entity: RefundDraftEntity.class,
  name: 'refund_draft',
  names: propertyNames(RefundDraftEntity),
  shown: ({ status, amount, currency, paymentId, mode, reason, rejectReason }) => ({
    status,
    amount,
    currency,
    payment: paymentId,
    mode,
    reason: rejectReason ?? reason,
  }),
  insert: (em, draft) => em.insert(RefundDraftEntity, draft),
  update: (em, key, draft) => em.nativeUpdate(RefundDraftEntity, key, draft),
});

/**
 * Proposes a refund, or finds the draft that an earlier call with the same idempotency key created.
 * Refuses as a refund does, with `bad_request` also an empty reason and too many pending drafts.
 */
export const createRefundDraft = async (
  pool: pg.Pool,
  caller: PersonCaller,
  { requestId, idempotency, ...asked }: RefundDraftRequest,
  at: Temporal.Instant,
): Promise<Created<RefundDraft> | Refusal> => {
  const { merchantId, shopId, mode, principal } = caller;
  const { paymentId, amount, reason, receipt } = asked;
  const named = { paymentId, amount, reason, ...(receipt ? { receipt: receipt.terms } : {}) };
  const claim = claimOf(idempotency, 'refundDraftCreate', named);
  if (isRefusal(claim)) return claim;
  const mistake = textMistake('reason', reason.trim(), 1, reason_max_chars);
  if (mistake) return refuse('bad_request', mistake);
  const id = newRowId();
  const find = async (made: string): Promise<RefundDraft | null> =>
    (await refundDrafts.load(pool, [{ merchantId, id: made }]))[0] ?? null;
  const creation = { caller, claim, resourceId: id, at, find };
  return createOnce(pool, creation, async (client): Promise<RefundDraft | Refusal> => {
    const locked = await lockPayment(client, { merchantId, paymentId }, at);
    const agreed = await agreedRefund(client, locked, { caller, amount, receipt });
    if (isRefusal(agreed)) return agreed;
    const limit = await refundDrafts.limitRefusal(client, caller);
    if (limit) return limit;
    const draft: RefundDraft = {
      merchantId,
      id,
      paymentId,
      shopId,
      mode,
      amount: agreed.amount,
      currency: agreed.payment.currency,
      reason: reason.trim(),
      receiptTermsId: receipt ? id : null,
      ...proposedBy(principal.subject, at),
    };
    if (!(await refundDrafts.insert(client, draft)))
      return refuse('not_found', 'there is no such shop');
    const whose = { ...draft, subjectId: id };
    await insertTerms(client, receipt ? [termsRow(receipt, whose)] : []);
    const acting = { principal, requestId, now: () => at };
    await refundDrafts.record(client, acting, 'create', { before: null, after: draft });
    return draft;
  });
};
