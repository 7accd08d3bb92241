/**
 * The receipts that a change of a payment makes: with the money that came, and with each refund
 * that succeeded. They are written by the statement of the change (`store-payment.sql`), so that
 * there is one for each movement, whatever crashes. Money that came too late, and money that a link
 * had no use for, was taken and goes back: both movements have their receipts.
 */
import { newRowId } from '../../platform/database/new-id.ts';
import { asRow } from '../../platform/database/statement.ts';
import type { Mode } from '../../rules/mode.ts';
import { receiptDelay_ms, type ReceiptType } from '../../rules/receipt.ts';
import { capturedOf, type Capturing } from '../holds/rules.ts';
import { termsOf, type Receipted } from './rules.ts';

/** What of a payment its receipts are made of. */
interface ReceiptedPayment extends Receipted, Capturing {
  readonly merchantId: string;
  readonly id: string;
  readonly shopId: string;
  readonly mode: Mode;
  readonly currency: string;
}

/** What of a refund its receipt is made of. */
interface ReceiptedRefund {
  readonly id: string;
  readonly amount: bigint;
  readonly status: string;
  readonly receiptTermsId: string | null;
}

interface MadeReceipt {
  readonly id: string;
  readonly type: ReceiptType;
  readonly refundId: string | null;
  readonly termsId: string;
  readonly amount: bigint;
}

/** A row for `store-payment.sql`: what it does not have comes from its terms. */
const receiptRow = (
  { merchantId, id: paymentId, shopId, mode, currency }: ReceiptedPayment,
  made: MadeReceipt,
  now: Temporal.Instant,
): object =>
  asRow({
    ...made,
    merchantId,
    shopId,
    mode,
    paymentId,
    currency,
    askAt: now.add({ milliseconds: receiptDelay_ms }),
    createdAt: now,
  });

/** The rows of the receipts that a change makes; none for a payment without a receipt. */
export const receiptsMade = (
  before: ReceiptedPayment,
  after: ReceiptedPayment,
  refund: ReceiptedRefund | null,
  now: Temporal.Instant,
): readonly object[] => {
  const rows: object[] = [];
  const termsId = termsOf(after);
  if (termsId !== null && before.capturedAt === null && after.capturedAt !== null) {
    const amount = capturedOf(after);
    const made = { id: newRowId(), type: 'payment', refundId: null, termsId, amount } as const;
    rows.push(receiptRow(after, made, now));
  }
  if (refund?.status === 'succeeded' && refund.receiptTermsId !== null) {
    const { id: refundId, amount, receiptTermsId } = refund;
    const made = { id: newRowId(), type: 'refund', refundId, amount } as const;
    rows.push(receiptRow(after, { ...made, termsId: receiptTermsId }, now));
  }
  return rows;
};
