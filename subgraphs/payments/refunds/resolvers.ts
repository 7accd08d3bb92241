/** Refunds: from GraphQL to a verb, and back. */
import type {
  MutationResolvers,
  QueryResolvers,
  RefundResolvers,
} from '../../../schema/generated/payments.ts';
import { GraphQLError } from 'graphql';
import { isRefusal, refuse } from '../../rules/refusal.ts';
import { ofPaymentId, oneOf } from '../../platform/database/lists.ts';
import { orThrow } from '../../platform/access/access.ts';
import { settleBefore } from '../bank-answers/refresh-payment.ts';
import { callerOf, type PaymentCaller, type PaymentsDeps, type ReadingDeps } from '../parts.ts';
import type { Refund } from '../entities.ts';
import { loadRefunds, pageOfRefunds, paymentOfRow } from '../find-payments.ts';
import { givenPartReceipt } from '../receipts/part-receipt.ts';
import { readSupportMax, refundPayment } from './refund-payment.ts';
import { retryRefund } from './return-late-payment.ts';

/** The fields of a refund that are no columns. */
export const refundFields = ({ database }: PaymentsDeps): RefundResolvers => {
  const paymentOf = paymentOfRow<Refund>(database.pool);
  return {
    failReason: ({ failReason }) => failReason ?? '',
    metadata: ({ metadata }) => metadata ?? {},
    payment: (refund, _, context) => paymentOf(context).load(refund),
  };
};

/** The registry of refunds. */
export const refundQueries = (deps: PaymentsDeps): QueryResolvers => ({
  refunds: async (_, { status, filter, ...asked }, { principal }) => {
    const ofPayment = orThrow(ofPaymentId('refund.payment_id', filter?.paymentId));
    const rows = [oneOf('refund.fail_reason', filter?.failReason), ofPayment];
    const request = { ...asked, filter, columns: { status }, rows };
    return orThrow(await pageOfRefunds(deps.database.pool, principal, request));
  },
});

/** Publishes a change, and queries the bank about an open result. */
export const changedRefund = (
  { wakeRelay, sendRefundLater }: ReadingDeps,
  refund: Refund,
  at: Temporal.Instant,
): void => {
  wakeRelay();
  sendRefundLater(refund, at);
};

/** Support whose merchant lets it refund nothing has no right to, like a lower role. */
const assertMayRefund = async (
  { database }: Pick<ReadingDeps, 'database'>,
  caller: PaymentCaller,
): Promise<void> => {
  if (caller.kind !== 'person' || caller.principal.role !== 'support') return;
  if ((await readSupportMax(database.pool, caller.merchantId)) > 0n) return;
  throw new GraphQLError('this operation needs the role finance; support proposes a refund', {
    extensions: { code: 'forbidden' },
  });
};

/** The mutations for refunds by keys and people, and for operators who repeat a refused refund. */
export const refundMutations = (deps: ReadingDeps): MutationResolvers => ({
  refundCreate: async (
    _,
    { paymentId, amount, reason, receipt, metadata, idempotency, merchantId },
    { principal, requestId, now },
  ) => {
    const { database, banks } = deps;
    const calling = await callerOf(deps, principal, { id: paymentId, merchantId }, now);
    if (isRefusal(calling)) return calling;
    const { caller, now: at } = calling;
    await assertMayRefund(deps, caller);
    const given = await givenPartReceipt(deps, caller, paymentId, receipt, at);
    if (isRefusal(given)) return given;
    const request = {
      paymentId,
      amount: amount ?? null,
      reason: reason ?? null,
      receipt: given,
      ...(metadata ? { metadata } : {}),
      requestId,
      idempotency,
    };
    await settleBefore(deps, caller, paymentId, at);
    const created = await refundPayment(database, banks, caller, request, at);
    if (isRefusal(created)) return created;
    const { refund, replayed } = created;
    if (!replayed) changedRefund(deps, refund, at);
    return { __typename: 'RefundCreated', refund, idempotent: replayed };
  },
  refundRetry: async (_, { merchantId, id }, { principal, requestId, now }) => {
    const { database, banks } = deps;
    const [failed] = await loadRefunds(database.pool, [{ merchantId, id }]);
    if (!failed) return refuse('not_found', 'there is no such refund');
    const calling = await callerOf(deps, principal, { id: failed.paymentId, merchantId }, now);
    if (isRefusal(calling)) return calling;
    const acting = { principal, requestId, now: () => calling.now };
    const refund = await retryRefund(database, banks, acting, failed, calling.now);
    if (isRefusal(refund)) return refund;
    changedRefund(deps, refund, calling.now);
    return { __typename: 'RefundRetried', refund };
  },
});
