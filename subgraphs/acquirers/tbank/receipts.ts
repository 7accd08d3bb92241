/**
 * Receipts at T-Bank. Those of payments and refunds go with their movements. No call queries their
 * result: a signed notification reports it (`receipt-notification`). A closing receipt has a call
 * without an idempotency key: its order is claimed in the database before it is sent, and is sent
 * once for an attempt.
 */
import { createHash } from 'node:crypto';
import type { Runner } from '../../platform/database/statement.ts';
import { claimedAt, claimOrder, giveClaimBack, type ClaimedOrder } from '../claim-order.ts';
import type { ReceiptAnswer, ReceiptBank, ReceiptOrder } from '../receipt-bank.ts';
import type { ReceiptTerms } from '../../rules/receipt.ts';
import type { CashRegister } from './config.ts';
import { decidingPayment, paymentsOf, unknown, type PaymentCalls } from './orders.ts';
import { receiptMistake, wireReceipt } from './receipt-words.ts';

interface ReceiptCalls extends PaymentCalls {
  readonly pool: Runner;
}

/** After this no result is expected: a person must look into the bank's cabinet. */
const notifiesWithin_h = 24;

const failed = (reason: string): ReceiptAnswer => ({ kind: 'failed', reason });

/** What goes with a movement; nothing without a receipt. */
export const receiptOf = (terms: ReceiptTerms | undefined, register: CashRegister | null) =>
  terms && register ? { Receipt: wireReceipt(terms, register) } : {};

/** Why a movement is not ordered with its receipt; null when it is. */
export const refusalOf = (
  terms: ReceiptTerms | undefined,
  register: CashRegister | null,
): string | null => (terms ? receiptMistake(terms, register) : null);

/** It waits for its notification: for a day from its order. */
const awaited = (orderedAt: Temporal.Instant, now: Temporal.Instant): ReceiptAnswer => {
  const until = orderedAt.add({ hours: notifiesWithin_h });
  return Temporal.Instant.compare(now, until) < 0
    ? { kind: 'pending', askAt: until }
    : failed('T-Bank has not notified of it within a day: its cabinet shows what became of it');
};

/**
 * An attempt's name among the claims: the receipt's own id for the first one, one that follows from
 * it for each later.
 */
const claimed = ({ merchantId, receiptId, attempt, payment, now }: ReceiptOrder): ClaimedOrder => {
  const digest = createHash('sha256').update(`${receiptId} ${attempt}`).digest('hex');
  const later = digest.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5');
  return {
    merchantId,
    // Apart from the payment's refunds, which are counted.
    subjectId: receiptId,
    operationId: attempt === 0 ? payment.operationId : later,
    now,
  };
};

const close = async (
  { client, pool, register, ...calls }: ReceiptCalls & { readonly register: CashRegister },
  order: ReceiptOrder,
): Promise<ReceiptAnswer> => {
  const { payment, terms } = order;
  const known = (await paymentsOf({ client, ...calls }, payment.operationId)) ?? [];
  const paid = known.find(({ id }) => id === payment.reference) ?? decidingPayment(known);
  if (!paid) return unknown;
  const claim = claimed(order);
  const { now } = order;
  if (!(await claimOrder(pool, claim, null)))
    return awaited((await claimedAt(pool, claim)) ?? now, now);
  const answer = await client.call({
    service: 'cashbox',
    method: 'SendClosingReceipt',
    params: { PaymentId: paid.id, Receipt: wireReceipt(terms, register) },
    repeatable: false,
  });
  switch (answer.kind) {
    case 'answered':
    case 'unknown':
      return awaited(now, now);
    case 'unaccepted':
      await giveClaimBack(pool, claim);
      return unknown;
    case 'rejected':
      return failed(`T-Bank refused it: ${answer.code}`);
  }
};

/** The part of the port that registers receipts; none without a cash register. */
export const tbankReceipts = (calls: ReceiptCalls, register: CashRegister | null): ReceiptBank => {
  if (!register) return {};
  return {
    receipt: async (order) => {
      if (order.type !== 'closing')
        return order.attempt === 0
          ? awaited(order.createdAt, order.now)
          : failed("T-Bank's API sends no receipt of a payment or refund again: its cabinet does");
      const mistake = receiptMistake(order.terms, register);
      return mistake === null ? close({ ...calls, register }, order) : failed(mistake);
    },
  };
};
