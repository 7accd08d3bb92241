/** Receipts: from GraphQL to a verb, and back. */
import type {
  MutationResolvers,
  QueryResolvers,
  ReceiptResolvers,
} from '../../../schema/generated/payments.ts';
import { ofPaymentId, oneOf } from '../../platform/database/lists.ts';
import { minorUnits } from '../../rules/money.ts';
import { isRefusal, refuse } from '../../rules/refusal.ts';
import { merchantOf, orThrow } from '../../platform/access/access.ts';
import { mayReadOfShop } from '../../platform/graph/entities.ts';
import { callerOf, type PaymentsDeps } from '../parts.ts';
import { paymentOfRow, rowsOfPayment } from '../find-payments.ts';
import { closePayment, resendReceipt } from './order-receipt.ts';
import type { Receipt } from '../entities.ts';
import { givenReceipt } from '../../acquirers/receipt-terms.ts';
import { customerOf, findReceipts, loadReceipts, pageOfReceipts } from './store-receipts.ts';

export const receiptsOf = ({ database }: Pick<PaymentsDeps, 'database'>) =>
  rowsOfPayment(database.pool, findReceipts);

/** The fields of a receipt that are no columns. */
export const receiptFields = ({ database }: Pick<PaymentsDeps, 'database'>): ReceiptResolvers => {
  const paymentOf = paymentOfRow<Receipt>(database.pool);
  return {
    customer: (receipt) => customerOf(receipt),
    items: ({ items }) => items.map((item) => ({ ...item, price: minorUnits(item.price) })),
    payment: (receipt, _, context) => paymentOf(context).load(receipt),
  };
};

export const receiptQueries = (deps: PaymentsDeps): QueryResolvers => ({
  receipt: async (_, { id, merchantId }, { principal }) => {
    const [receipt] = await loadReceipts(deps.database.pool, [
      { merchantId: merchantOf(principal, merchantId), id },
    ]);
    return receipt && mayReadOfShop(principal, receipt) ? receipt : null;
  },
  receipts: async (_, { status, paymentId, filter, ...asked }, { principal }) => {
    const ofPayment = orThrow(ofPaymentId('receipt.payment_id', paymentId));
    const rows = [oneOf('receipt.type', filter?.type), ofPayment];
    const request = { ...asked, filter, columns: { status }, rows };
    return orThrow(await pageOfReceipts(deps.database.pool, principal, request));
  },
});

/** What keys and people do with receipts. */
export const receiptMutations = (deps: PaymentsDeps): MutationResolvers => ({
  receiptClose: async (
    _,
    { paymentId, receipt, idempotency, merchantId },
    { principal, requestId, now },
  ) => {
    const calling = await callerOf(deps, principal, { id: paymentId, merchantId }, now);
    if (isRefusal(calling)) return calling;
    const given = givenReceipt(deps.customers, receipt, calling.now);
    if (!given || isRefusal(given))
      return given ?? refuse('bad_request', 'receipt: must not be empty');
    const request = { paymentId, receipt: given, requestId, idempotency };
    const closed = await closePayment(deps.database, calling.caller, request, calling.now);
    if (isRefusal(closed)) return closed;
    return { __typename: 'ReceiptCreated', receipt: closed.made, idempotent: closed.replayed };
  },
  receiptResend: async (_, { id, merchantId: named }, context) => {
    const merchantId = merchantOf(context.principal, named);
    const [receipt] = await loadReceipts(deps.database.pool, [{ merchantId, id }]);
    if (!receipt || !mayReadOfShop(context.principal, receipt))
      return refuse('not_found', 'there is no such receipt');
    const { paymentId, mode } = receipt;
    const shopTime = { kind: 'payment', merchantId, id: paymentId } as const;
    const at = mode === 'test' ? await deps.clocks.timeOf(shopTime) : context.now();
    const resent = await resendReceipt(deps.database, context, { merchantId, id }, at);
    return isRefusal(resent) ? resent : { __typename: 'ReceiptResent', receipt: resent };
  },
});
