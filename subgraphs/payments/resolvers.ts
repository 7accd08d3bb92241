/** The payments subgraph's resolvers: from GraphQL to a verb, and back. */
import type {
  MutationResolvers,
  PaymentResolvers,
  QueryResolvers,
  Resolvers,
  BankReceiptInput,
} from '../../schema/generated/payments.ts';
import { givenReceipt } from '../acquirers/receipt-terms.ts';
import { isOfAll, merchantOf, orThrow } from '../platform/access/access.ts';
import type { Principal } from '../platform/access/principal.ts';
import { writeEntry, type Acting } from '../platform/database/audit.ts';
import { openKnownMerchants } from '../platform/database/known-merchants.ts';
import { foundTotalField, totalField, exactly, oneOf } from '../platform/database/lists.ts';
import { reachOf } from '../platform/database/reach.ts';
import { inTransaction } from '../platform/database/statement.ts';
import type { SubgraphDeps } from '../platform/graph/build-subgraph.ts';
import { mayReadOfShop, ownOnly } from '../platform/graph/entities.ts';
import { pageAddress } from '../platform/access/keys.ts';
import { failureTexts } from '../rules/failure-code.ts';
import { isUuid } from '../rules/ids.ts';
import { isRefusal, refuse } from '../rules/refusal.ts';
import { askBank } from './bank-answers/ask-bank.ts';
import { openRefresh } from './bank-answers/refresh-payment.ts';
import { checkoutMutations, checkoutFields, checkoutQueries } from './checkout/resolvers.ts';
import {
  openShownPayments,
  callerOf,
  sellerOf,
  type PaymentsDeps,
  type ReadingDeps,
} from './parts.ts';
import { capturePayment } from './holds/capture-payment.ts';
import { madeThrough } from './links/store-link.ts';
import { linkFields, linkMutations, linkQueries } from './links/resolvers.ts';
import { noteMutations, notesOf } from './notes/resolvers.ts';
import { recordNotified, type NotifiedEnd } from './receipts/apply-receipt-answer.ts';
import {
  receiptFields,
  receiptMutations,
  receiptQueries,
  receiptsOf,
} from './receipts/resolvers.ts';
import {
  recurringFields,
  recurringMutations,
  recurringQueries,
} from './recurring/create-payment.ts';
import {
  refundDraftFields,
  refundDraftMutations,
  refundDraftQueries,
} from './refund-drafts/resolvers.ts';
import { refundFields, refundMutations, refundQueries } from './refunds/resolvers.ts';
import { capturableOf, capturedOf, mayHaveRefunds, netOf } from './rules/amounts.ts';
import { sendRefund } from './refunds/send-refund.ts';
import { consoleMetadata, isLateSuccess } from './rules/payment.ts';
import { cancelOrRelease } from './cancel-payment.ts';
import { createPayment } from './create-payment.ts';
import type { Payment, Refund } from './entities.ts';
import {
  findNamed,
  loadPayments,
  loadRefunds,
  pageOfPayments,
  refundedInPart,
  rowsOfPayment,
} from './find-payments.ts';
import { searchPayments } from './search-payments.ts';
import { findRefunds } from './store-payment.ts';

/** Whether a payment or refund may be read by its key: also by the buyer of the payment. */
const mayReadOfPayment = (principal: Principal, row: Payment | Refund): boolean => {
  if (principal.kind !== 'buyer') return mayReadOfShop(principal, row);
  return (
    principal.merchantId === row.merchantId &&
    principal.paymentId === ('paymentId' in row ? row.paymentId : row.id)
  );
};

// How the service has a bank asked at once, when the bank says that something has happened. The
// access table lets only the service itself in.

const notifiedEnd = (
  { merchantId, paymentId, type, amount, failureReason, ...fiscal }: BankReceiptInput,
  now: Temporal.Instant,
): NotifiedEnd => {
  const { fiscalStorageNumber, fiscalDocumentNumber, fiscalAttribute, registeredAt } = fiscal;
  const base = { merchantId, paymentId, type, amount };
  if (!fiscalStorageNumber || !fiscalDocumentNumber || !fiscalAttribute)
    return { ...base, answer: { kind: 'failed', reason: failureReason ?? 'no reason was given' } };
  const numbers = { fiscalStorageNumber, fiscalDocumentNumber, fiscalAttribute };
  return {
    ...base,
    answer: { kind: 'registered', ...numbers, registeredAt: registeredAt ?? now },
  };
};

/** The mutations behind a bank's notification of a payment, a refund or a receipt. */
const bankMutations = ({ database, banks, wakeRelay }: PaymentsDeps): MutationResolvers => ({
  bankReceiptRecord: async (_, { input }, { now }) => {
    const recorded = await recordNotified(database, notifiedEnd(input, now()), now());
    wakeRelay();
    return recorded;
  },
  bankPaymentAsk: async (_, { merchantId, id, connector }, { now }) => {
    const [payment] = await loadPayments(database.pool, [{ merchantId, id }]);
    if (payment?.mode !== 'live') return false;
    const key = { merchantId, paymentId: id };
    const asked = await askBank(database, banks, key, now(), connector ?? null);
    const pending = (await findRefunds(database.pool, [payment])).filter(
      ({ status, bankRef }) => status === 'pending' && bankRef !== null,
    );
    for (const refund of pending)
      await sendRefund(database, banks, { merchantId, refundId: refund.id }, now());
    wakeRelay();
    return !isRefusal(asked);
  },
});

// Captures and cancellations: from GraphQL to a verb, and back.

/** The mutations by which keys and people capture and cancel payments. */
const holdMutations = (deps: ReadingDeps): MutationResolvers => {
  const { database, banks, customers, wakeRelay, askLater } = deps;
  /** Publishes a change, and queries the bank about an open result. */
  const changed = (payment: Payment, now: Temporal.Instant): void => {
    wakeRelay();
    askLater(payment, now);
  };
  return {
    paymentCapture: async (
      _,
      { id, amount, receipt, idempotency, merchantId },
      { principal, requestId, now },
    ) => {
      const calling = await callerOf(deps, principal, { id, merchantId }, now);
      if (isRefusal(calling)) return calling;
      const given = givenReceipt(customers, receipt, calling.now);
      if (isRefusal(given)) return given;
      const asked = { paymentId: id, amount: amount ?? null, receipt: given };
      const request = { ...asked, requestId, idempotency };
      const captured = await capturePayment(database, banks, calling.caller, request, calling.now);
      if (isRefusal(captured)) return captured;
      const { made: payment, replayed } = captured;
      if (!replayed) changed(payment, calling.now);
      return { __typename: 'PaymentCaptured', payment, idempotent: replayed };
    },
    paymentCancel: async (_, { id, merchantId }, { principal, requestId, now }) => {
      if (!isUuid(id)) return refuse('not_found', 'there is no such payment');
      const calling = await callerOf(deps, principal, { id, merchantId }, now);
      if (isRefusal(calling)) return calling;
      const asked = { paymentId: id, requestId };
      const payment = await cancelOrRelease(database, banks, calling.caller, asked, calling.now);
      if (isRefusal(payment)) return payment;
      changed(payment, calling.now);
      return { __typename: 'PaymentCancelled', payment };
    },
  };
};

export const paymentsSubgraph = (
  opened: PaymentsDeps,
): SubgraphDeps & { name: 'payments'; resolvers: Resolvers } => {
  const parts: ReadingDeps = {
    ...opened,
    refresh: openRefresh(opened),
    shown: openShownPayments(),
  };
  return {
    name: 'payments',
    resolvers: {
      Payment: paymentFields(parts),
      Refund: refundFields(parts),
      RefundDraft: refundDraftFields(parts),
      Checkout: checkoutFields(parts),
      RecurringPayment: recurringFields,
      PaymentLink: linkFields,
      PaymentConnection: foundTotalField,
      RefundConnection: totalField,
      RefundDraftConnection: totalField,
      ReceiptConnection: totalField,
      Receipt: receiptFields(parts),
      Query: {
        ...queries(parts),
        ...refundQueries(parts),
        ...refundDraftQueries(parts),
        ...checkoutQueries(parts),
        ...recurringQueries(parts),
        ...linkQueries(parts),
        ...receiptQueries(parts),
      },
      Mutation: {
        ...mutations(parts),
        ...holdMutations(parts),
        ...refundMutations(parts),
        ...refundDraftMutations(parts),
        ...checkoutMutations(parts),
        ...recurringMutations(parts),
        ...bankMutations(parts),
        ...linkMutations(parts),
        ...receiptMutations(parts),
        ...noteMutations(parts),
      },
    },
    areMerchants: openKnownMerchants(parts.database.pool),
    entities: {
      Payment: ownOnly(
        (references) => loadPayments(parts.database.pool, references),
        mayReadOfPayment,
      ),
      Refund: ownOnly(
        (references) => loadRefunds(parts.database.pool, references),
        mayReadOfPayment,
      ),
    },
  };
};

const paymentFields = ({ database, ...parts }: PaymentsDeps): PaymentResolvers => {
  const refundsOf = rowsOfPayment(database.pool, findRefunds);
  const receipts = receiptsOf({ database });
  const notes = notesOf({ database });
  return {
    net: (payment) => netOf(payment),
    capture: ({ capture }) => capture ?? 'automatic',
    onDecline: ({ onDecline }) => onDecline ?? 'return',
    amountCapturable: (payment) => capturableOf(payment),
    amountCaptured: (payment) => capturedOf(payment),
    lateSuccess: (payment) => isLateSuccess(payment),
    metadata: (payment, _, { principal }) =>
      principal.kind === 'operator' ? consoleMetadata(payment) : payment.metadata,
    refunds: (payment, _, context) =>
      mayHaveRefunds(payment) ? refundsOf(context).load(payment) : [],
    receipts: (payment, _, context) =>
      mayHaveRefunds(payment) ? receipts(context).load(payment) : [],
    notes: (payment, _, context) => notes(context).load(payment),
    paymentUrl: ({ merchantId, id }) => pageAddress(parts, { merchantId, paymentId: id }),
    shop: ({ merchantId, shopId }) => ({ merchantId, id: shopId }),
    merchant: ({ merchantId }) => ({ id: merchantId }),
  };
};

const queries = ({ refresh, ...parts }: ReadingDeps): QueryResolvers => ({
  payment: async (_, { id, merchantId }, { principal, now }) => {
    const payment = await findNamed(parts.database.pool, {
      merchantId: merchantOf(principal, merchantId),
      id,
    });
    return payment && mayReadOfShop(principal, payment) ? refresh(payment, now()) : null;
  },
  payments: async (_, { status, filter, ...asked }, { principal }) => {
    const rows = [
      oneOf('payment.method', filter?.method),
      oneOf('payment.bank_name', filter?.bank),
      madeThrough(filter?.linkId),
      oneOf('payment.failure_code', filter?.failureCode),
      refundedInPart(filter?.partlyRefunded),
      exactly('payment.order_id', filter?.orderId),
      exactly('payment.customer_id', filter?.customerId),
    ];
    const request = { ...asked, filter, columns: { status }, rows };
    return orThrow(await pageOfPayments(parts.database.pool, principal, request));
  },
  paymentSearch: async (_, { search, merchantId, ...page }, { principal }) => {
    // A key searches its own mode alone: `includeTest` is the registry's.
    const reach = isOfAll(principal, merchantId)
      ? null
      : await reachOf(parts.database.pool, principal, merchantId, principal.kind !== 'key');
    return orThrow(await searchPayments(parts.database.pool, reach, search, page));
  },
});

/**
 * Records that a person made a test payment. It is written after the payment: a crash between the
 * two loses an entry about no money.
 */
const recordMaking = (
  { database }: Pick<ReadingDeps, 'database'>,
  acting: Acting,
  { merchantId, id, shopId, mode, amount, currency }: Payment,
): Promise<void> =>
  inTransaction(database.pool, (client) =>
    writeEntry(
      client,
      acting,
      { action: 'payment.create', merchantId, id },
      { before: null, after: { shopId, mode, amount, currency } },
    ),
  );

const mutations = (deps: ReadingDeps): MutationResolvers => ({
  paymentCreate: async (_, { input, idempotency, merchantId, shopId }, context) => {
    const { principal, now } = context;
    const seller = await sellerOf(deps, principal, { merchantId, shopId, mode: 'test' }, now);
    if (isRefusal(seller)) return seller;
    const created = await createPayment(deps, seller.shop, { input, idempotency }, seller.now);
    if (isRefusal(created)) return created;
    const { payment, replayed } = created;
    if (principal.kind === 'operator' && !replayed) await recordMaking(deps, context, payment);
    if (!replayed) {
      deps.wakeRelay('soon');
      deps.shown.keep({ payment, rateBps: null });
    }
    return {
      __typename: 'PaymentCreated',
      payment,
      paymentUrl: pageAddress(deps, { merchantId: payment.merchantId, paymentId: payment.id }),
      mode: payment.mode,
      idempotent: replayed,
      simulator: payment.plannedOutcome,
      bank: payment.mode === 'live' ? payment.bankName : null,
      bankRef: payment.mode === 'live' ? payment.bankRef : null,
      failureCode: payment.failureCode,
      failureMessage: payment.failureCode && failureTexts[payment.failureCode],
    };
  },
});
