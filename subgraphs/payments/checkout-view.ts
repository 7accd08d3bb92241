/** The hosted page's view of a payment: what a buyer may know (schema type Checkout). */
import type { Checkout } from '../../schema/generated/payments.ts';
import type { Banks } from '../kernel/banks/route.ts';
import { minorUnits } from '../kernel/rules/money.ts';
import { isBinding } from '../kernel/rules/recurring.ts';
import { isRefused } from '../kernel/rules/refusal.ts';
import type { Payment, Refund } from './entities.ts';
import { choices, pageMethod } from './rules/checkout.ts';
import { isFinal, returnTo } from './rules/payment.ts';

/** Whether the buyer types a card here: not where the bank that will serve it has a page of its own for that. */
const asksCard = async (payment: Payment, banks: Banks): Promise<boolean> => {
  const { merchantId, shopId, mode, kind, status } = payment;
  if (mode === 'test') return true;
  if (status !== 'pending') {
    const holding = banks.holding(payment);
    return isRefused(holding) || holding.cardsOn === 'our_page';
  }
  const bank = await banks.route({ merchantId, shopId, mode, operation: isBinding(kind) ? 'recurrent' : 'payment', method: 'cards' });
  return isRefused(bank) || bank.cardsOn === 'our_page';
};

/** Contract "Refund": the reason is shown to the buyer on the receipt. To whom a method was only proved, nothing was sold and nothing given back. */
const refundsShown = ({ verification }: Payment, refunds: readonly Refund[]) =>
  verification ? [] : refunds.flatMap(({ amount, reason, status }) => (status === 'failed' ? [] : [{ amount: minorUnits(amount), reason, status }]));

/** Makes the view, with the refunds of the payment. In test mode the tester sees the plan. */
export const checkoutView = async (payment: Payment, refunds: readonly Refund[], banks: Banks): Promise<Checkout & { readonly __typename: 'Checkout' }> => {
  const test = payment.mode === 'test';
  const method = pageMethod(payment);
  // A verification that was given back has done what the buyer came for: to the buyer it has succeeded.
  const status = payment.verification && payment.status === 'refunded' ? 'succeeded' : payment.status;
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
    method,
    methods: [...choices(method, method === 'any' ? await banks.offered(payment) : [])],
    status,
    deadline: payment.processingUntil ?? payment.expiresAt,
    step: payment.step,
    stepUrl: payment.stepUrl,
    failureCode: payment.failureCode,
    returnTo: payment.returnUrl !== null && isFinal(status) ? returnTo(payment.returnUrl, payment.id, status) : null,
    plannedOutcome: test ? payment.plannedOutcome : null,
    plannedFailureCode: test ? payment.plannedFailureCode : null,
    saves: isBinding(payment.kind),
    verification: payment.verification,
    asksCard: await asksCard(payment, banks),
    refunds: refundsShown(payment, refunds),
  };
};
