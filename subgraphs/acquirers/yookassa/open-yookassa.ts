/** The connector to YooKassa API v3, behind the port of every acquirer. */
import { defaultCurrency } from '../../rules/money.ts';
import type { AccountsOf } from '../bank-accounts.ts';
import type { AccountPurpose } from '../entities.ts';
import type { Runner } from '../../platform/database/statement.ts';
import type { OpenedBank } from '../connector.ts';
import { bodyOf, unavailable, unknown } from '../bank-http.ts';
import { openReceiptRefusal, wireReceipt, receiptMistake, orderReceipt } from './receipts.ts';
import { connector, openClient, type YooKassaConfig, findHolder } from './client.ts';
import {
  openCheckEcho,
  wireAmount,
  readPayment,
  readRefund,
  type WireRefund,
  refundFailure,
} from './wire.ts';
import { settleHold } from './holds.ts';
import { yooKassaPayments } from './payments.ts';
import { yooKassaPayouts } from './payouts.ts';
import type { ChargeAnswer, ChargeOrder, TokenBank, RefundAnswer, RefundOrder } from '../bank.ts';
import {
  isAboutUs,
  metadataOf,
  declinedOrder,
  standing,
  type PaymentCaller,
  type PaymentCalls,
  findListed,
  get,
  post,
  byHolder,
} from './payment-answers.ts';

/*
 * Refunds at YooKassa. It sends no notification of a refund that it cancelled, so that pending ones
 * are asked about. Its idempotency keys last a day, so that a refund without a reference is looked
 * for among the payment's refunds before it is ordered.
 */

/** How often to query a pending refund. */
const askEvery_s = 60;
const pages_max = 20;

const refunded = async (
  { checkEcho }: PaymentCalls,
  order: RefundOrder,
  refund: WireRefund | null,
): Promise<RefundAnswer> => {
  if (!refund) return unknown;
  const isOurs = await checkEcho(order, refund);
  if (!isOurs || refund.payment_id !== order.payment.reference)
    return { kind: 'pending', reference: refund.id, askAt: null };
  switch (refund.status) {
    case 'succeeded':
      return { kind: 'approved', reference: refund.id };
    case 'pending':
      return {
        kind: 'pending',
        reference: refund.id,
        askAt: order.now.add({ seconds: askEvery_s }),
      };
    case 'canceled':
      return {
        kind: 'declined',
        failureCode: refundFailure(refund.cancellation_details),
        bankCode: refund.cancellation_details.reason,
      };
  }
};

const refund = async (calls: PaymentCalls, order: RefundOrder): Promise<RefundAnswer> => {
  const { payment, receipt } = order;
  const known = order.reference === null ? null : await get(calls, `/refunds/${order.reference}`);
  if (known) return refunded(calls, order, readRefund(bodyOf(known)));
  const paymentId = payment.reference ?? '';
  const list = { path: '/refunds', query: { payment_id: paymentId }, pages_max };
  const found = await findListed(calls, list, readRefund, order.operationId);
  if (found && 'kind' in found) return unknown;
  if (found) return refunded(calls, order, found);
  const mistake = receipt ? receiptMistake(receipt, null) : null;
  if (mistake !== null)
    return { kind: 'declined', failureCode: 'refund_rejected', bankCode: mistake };
  const metadata = { ...metadataOf(order, 'refund'), payment_operation_id: payment.operationId };
  const body = {
    payment_id: paymentId,
    amount: wireAmount(order.amount, order.currency),
    metadata,
    ...(receipt ? { receipt: wireReceipt(receipt, order.currency) } : {}),
  };
  const answer = await post(calls, '/refunds', order.operationId, body);
  // What is about our own account an operator corrects, and the refund is sent then.
  if (answer.kind === 'rejected' && !isAboutUs(answer))
    return { kind: 'declined', failureCode: 'refund_rejected', bankCode: answer.code };
  return refunded(calls, order, readRefund(bodyOf(answer)));
};

/*
 * Charges of saved methods at YooKassa. A method is known to the account alone that saved it. The
 * order under its key is also the question.
 */

const charge = async (calls: PaymentCalls, order: ChargeOrder): Promise<ChargeAnswer> => {
  const refused = order.isFirst
    ? await calls.receiptRefusal(calls.shop, order.receipt, order.now)
    : null;
  if (refused !== null) return unavailable(refused);
  const body = {
    amount: wireAmount(order.amount, order.currency),
    capture: true,
    payment_method_id: order.savedReference,
    metadata: metadataOf(order, 'payment'),
    ...(order.receipt ? { receipt: wireReceipt(order.receipt, order.currency) } : {}),
  };
  const answer = await post(calls, '/payments', order.operationId, body);
  // The order is also the query: an account that is rejected now proves nothing about an order that
  // was accepted before.
  if (answer.kind === 'rejected')
    return isAboutUs(answer) && !(order.isFirst && answer.isCertain)
      ? unknown
      : declinedOrder(answer);
  return standing(calls, order, readPayment(bodyOf(answer)));
};

/**
 * No account of the merchant has the saved method, so nothing was ordered. No account knows it, or
 * those that may know it reject us: an operator can correct that.
 */
const unheld = (
  { isFirst }: ChargeOrder,
  bankCode: 'no_saved_method' | 'no_account',
): ChargeAnswer =>
  isFirst ? { kind: 'declined', failureCode: 'method_unavailable', bankCode } : unknown;

/** Charges a saved method by the account that saved it, whichever is current. */
const yooKassaCharges = (callerOf: (merchantId: string) => Promise<PaymentCaller>): TokenBank => ({
  savable: ['cards', 'sbp', 'tpay'],
  charge: async (order) => {
    const { accounts, ...caller } = await callerOf(order.merchantId);
    const holder = await findHolder(
      { ...caller, accounts },
      `/payment_methods/${order.savedReference}`,
    );
    switch (holder.kind) {
      case 'held':
        return charge({ ...caller, shop: holder.account }, order);
      case 'absent':
        return unheld(order, 'no_saved_method');
      case 'turned_away':
        return unheld(order, 'no_account');
      case 'unknown':
        return unknown;
    }
  },
});

/**
 * Opens the connector; makes no call until it is used. Alerts are raised on `pool`; `accountsOf`
 * gives the accounts that serve a merchant.
 */
export const openYooKassa = (
  config: Omit<YooKassaConfig, 'shop' | 'networks'>,
  accountsOf: AccountsOf,
  pool: Runner,
): OpenedBank => {
  const client = openClient(config);
  const checkEcho = openCheckEcho(pool);
  const receiptRefusal = openReceiptRefusal(client);
  const calling = (purpose: AccountPurpose) => async (merchantId: string) => ({
    client,
    checkEcho,
    receiptRefusal,
    accounts: await accountsOf(merchantId, purpose),
  });
  const payments = calling('payments');
  return {
    connector,
    bankName: 'YooKassa',
    methods: ['sbp', 'cards', 'tpay', 'sberpay'],
    currencies: [defaultCurrency],
    cardsOn: 'our_page',
    hasAccount: async (merchantId, purpose) =>
      (await accountsOf(merchantId, purpose)).current !== null,
    ...yooKassaPayments(payments),
    ...yooKassaCharges(payments),
    refund: byHolder(payments, refund),
    holds: ['cards', 'tpay', 'sberpay'],
    settleHold: byHolder(payments, settleHold),
    receipt: byHolder(payments, orderReceipt),
    ...yooKassaPayouts(calling('payouts'), client, config.payouts),
    close: client.close,
  };
};
