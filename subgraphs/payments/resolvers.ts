/** The payments subgraph's resolvers: from GraphQL to a verb, and back. */
import type {
  MutationResolvers,
  PaymentResolvers,
  QueryResolvers,
  RefundResolvers,
  Resolvers,
} from '../../schema/generated/payments.ts';
import type { Banks } from '../kernel/banks/route.ts';
import type { TestClocks } from '../kernel/clock/test-clocks.ts';
import type { Database } from '../kernel/database/orm.ts';
import { openKnownMerchants } from '../kernel/database/known-merchants.ts';
import { isUuid } from '../kernel/rules/uuid.ts';
import { inTraceOf } from '../kernel/database/subject-trace.ts';
import type { Policies } from '../kernel/policies/policies.ts';
import { isRefused, refused, type Refused } from '../kernel/rules/refusal.ts';
import { mayReadOfShop, ownOnly } from '../kernel/service/entities.ts';
import { perCall } from '../kernel/service/graph/per-call.ts';
import type { BuyerPrincipal, Principal } from '../kernel/service/access/principal.ts';
import { keyOf, merchantOf, orThrow, refusal } from '../kernel/service/access/reach.ts';
import { reachOf } from '../kernel/database/reach.ts';
import type { SubgraphParts } from '../kernel/service/graph/build-subgraph.ts';
import { cancelPayment } from './cancel-payment.ts';
import { bankMutations } from './bank-answers/resolvers.ts';
import { checkoutView } from './checkout/checkout-view.ts';
import { createPayment } from './create-payment.ts';
import type { Payment, Refund } from './entities.ts';
import { listPayments, listRefunds, loadPayments, loadRefunds } from './find-payments.ts';
import { openSession } from './checkout/open-session.ts';
import { pageAddress, type PageParts } from './checkout/page-address.ts';
import { netOf } from './payment-view.ts';
import { chooseMethod, planOutcome } from './checkout/prepare-checkout.ts';
import { refundPayment } from './refunds/refund-payment.ts';
import { recurringFields, recurringMutations, recurringQueries } from './recurring/resolvers.ts';
import { buyerMethod } from './checkout/rules.ts';
import { consoleMetadata, isLateSuccess } from './rules/payment.ts';
import { mayHaveRefunds } from './refunds/rules.ts';
import { confirmSimulator } from './checkout/confirm-simulator.ts';
import type { RefundKey } from './refunds/send-refund.ts';
import { searchPayments } from './search-payments.ts';
import { openRefresh, settleBefore } from './bank-answers/refresh-payment.ts';
import { findPayment, findRefunds, type PaymentKey } from './store-payment.ts';

export interface PaymentsParts extends PageParts {
  readonly database: Database;
  readonly banks: Banks;
  readonly policies: Policies;
  /** What time it is for the shop of a payment that the service itself asks for. */
  readonly clocks: Pick<TestClocks, 'timeOf' | 'stands'>;
  /** Notifies the relay that the outbox has something. */
  readonly wakeRelay: () => void;
  /** Asks for the bank's answer at a moment; a lost wish is found by the sweep. */
  readonly askLater: (key: PaymentKey, delay_ms: number) => void;
  /** The same for a refund. */
  readonly sendRefundLater: (key: RefundKey, delay_ms: number) => void;
}

const buyerOf = (principal: Principal): BuyerPrincipal => {
  if (principal.kind !== 'buyer')
    throw refusal('scope_required', 'this operation is for the hosted page');
  return principal;
};

/** Whether a payment or refund may be read by its key: also by the buyer of the payment. */
const mayReadOfPayment = (principal: Principal, row: Payment | Refund): boolean => {
  if (principal.kind !== 'buyer') return mayReadOfShop(principal, row);
  return (
    principal.merchantId === row.merchantId &&
    principal.paymentId === ('paymentId' in row ? row.paymentId : row.id)
  );
};

/** What the resolvers need beside: what asks the bank when somebody reads. */
type ResolvingParts = PaymentsParts & { readonly refresh: ReturnType<typeof openRefresh> };

/** The resolvers and the entity loaders of the payments subgraph. */
export const paymentsSubgraph = (
  opened: PaymentsParts,
): SubgraphParts & { name: 'payments'; resolvers: Resolvers } => {
  const parts = { ...opened, refresh: openRefresh(opened) };
  return {
    name: 'payments',
    resolvers: {
      Payment: paymentFields(parts),
      Refund: refundFields(parts),
      RecurringPayment: recurringFields,
      Query: { ...queries(parts), ...recurringQueries(parts) },
      Mutation: {
        ...mutations(parts),
        ...checkoutMutations(parts),
        ...recurringMutations(parts),
        ...bankMutations(parts),
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

const paymentFields = ({ database, ...parts }: PaymentsParts): PaymentResolvers => {
  const refundsOf = perCall<Payment, Refund[]>(async (payments) => {
    const found = await findRefunds(database.pool, payments);
    const byPayment = Map.groupBy(found, ({ paymentId }) => paymentId);
    return payments.map(({ id }) => byPayment.get(id) ?? []);
  });
  return {
    net: (payment) => netOf(payment),
    lateSuccess: (payment) => isLateSuccess(payment),
    metadata: (payment, _, { principal }) =>
      principal.kind === 'operator' ? consoleMetadata(payment) : payment.metadata,
    refunds: (payment, _, context) =>
      mayHaveRefunds(payment) ? refundsOf(context).load(payment) : [],
    paymentUrl: ({ merchantId, id }) => pageAddress(parts, { merchantId, paymentId: id }),
    shop: ({ merchantId, shopId }) => ({ merchantId, id: shopId }),
    merchant: ({ merchantId }) => ({ id: merchantId }),
  };
};

const refundFields = ({ database }: PaymentsParts): RefundResolvers => {
  const paymentOf = perCall<Refund, Payment>(async (refunds) => {
    const payments = await loadPayments(
      database.pool,
      refunds.map(({ merchantId, paymentId }) => ({ merchantId, id: paymentId })),
    );
    return payments.map((payment, index) => {
      if (!payment) throw new Error(`refund ${refunds[index]?.id} has no payment`);
      return payment;
    });
  });
  return {
    failReason: ({ failReason }) => failReason ?? '',
    payment: (refund, _, context) => paymentOf(context).load(refund),
  };
};

/** The hosted page's view of a payment, with what was given back of it and the time of its shop. */
const viewOf = async (
  { database: { pool }, banks, clocks }: PaymentsParts,
  payment: Payment,
  now: Temporal.Instant,
) => {
  const { merchantId, id, mode } = payment;
  const view = await checkoutView(
    payment,
    mayHaveRefunds(payment) ? await findRefunds(pool, [payment]) : [],
    banks,
  );
  const clockStands = mode === 'test' && (await clocks.stands({ kind: 'payment', merchantId, id }));
  return { ...view, now, clockStands };
};

const queries = ({ refresh, ...parts }: ResolvingParts): QueryResolvers => ({
  payment: async (_, { id, merchantId }, { principal, now }) => {
    const [payment] = await loadPayments(parts.database.pool, [
      { merchantId: merchantOf(principal, merchantId), id },
    ]);
    return payment && mayReadOfShop(principal, payment) ? refresh(payment, now()) : null;
  },
  payments: async (_, { status, merchantId, includeTest, ...page }, { principal }) => {
    const reach = await reachOf(parts.database.pool, principal, merchantId, includeTest);
    return orThrow(
      await listPayments(parts.database.pool, reach, { ...page, filters: { status } }),
    );
  },
  paymentSearch: async (_, { search, merchantId, ...page }, { principal }) => {
    const everywhere =
      principal.kind === 'operator' && principal.merchantId === null && !merchantId;
    const named = everywhere
      ? null
      : await reachOf(parts.database.pool, principal, merchantId, true);
    // A key searches its own mode alone: `includeTest` is the registry's.
    const reach = named && principal.kind === 'key' ? { ...named, modes: [principal.mode] } : named;
    return orThrow(await searchPayments(parts.database.pool, reach, search, page));
  },
  refunds: async (_, { status, merchantId, ...page }, { principal }) => {
    const reach = await reachOf(parts.database.pool, principal, merchantId);
    return orThrow(await listRefunds(parts.database.pool, reach, { ...page, filters: { status } }));
  },
  checkout: async (_, __, { principal, now }) => {
    const at = now();
    const found = await findPayment(parts.database.pool, buyerOf(principal), at);
    if (!found) throw refusal('not_found', 'there is no such payment');
    return viewOf(parts, found.payment, at);
  },
});

const mutations = (parts: ResolvingParts): MutationResolvers => ({
  paymentCreate: async (_, { input, idempotency }, { principal, now }) => {
    const created = await createPayment(parts, keyOf(principal), { input, idempotency }, now);
    if (isRefused(created)) return created;
    const { payment, replayed } = created;
    if (!replayed) parts.wakeRelay();
    return {
      __typename: 'PaymentCreated',
      payment,
      paymentUrl: pageAddress(parts, { merchantId: payment.merchantId, paymentId: payment.id }),
      mode: payment.mode,
      idempotent: replayed,
      simulator: payment.plannedOutcome,
      bank: payment.mode === 'live' ? payment.bankName : null,
      bankRef: payment.mode === 'live' ? payment.bankRef : null,
      failureCode: payment.failureCode,
      failureMessage: null,
    };
  },
  paymentCancel: async (_, { id }, { principal, now }) => {
    if (!isUuid(id)) return refused('not_found', 'there is no such payment');
    const payment = await cancelPayment(parts.database, keyOf(principal), id, now());
    if (isRefused(payment)) return payment;
    parts.wakeRelay();
    return { __typename: 'PaymentCancelled', payment };
  },
  refundCreate: async (
    _,
    { paymentId, amount, reason, idempotency },
    { principal, requestId, now },
  ) => {
    const { database, banks, wakeRelay, sendRefundLater } = parts;
    const request = {
      paymentId,
      amount: amount ?? null,
      reason: reason ?? null,
      requestId,
      idempotency,
    };
    const key = keyOf(principal);
    await settleBefore(parts, key, paymentId, now());
    const created = await refundPayment(database, banks, key, request, now());
    if (isRefused(created)) return created;
    const { refund, replayed } = created;
    if (!replayed) wakeRelay();
    if (!replayed && refund.askAt) {
      const { merchantId, id, askAt } = refund;
      sendRefundLater(
        { merchantId, refundId: id },
        Math.max(0, askAt.epochMilliseconds - now().epochMilliseconds),
      );
    }
    return { __typename: 'RefundCreated', refund, idempotent: replayed };
  },
});

const checkoutMutations = (parts: PaymentsParts): MutationResolvers => {
  const { database, banks, policies, wakeRelay, askLater } = parts;
  const view = (changed: Payment | Refused, now: Temporal.Instant) =>
    isRefused(changed) ? changed : viewOf(parts, changed, now);
  /** What the buyer does is in the payment's trace. */
  const byBuyer = <Result>(
    { merchantId, paymentId }: PaymentKey,
    name: string,
    work: () => Promise<Result>,
  ): Promise<Result> =>
    inTraceOf(
      database.pool,
      { merchantId, subjectId: paymentId },
      { kind: 'internal', name },
      work,
    );
  return {
    checkoutMethodChoose: async (_, { method }, { principal, now }) => {
      const chosen = buyerMethod(method);
      if (!chosen) return refused('bad_request', `method: a buyer cannot pay by ${method}`);
      return view(await chooseMethod(database, buyerOf(principal), chosen, now()), now());
    },
    checkoutOutcomePlan: async (_, { outcome, failureCode }, { principal, now }) =>
      view(
        await planOutcome(database, buyerOf(principal), outcome, failureCode ?? null, now()),
        now(),
      ),
    checkoutPay: async (_, { card }, { principal, now }) => {
      const key = buyerOf(principal);
      return byBuyer(key, 'open session', async () => {
        const opened = await openSession(database, banks, await policies.current(), {
          key,
          card: card ?? null,
          pageUrl: pageAddress(parts, key),
          now: now(),
        });
        wakeRelay();
        if (!isRefused(opened) && opened.askAt)
          askLater(key, Math.max(0, opened.askAt.epochMilliseconds - now().epochMilliseconds));
        return view(opened, now());
      });
    },
    checkoutSimulatorConfirm: async (_, { approve }, { principal, now }) => {
      const confirmed = await confirmSimulator(database, banks, buyerOf(principal), approve, now());
      wakeRelay();
      return view(confirmed, now());
    },
  };
};
