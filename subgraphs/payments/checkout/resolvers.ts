/** The hosted page: from GraphQL to a verb, and back. */
import type pg from 'pg';
import type {
  MutationResolvers,
  QueryResolvers,
  Checkout,
  CheckoutResolvers,
} from '../../../schema/generated/payments.ts';
import type { BuyerMethod } from '../../rules/banks.ts';
import type { ReceiptStatus } from '../../rules/receipt.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import type { BuyerPrincipal, Principal } from '../../platform/access/principal.ts';
import { refusal } from '../../platform/access/access.ts';
import type { Payment, Refund } from '../entities.ts';
import type { PaymentsDeps, ReadingDeps } from '../parts.ts';
import { termsOf } from '../receipts/rules.ts';
import { findReceipts } from '../receipts/store-receipts.ts';
import { mayHaveRefunds, capturedOf } from '../rules/amounts.ts';
import { findPayment, findRefunds, inPaymentTrace } from '../store-payment.ts';
import { findSeller } from '../../platform/database/find-seller.ts';
import { confirmSimulator, chooseMethod, planOutcome } from './prepare-checkout.ts';
import { openSession } from './open-session.ts';
import { lazily } from '../../platform/graph/lazily.ts';
import { pageAddress } from '../../platform/access/keys.ts';
import { buyerMethod, pageMethod } from '../rules/create.ts';
import type { CheckoutPage } from './page-openings.ts';
import type { Bank } from '../../acquirers/bank.ts';
import type { Banks } from '../../acquirers/route.ts';
import { minorUnits } from '../../rules/money.ts';
import { isBinding } from '../../rules/recurring.ts';
import { endedUnpaid, isDoneByBuyer, returnTo } from '../rules/payment.ts';

/* The hosted page's view of a payment: what a buyer may know (schema type Checkout). */

/** The bank that a card typed now goes to: the one with the session, or the one to come. */
const cardBank = async (payment: Payment, banks: Banks): Promise<Bank | Refusal> => {
  if (payment.status !== 'pending') return banks.bankOf(payment);
  const { merchantId, shopId, mode, currency } = payment;
  const operation = isBinding(payment.kind) ? 'recurrent' : 'payment';
  return banks.route({ merchantId, shopId, mode, operation, method: 'cards', currency });
};

/** The card fields of the page: none if the bank has its own, the holder only if it asks. */
const cardTerms = async (payment: Payment, banks: Banks) => {
  const bank = await cardBank(payment, banks);
  if (isRefusal(bank)) return { asksCard: true, asksHolder: false };
  return { asksCard: bank.cardsOn === 'our_page', asksHolder: bank.asksHolder ?? false };
};

/** What the receipt shows of the end of a payment. The payer stays hidden before that. */
const receiptOf = (payment: Payment) => {
  const { status, capturedAt, finalizedAt, customerCardBrand, customerCardMask } = payment;
  const over = isDoneByBuyer(status);
  return {
    paidAt: capturedAt,
    endedAt: over ? finalizedAt : null,
    cardBrand: over ? customerCardBrand : null,
    cardMask: over ? customerCardMask : null,
    paidLate: endedUnpaid(status) && capturedAt !== null,
  };
};

/** Scheme and host of an address. */
const siteOf = (address: string | null): string | null =>
  (address && URL.parse(address)?.origin) || null;

/**
 * The reason of a refund, which the buyer's receipt shows. A verification of a method sold nothing,
 * so its return has no reason.
 */
const refundsShown = ({ verification }: Payment, refunds: readonly Refund[]) =>
  verification
    ? []
    : refunds.flatMap(({ amount, reason, status, createdAt, completedAt }) =>
        status === 'failed'
          ? []
          : [{ amount: minorUnits(amount), reason, status, at: completedAt ?? createdAt }],
      );

/** What was taken, where it is less than the amount. */
const partCaptured = (payment: Payment): bigint | null => {
  const captured = capturedOf(payment);
  return captured > 0n && captured < payment.amount ? captured : null;
};

/** The subscription that the payment begins, whose terms recurring billing knows. */
const subscribesTo = ({ kind, merchantId, subscriptionId }: Payment) =>
  kind === 'subscription_init' && subscriptionId !== null
    ? { merchantId, id: subscriptionId }
    : null;

/** All that the bank takes while the method is `any`, else the one that is fixed. */
const choicesOf = async (payment: Payment, banks: Banks): Promise<BuyerMethod[]> => {
  const method = pageMethod(payment);
  const fixed = buyerMethod(method);
  if (fixed || method !== 'any') return fixed ? [fixed] : [];
  return [...(await banks.offered({ ...payment, holds: payment.capture === 'manual' }))];
};

/** The view without what its caller knows and what fields of their own read. */
type CheckoutView = Omit<Checkout, 'now' | 'clockStands' | 'fiscalReceipt' | 'seller'> & {
  readonly __typename: 'Checkout';
};

/** Makes the view, with the refunds of the payment. In test mode the tester sees the plan. */
export const checkoutView = async (
  payment: Payment,
  refunds: readonly Refund[],
  banks: Banks,
): Promise<CheckoutView> => {
  const test = payment.mode === 'test';
  // To the buyer, a verification that was returned has succeeded.
  const status =
    payment.verification && payment.status === 'refunded' ? 'succeeded' : payment.status;
  return {
    __typename: 'Checkout',
    paymentId: payment.id,
    publicId: payment.publicId,
    shopName: payment.shopName,
    orderId: payment.orderId,
    description: payment.description,
    amount: payment.amount,
    currency: payment.currency,
    mode: payment.mode,
    step: payment.step,
    stepUrl: payment.stepUrl,
    failureCode: payment.failureCode,
    verification: payment.verification,
    captured: partCaptured(payment),
    method: pageMethod(payment),
    methods: await choicesOf(payment, banks),
    status,
    deadline: payment.processingUntil ?? payment.expiresAt,
    returnTo:
      payment.returnUrl !== null && isDoneByBuyer(status)
        ? returnTo(payment.returnUrl, payment.id, status)
        : null,
    onDecline: payment.onDecline ?? 'return',
    plannedOutcome: test ? payment.plannedOutcome : null,
    plannedFailureCode: test ? payment.plannedFailureCode : null,
    saves: isBinding(payment.kind),
    subscription: subscribesTo(payment),
    ...(await cardTerms(payment, banks)),
    ...receiptOf(payment),
    shopSite: siteOf(payment.returnUrl),
    refunds: refundsShown(payment, refunds),
  };
};

const buyerOf = (principal: Principal): BuyerPrincipal => {
  if (principal.kind !== 'buyer')
    throw refusal('scope_required', 'this operation is for the hosted page');
  return principal;
};

/** The state of the payment's receipt; null if there is none. */
const receiptState = async (
  pool: pg.Pool,
  payment: Payment,
  hasEndedNow: boolean,
): Promise<ReceiptStatus | null> => {
  if (termsOf(payment) === null || payment.capturedAt === null) return null;
  const receipts = hasEndedNow ? [] : await findReceipts(pool, [payment]);
  return receipts.find(({ type }) => type === 'payment')?.status ?? 'pending';
};

/** Whether this call has ended the payment: it has no refunds and no receipts yet. */
const hasEndedAt = ({ finalizedAt }: Payment, now: Temporal.Instant): boolean =>
  finalizedAt !== null && Temporal.Instant.compare(finalizedAt, now) === 0;

/** The hosted page's view of a payment, with its refunds and the time of its shop. */
const viewOf = async (
  { database: { pool }, banks }: PaymentsDeps,
  payment: Payment,
  now: Temporal.Instant,
): Promise<CheckoutView & CheckoutPage> => {
  const hasRefunds = mayHaveRefunds(payment) && !hasEndedAt(payment, now);
  const refunds = hasRefunds ? await findRefunds(pool, [payment]) : [];
  const view = await checkoutView(payment, refunds, banks);
  return { ...view, payment, now, seller: lazily(() => findSeller(pool, payment.merchantId)) };
};

/** What is read only where it is asked for. */
export const checkoutFields = ({
  database: { pool },
  clocks,
}: PaymentsDeps): CheckoutResolvers => ({
  seller: ({ seller }) => seller(),
  shopSite: async ({ shopSite, seller }) => shopSite ?? siteOf((await seller()).siteUrl),
  clockStands: ({ payment: { mode, merchantId, id } }) =>
    mode === 'test' && clocks.stands({ kind: 'payment', merchantId, id }),
  fiscalReceipt: ({ payment, now }) => receiptState(pool, payment, hasEndedAt(payment, now)),
});

/** What the page shows. */
export const checkoutQueries = (deps: ReadingDeps): QueryResolvers => ({
  checkout: async (_, __, { principal, now }) => {
    const at = now();
    const buyer = buyerOf(principal);
    const found = await findPayment(deps.database.pool, buyer, at);
    if (!found) throw refusal('not_found', 'there is no such payment');
    deps.openings.note(buyer, at);
    deps.shown.keep(found);
    return viewOf(deps, found.payment, at);
  },
});

/** Notifies of a session: the relay, and when its bank is to be asked. */
const notifyOpened = (
  { wakeRelay, askLater }: PaymentsDeps,
  opened: Payment | Refusal,
  now: Temporal.Instant,
): void => {
  const isUnderWay = !isRefusal(opened) && opened.status === 'processing';
  wakeRelay(isUnderWay ? 'soon' : 'at once');
  if (!isRefusal(opened)) askLater(opened, now);
};

/** What a buyer does on the page. */
export const checkoutMutations = (deps: ReadingDeps): MutationResolvers => {
  const { database, banks, policies, wakeRelay, askNoMore } = deps;
  const view = (changed: Payment | Refusal, now: Temporal.Instant) => {
    if (isRefusal(changed)) return changed;
    deps.shown.keep({ payment: changed, rateBps: null });
    return viewOf(deps, changed, now);
  };
  return {
    checkoutMethodChoose: async (_, { method }, { principal, now }) => {
      const chosen = buyerMethod(method);
      if (!chosen) return refuse('bad_request', `method: a buyer cannot pay by ${method}`);
      return view(await chooseMethod(database, banks, buyerOf(principal), chosen, now()), now());
    },
    checkoutOutcomePlan: async (_, { outcome, failureCode }, { principal, now }) =>
      view(
        await planOutcome(database, buyerOf(principal), outcome, failureCode ?? null, now()),
        now(),
      ),
    checkoutPay: async (_, { card }, { principal, now }) => {
      const key = buyerOf(principal);
      // What the buyer does is in the payment's trace.
      return inPaymentTrace(database, key, 'open session', async () => {
        const opened = await openSession(database, banks, await policies.current(), {
          key,
          card: card ?? null,
          pageUrl: pageAddress(deps, key),
          now: now(),
          shown: deps.shown.find(key.paymentId),
        });
        notifyOpened(deps, opened, now());
        return view(opened, now());
      });
    },
    checkoutSimulatorConfirm: async (_, answer, { principal, now }) => {
      const key = buyerOf(principal);
      const at = now();
      const confirmed = await confirmSimulator(deps, key, answer, at);
      wakeRelay();
      if (!isRefusal(confirmed) && confirmed.askAt === null) askNoMore(confirmed.id);
      return view(confirmed, at);
    },
  };
};
