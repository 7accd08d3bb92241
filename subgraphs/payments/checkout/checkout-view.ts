/** The hosted page's view of a payment: what a buyer may know (schema type Checkout). */
import type { Checkout } from '../../../schema/generated/payments.ts';
import type { Bank } from '../../kernel/banks/bank.ts';
import type { Banks } from '../../kernel/banks/route.ts';
import { minorUnits } from '../../kernel/rules/money.ts';
import { isBinding } from '../../kernel/rules/recurring.ts';
import { isRefused, type Refused } from '../../kernel/rules/refusal.ts';
import type { Payment } from '../entities.ts';
import type { Refund } from '../refunds/entities.ts';
import { choices, pageMethod } from './rules.ts';
import { capturedOf } from '../holds/rules.ts';
import { endedUnpaid, isDoneByBuyer, returnTo } from '../rules/payment.ts';

/**
 * The bank that a card typed now goes to: the one that has the session, or the one that will serve
 * the payment.
 */
const cardBank = async (payment: Payment, banks: Banks): Promise<Bank | Refused> => {
  const { merchantId, shopId, mode, kind, status, currency } = payment;
  if (status !== 'pending') return banks.bankOf(payment);
  return banks.route({
    merchantId,
    shopId,
    mode,
    operation: isBinding(kind) ? 'recurrent' : 'payment',
    method: 'cards',
    currency,
  });
};

/**
 * The card fields of the page: none if the bank has its own page, and the holder only if the bank
 * requires it.
 */
const cardTerms = async (payment: Payment, banks: Banks) => {
  const bank = await cardBank(payment, banks);
  if (isRefused(bank)) return { asksCard: true, asksHolder: false };
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

/** The view without the time and the state of the receipt, which are its caller's. */
export type CheckoutView = Omit<Checkout, 'now' | 'clockStands' | 'fiscalReceipt'> & {
  readonly __typename: 'Checkout';
};

/** Makes the view, with the refunds of the payment. In test mode the tester sees the plan. */
export const checkoutView = async (
  payment: Payment,
  refunds: readonly Refund[],
  banks: Banks,
): Promise<CheckoutView> => {
  const test = payment.mode === 'test';
  const method = pageMethod(payment);
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
    captured: partCaptured(payment),
    currency: payment.currency,
    mode: payment.mode,
    method,
    methods: [
      ...choices(
        method,
        method === 'any'
          ? await banks.offered({ ...payment, holds: payment.capture === 'manual' })
          : [],
      ),
    ],
    status,
    deadline: payment.processingUntil ?? payment.expiresAt,
    step: payment.step,
    stepUrl: payment.stepUrl,
    failureCode: payment.failureCode,
    returnTo:
      payment.returnUrl !== null && isDoneByBuyer(status)
        ? returnTo(payment.returnUrl, payment.id, status)
        : null,
    onDecline: payment.onDecline ?? 'return',
    plannedOutcome: test ? payment.plannedOutcome : null,
    plannedFailureCode: test ? payment.plannedFailureCode : null,
    saves: isBinding(payment.kind),
    verification: payment.verification,
    subscription: subscribesTo(payment),
    ...(await cardTerms(payment, banks)),
    ...receiptOf(payment),
    shopSite: siteOf(payment.returnUrl),
    refunds: refundsShown(payment, refunds),
  };
};
