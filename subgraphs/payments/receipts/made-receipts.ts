/**
 * The receipts that a change of a payment makes: with the money that came, and with each refund
 * that succeeded. They are written by the statement of the change (`store-payment.sql`), so that
 * there is one for each movement, whatever crashes. Money that came too late, and money that a link
 * had no use for, was taken and goes back: both movements have their receipts.
 */
import { newRowId } from '../../platform/database/new-id.ts';
import { asRow } from '../../platform/database/statement.ts';
import { receiptDelay_ms } from '../../rules/receipt.ts';
import type { Payment, Refund } from '../entities.ts';
import { capturedOf } from '../holds/rules.ts';
import type { Receipt } from './entities.ts';
import { termsOf } from './rules.ts';

/** A row for `store-payment.sql`: what it does not have comes from its terms. */
const receiptRow = (
  { merchantId, id: paymentId, shopId, mode, currency }: Payment,
  made: Pick<Receipt, 'type' | 'refundId' | 'termsId' | 'amount'>,
  now: Temporal.Instant,
): object =>
  asRow({
    ...made,
    id: newRowId(),
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
  before: Payment,
  after: Payment,
  refund: Refund | null,
  now: Temporal.Instant,
): readonly object[] => {
  const rows: object[] = [];
  const termsId = termsOf(after);
  if (termsId !== null && before.capturedAt === null && after.capturedAt !== null) {
    const amount = capturedOf(after);
    rows.push(receiptRow(after, { type: 'payment', refundId: null, termsId, amount }, now));
  }
  if (refund?.status === 'succeeded' && refund.receiptTermsId !== null) {
    const { id: refundId, amount, receiptTermsId } = refund;
    const made = { type: 'refund', refundId, amount, termsId: receiptTermsId } as const;
    rows.push(receiptRow(after, made, now));
  }
  return rows;
};
