/** GraphQL resolvers for proposed refunds. */
import type {
  MutationResolvers,
  QueryResolvers,
  RefundDraftResolvers,
} from '../../../schema/generated/payments.ts';
import { ofPaymentId, oneOf } from '../../platform/database/lists.ts';
import {
  decidedFields,
  noDraft,
  ofCaller,
  personOf,
  rejectDraft,
} from '../../platform/drafts/drafts.ts';
import { isRefusal, refuse } from '../../rules/refusal.ts';
import { merchantOf, orThrow, refusal } from '../../platform/access/access.ts';
import { perCall } from '../../platform/graph/subgraph.ts';
import { settleBefore } from '../bank-answers/refresh-payment.ts';
import { callerOf, type PaymentsDeps, type ReadingDeps } from '../parts.ts';
import type { RefundDraft, Refund } from '../entities.ts';
import { loadRefunds, paymentOfRow } from '../find-payments.ts';
import { givenPartReceipt } from '../receipts/part-receipt.ts';
import { changedRefund } from '../refunds/resolvers.ts';
import { approveRefundDraft } from './approve-draft.ts';
import { createRefundDraft, refundDrafts } from './create-draft.ts';

/** The computed fields of a proposed refund. */
export const refundDraftFields = ({
  database: { pool },
}: Pick<PaymentsDeps, 'database'>): RefundDraftResolvers => {
  const refundOf = perCall<RefundDraft, Refund | null>((drafts) => loadRefunds(pool, drafts));
  const paymentOf = paymentOfRow<RefundDraft>(pool);
  return {
    ...decidedFields,
    refund: (draft, _, context) =>
      draft.status === 'approved' ? refundOf(context).load(draft) : null,
    payment: (draft, _, context) => paymentOf(context).load(draft),
  };
};

export const refundDraftQueries = ({
  database: { pool },
}: Pick<PaymentsDeps, 'database'>): QueryResolvers => ({
  refundDraft: async (_, { id, merchantId }, { principal }) =>
    (await refundDrafts.load(pool, [{ merchantId: merchantOf(principal, merchantId), id }]))[0] ??
    null,
  refundDrafts: async (_, { status, filter, ...asked }, { principal }) => {
    const rows = [
      orThrow(ofPaymentId('refund_draft.payment_id', filter?.paymentId)),
      oneOf('refund_draft.created_by', filter?.createdBy),
      ...ofCaller(refundDrafts, principal, filter?.isMine),
    ];
    const request = { ...asked, filter, columns: { status }, rows };
    return orThrow(await refundDrafts.page(pool, principal, request));
  },
});

/** The mutations of proposed refunds; such a refund needs two people. */
export const refundDraftMutations = (deps: ReadingDeps): MutationResolvers => ({
  refundDraftCreate: async (
    _,
    { merchantId, paymentId, amount, reason, receipt, idempotency },
    { principal, requestId, now },
  ) => {
    const calling = await callerOf(deps, principal, { id: paymentId, merchantId }, now);
    if (isRefusal(calling)) return calling;
    const { caller, now: at } = calling;
    if (caller.kind !== 'person') throw refusal('scope_required', 'this operation is for people');
    const given = await givenPartReceipt(deps, caller, paymentId, receipt, at);
    if (isRefusal(given)) return given;
    const asked = { paymentId, amount: amount ?? null, reason, receipt: given };
    const request = { ...asked, requestId, idempotency };
    const created = await createRefundDraft(deps.database.pool, caller, request, at);
    if (isRefusal(created)) return created;
    const { made: draft, replayed: idempotent } = created;
    return { __typename: 'RefundDraftCreated', draft, idempotent };
  },
  refundDraftApprove: async (_, key, context) => {
    const acting = personOf(context);
    const [found] = await refundDrafts.load(deps.database.pool, [key]);
    if (!found) return noDraft;
    const caller = { kind: 'person', principal: acting.principal, ...found } as const;
    await settleBefore(deps, caller, found.paymentId, context.now());
    const approved = await approveRefundDraft(deps, acting, key);
    if (isRefusal(approved)) return approved;
    const { draft, refund, replayed: idempotent } = approved;
    if (!idempotent) changedRefund(deps, refund, refund.createdAt);
    return { __typename: 'RefundDraftApproved', draft, refund, idempotent };
  },
  refundDraftReject: async (_, { merchantId, id, reason }, context) => {
    const acting = personOf(context);
    const { pool } = deps.database;
    const [found] = await refundDrafts.load(pool, [{ merchantId, id }]);
    const { role, subject } = acting.principal;
    if (found && role === 'support' && found.createdBy !== subject)
      return refuse('scope_required', 'support can withdraw only its own proposals');
    const { clocks } = deps;
    const asked = { merchantId, id, reason };
    const draft = await rejectDraft(refundDrafts, { pool, clocks }, acting, asked);
    return isRefusal(draft) ? draft : { __typename: 'RefundDraftRejected', draft };
  },
});
