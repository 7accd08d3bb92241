/**
 * Applies a bank's answer or notification about a receipt: the row, the webhook, and an alert if it
 * failed.
 */
import type pg from 'pg';
import { raiseAlert } from '../../platform/alerts/alerts.ts';
import type { ReceiptAnswer } from '../../acquirers/receipt-bank.ts';
import { inTransaction } from '../../platform/database/statement.ts';
import { eventRow } from '../../platform/events/outbox.ts';
import type { Payment } from '../entities.ts';
import type { Receipt } from './entities.ts';
import { receiptEnded } from './receipt-view.ts';
import { moveReceipt } from './store-receipts.ts';

/** How long we wait before asking again a bank that gave no answer. */
const askAgain_s = 10;
const reason_max_chars = 500;

/** The receipt as an answer makes it. */
const answered = (receipt: Receipt, answer: ReceiptAnswer, now: Temporal.Instant): Receipt => {
  switch (answer.kind) {
    case 'registered': {
      const { kind: _, ...numbers } = answer;
      return { ...receipt, ...numbers, status: 'registered', failureReason: null, askAt: null };
    }
    case 'failed': {
      const failureReason = answer.reason.slice(0, reason_max_chars);
      return { ...receipt, status: 'failed', failureReason, askAt: null };
    }
    case 'pending':
      return { ...receipt, askAt: answer.askAt };
    case 'unknown':
      return { ...receipt, askAt: now.add({ seconds: askAgain_s }) };
  }
};

const alertOf = (client: pg.PoolClient, payment: Payment, receipt: Receipt, at: Temporal.Instant) =>
  raiseAlert(client, {
    kind: 'receipt_failed',
    merchantId: receipt.merchantId,
    shopId: receipt.shopId,
    mode: receipt.mode,
    subjectId: receipt.id,
    detail: `the ${receipt.type} receipt ${receipt.id} of ${payment.publicId} was refused: ${receipt.failureReason}`,
    fields: {
      receipt: receipt.id,
      payment: payment.publicId,
      ...(receipt.failureReason === null ? {} : { reason: receipt.failureReason }),
    },
    at,
  });

/**
 * Applies an answer to the receipt as it was asked about; false when it has moved since, and then
 * nothing has happened.
 */
export const applyReceiptAnswer = async (
  pool: pg.Pool,
  { receipt, payment }: { readonly receipt: Receipt; readonly payment: Payment },
  answer: ReceiptAnswer,
  now: Temporal.Instant,
): Promise<boolean> => {
  const after = answered(receipt, answer, now);
  if (after.status === 'pending') return moveReceipt(pool, receipt, after, []);
  const events = [eventRow(receiptEnded(after, payment.webhookUrl, now))];
  if (after.status === 'registered') return moveReceipt(pool, receipt, after, events);
  return inTransaction(
    pool,
    async (client) => {
      const isMoved = await moveReceipt(client, receipt, after, events);
      if (isMoved) await alertOf(client, payment, after, now);
      return isMoved;
    },
    (isMoved) => isMoved,
  );
};
