/**
 * Orders a new live payment with a fixed method at its acquirer, so that the response names the
 * acquirer and its reference, or the decline. The buyer gets the order's address only on continuing
 * from the page, so it cannot be paid before. If the acquirer does not answer, the payment stays
 * pending, and the same order is repeated when the buyer continues. A decline is written here and
 * not by `applyBankAnswer`, because it ends the payment only while no buyer has continued.
 */
import type { Bank, SessionOrder } from '../../acquirers/bank.ts';
import type { Database } from '../../platform/database/orm.ts';
import type { BuyerMethod } from '../../rules/banks.ts';
import { isRefusal, type Refusal } from '../../rules/refusal.ts';
import { decline } from './apply-bank-answer.ts';
import { referencePatch, sessionOrder } from './orders.ts';
import { changePayment } from '../change-payment.ts';
import type { Payment } from '../entities.ts';
import { buyerMethod } from '../rules/create.ts';
import { sessionEnd, sessionLength_min, type PaymentMethod } from '../rules/payment.ts';
import { unpublished } from '../store-payment.ts';

/** The order of a session that begins now, which may be paid for one session after the link ends. */
const earlyOrder = (
  bank: Bank,
  payment: Payment,
  by: Pick<SessionOrder, 'method' | 'pageUrl' | 'now'>,
): SessionOrder => {
  const { expiresAt } = payment;
  const processingUntil = sessionEnd(by.now, expiresAt, bank.sessionTtl_min);
  return {
    ...sessionOrder({ ...payment, processingUntil }, { ...by, card: null }),
    payableUntil: expiresAt.add({ minutes: sessionLength_min(bank.sessionTtl_min) }),
  };
};

/** The method by which a bank takes orders of a method early; null: they wait for the buyer. */
export const earlyMethod = (
  { createsOrderEarly = [] }: Pick<Bank, 'createsOrderEarly'>,
  named: PaymentMethod,
): BuyerMethod | null => {
  const method = buyerMethod(named);
  return method && createsOrderEarly.includes(method) ? method : null;
};

/** Writes which bank has the order of a payment, and under which reference; once. */
export const recordEarlyOrder = (
  database: Database,
  { bankName, connector }: Bank,
  { merchantId, id: paymentId }: Pick<Payment, 'merchantId' | 'id'>,
  reference: string,
  now: Temporal.Instant,
): Promise<Payment | Refusal> =>
  changePayment(database, { merchantId, paymentId }, now, ({ payment }) => {
    if (payment.status !== 'pending' || payment.bankRef !== null) return 'unchanged';
    return unpublished({ bankName, connector, ...referencePatch(payment, reference) });
  });

/**
 * The payment with its bank and its reference there, `failed` when the bank declines it, and as it
 * was when the bank did not answer.
 */
export const createEarlyOrder = async (
  database: Database,
  bank: Bank,
  payment: Payment,
  pageUrl: string,
  now: Temporal.Instant,
): Promise<Payment> => {
  const method = earlyMethod(bank, payment.method);
  if (!method) return payment;
  const key = { merchantId: payment.merchantId, paymentId: payment.id };
  const answer = await bank.openSession(earlyOrder(bank, payment, { method, pageUrl, now }));
  switch (answer.kind) {
    case 'opened': {
      const created = await recordEarlyOrder(database, bank, payment, answer.reference, now);
      return isRefusal(created) ? payment : created;
    }
    case 'declined': {
      const failed = await changePayment(database, key, now, ({ payment: found }) =>
        found.status === 'pending'
          ? decline(found, bank.connector, answer.failureCode, answer.bankCode, now)
          : 'unchanged',
      );
      return isRefusal(failed) ? payment : failed;
    }
    case 'pending':
    case 'unknown':
    case 'unaccepted':
      return payment;
  }
};
