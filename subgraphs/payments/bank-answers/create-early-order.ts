/**
 * Registers a new live payment of a fixed method with its acquirer, as decision D-31 has it: the
 * merchant learns at once who takes it and under which reference, or that it is refused. The buyer
 * is sent to that order when they go on from the page; until then nobody knows its address, so that
 * nobody can pay it. An acquirer without an answer leaves the payment pending, and is given the
 * same order again then.
 */
import type { Bank } from '../../kernel/banks/bank.ts';
import type { Database } from '../../kernel/database/orm.ts';
import { minorUnits } from '../../kernel/rules/money.ts';
import { isRefused } from '../../kernel/rules/refusal.ts';
import { decline } from './apply-bank-answer.ts';
import { bankRefMetadata } from './approval.ts';
import { changePayment } from '../change-payment.ts';
import type { Payment } from '../entities.ts';
import { buyerMethod } from '../checkout/rules.ts';
import { sessionEnd, sessionLength_min } from '../rules/payment.ts';

/**
 * The payment with its bank and its reference there, `failed` when the bank refuses it, and as it
 * was when the bank did not answer.
 */
export const createEarlyOrder = async (
  database: Database,
  bank: Bank,
  payment: Payment,
  pageUrl: string,
  now: Temporal.Instant,
): Promise<Payment> => {
  const method = buyerMethod(payment.method);
  if (!method || !bank.createsOrderEarly?.includes(method)) return payment;
  const { merchantId, shopId, id, amount, currency } = payment;
  const key = { merchantId, paymentId: id };
  const sessionUntil = sessionEnd(now, payment.expiresAt, bank.sessionTtl_min);
  const payableUntil = payment.expiresAt.add({
    minutes: sessionLength_min(bank.sessionTtl_min),
  });
  const order = {
    merchantId,
    shopId,
    operationId: id,
    amount: minorUnits(amount),
    currency,
    method,
    pageUrl,
    sessionUntil,
    payableUntil,
    reference: null,
    now,
  };
  const answer = await bank.openSession({ ...order, card: null, planned: null, callbacks: null });
  switch (answer.kind) {
    case 'opened': {
      const { bankName, connector } = bank;
      const registered = await changePayment(database, key, now, (inHand) => {
        if (inHand.payment.status !== 'pending' || inHand.payment.bankRef !== null)
          return 'unchanged';
        const metadata = {
          ...inHand.payment.metadata,
          ...bankRefMetadata(payment, answer.reference),
        };
        return {
          patch: { bankName, connector, bankRef: answer.reference, metadata },
          postings: [],
          events: () => [],
        };
      });
      return isRefused(registered) ? payment : registered;
    }
    case 'declined': {
      const failed = await changePayment(database, key, now, ({ payment: found }) =>
        found.status === 'pending'
          ? decline(found, bank.connector, answer.failureCode, answer.bankCode, now)
          : 'unchanged',
      );
      return isRefused(failed) ? payment : failed;
    }
    case 'pending':
    case 'unknown':
    case 'unaccepted':
      return payment;
  }
};
