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

/** A row for `insertReceiptsFrom`: what it does not have comes from its terms. */
export const receiptRow = (
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

/** The columns that a receipt has from its movement, with their types. */
const own = {
  merchant_id: 'uuid',
  id: 'uuid',
  shop_id: 'uuid',
  mode: 'text',
  payment_id: 'uuid',
  refund_id: 'uuid',
  type: 'text',
  amount: 'int8',
  currency: 'text',
  terms_id: 'uuid',
  ask_at: 'timestamptz',
  created_at: 'timestamptz',
} as const;
const ownNames = Object.keys(own);

/**
 * SQL: writes receipts of one merchant from the JSON array in `parameter`, each where `condition`
 * has a row for `made`. One without its terms fails: a movement must not be written without its
 * receipt.
 */
export const insertReceiptsFrom = (
  parameter: string,
  merchant: string,
  condition: string,
): string =>
  `insert into receipt (version, status, attempt, tax_system, items, customer_shown, ${ownNames.join(', ')})
    select 1, 'pending', 0, terms.tax_system, terms.items, terms.customer_shown, ${ownNames.map((name) => (name === 'merchant_id' ? `${merchant}::uuid` : `made.${name}`)).join(', ')}
    from jsonb_to_recordset(${parameter}::jsonb) as made (${Object.entries(own)
      .map(([name, type]) => `${name} ${type}`)
      .join(', ')})
    left join receipt_terms as terms on terms.merchant_id = ${merchant} and terms.subject_id = made.terms_id
    where exists (${condition})`;
