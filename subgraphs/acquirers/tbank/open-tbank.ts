/**
 * The connector to T-Bank's internet acquiring (EACQ), behind the port of every acquirer. It has no
 * payouts: its payouts are a product and an API of their own.
 */
import { defaultCurrency } from '../../rules/money.ts';
import type { Runner } from '../../platform/database/statement.ts';
import type { OpenedBank } from '../connector.ts';
import { stopped, unavailable, unknown } from '../bank-http.ts';
import { openCheckEcho } from '../check-echo.ts';
import { connector, openClient, type TBankConfig } from './client.ts';
import { settleHold } from './holds.ts';
import { askEvery_s, isOrdered, noTraits, paymentsOf, type PaymentCalls } from './orders.ts';
import { tbankPayments } from './payments.ts';
import { tbankReceipts, receiptOf, refusalOf } from './receipts.ts';
import { refund } from './refunds.ts';
import type { ChargeAnswer, ChargeOrder } from '../bank.ts';
import { declinedBy, declinedPayment, meaningOf, readPayment, type WirePayment } from './wire.ts';

/*
 * Charges of saved cards: `Init` makes a payment, `Charge` charges it. Neither call has an
 * idempotency key, but the bank charges a payment once at most. A charge therefore makes a payment
 * only when its order has none, and then charges the order's first payment. Two processes that order
 * the same charge at the same time both read the list after their own `Init`, find the same first
 * payment, and the second `Charge` is rejected.
 */

/** It is in another state than one in which it can be charged. */
const wrongState = '8';

const standing = (order: ChargeOrder, payment: WirePayment): ChargeAnswer => {
  switch (meaningOf(payment.status)) {
    case 'paid':
      return { kind: 'approved', reference: payment.id, rrn: payment.rrn, traits: noTraits };
    case 'failed':
    case 'given_up':
      return declinedPayment(payment);
    case 'open':
    case 'held':
      return { kind: 'pending', askAt: order.now.add({ seconds: askEvery_s }) };
  }
};

/** Charges a payment that has not been charged yet. */
const chargeFirst = async (
  calls: PaymentCalls,
  order: ChargeOrder,
  first: WirePayment,
): Promise<ChargeAnswer> => {
  const params = { PaymentId: first.id, RebillId: order.savedReference };
  const answer = await calls.client.call('Charge', params);
  if (answer.kind === 'rejected' && answer.code !== wrongState) return declinedBy(answer.code);
  // A repeated call, or one that another process made first, finds the payment charged: the list
  // has its result.
  const charged =
    answer.kind === 'answered'
      ? readPayment(answer.body)
      : (await paymentsOf(calls, order.operationId))?.find(({ id }) => id === first.id);
  if (!charged || charged.status === 'NEW') return unknown;
  return (await isOrdered(calls, order, charged)) ? standing(order, charged) : stopped;
};

/** The first payment of an order, made now when there is none. */
const firstOf = async (
  calls: PaymentCalls,
  order: ChargeOrder,
): Promise<WirePayment | ChargeAnswer> => {
  const known = await paymentsOf(calls, order.operationId);
  if (!known) return unknown;
  if (known[0]) return known[0];
  const params = {
    Amount: Number(order.amount),
    OrderId: order.operationId,
    PayType: 'O',
    NotificationURL: calls.callbackUrl(order.merchantId),
    ...receiptOf(order.receipt, calls.register),
  };
  const made = await calls.client.call('Init', params);
  if (made.kind === 'rejected') return declinedBy(made.code);
  if (made.kind !== 'answered') return unknown;
  return (await paymentsOf(calls, order.operationId))?.[0] ?? unknown;
};

const charge = async (calls: PaymentCalls, order: ChargeOrder): Promise<ChargeAnswer> => {
  if (order.currency !== 'RUB') return unavailable('currency');
  const refused = order.isFirst ? refusalOf(order.receipt, calls.register) : null;
  if (refused !== null) return unavailable(refused);
  const first = await firstOf(calls, order);
  if ('kind' in first) return first;
  if (!(await isOrdered(calls, order, first))) return stopped;
  return first.status === 'NEW' ? chargeFirst(calls, order, first) : standing(order, first);
};

/**
 * Opens the connector; makes no call until it is used. `publicUrl` is where the bank reaches us;
 * alerts are raised on `pool`.
 */
export const openTBank = (config: TBankConfig, publicUrl: string, pool: Runner): OpenedBank => {
  const bankName = 'T-Bank';
  const client = openClient(config);
  const calls = {
    client,
    pool,
    checkEcho: openCheckEcho(pool, bankName),
    register: config.register,
    hold_d: config.hold_d,
    callbackUrl: (merchantId: string) => `${publicUrl}/callbacks/tbank/${merchantId}`,
  };
  return {
    connector,
    bankName,
    methods: ['sbp', 'cards', 'tpay'],
    currencies: [defaultCurrency],
    cardsOn: 'bank_page',
    ...tbankPayments(calls),
    // An account of SBP is bound by another way there.
    savable: ['cards'],
    charge: (order) => charge(calls, order),
    refund: (order) => refund(calls, order),
    holds: ['cards', 'tpay'],
    settleHold: (order) => settleHold(calls, order),
    ...tbankReceipts(calls, config.register),
    payoutWays: [],
    pay: async () => unknown,
    askPayout: async () => unknown,
    close: client.close,
  };
};
