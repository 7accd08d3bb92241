/** Receipts as the public JSON and webhooks have them (additions, section 2). */
import type { ReceiptFieldsFragment } from './generated/operations.ts';

/** What a receipt is made of. */
export const receiptTermsJson = ({
  customer,
  taxSystem,
  items,
}: Pick<ReceiptFieldsFragment, 'customer' | 'taxSystem' | 'items'>) => ({
  customer: {
    email: customer.email,
    phone: customer.phone,
    full_name: customer.fullName,
    inn: customer.inn,
  },
  tax_system: taxSystem,
  items: items.map((item) => ({
    description: item.description,
    quantity: item.quantity,
    price: item.price,
    vat_code: item.vatCode,
    payment_subject: item.paymentSubject,
    payment_mode: item.paymentMode,
    measure: item.measure,
    mark_code: item.markCode,
  })),
});

export const receiptJson = (receipt: ReceiptFieldsFragment) => ({
  id: receipt.id,
  payment_id: receipt.paymentId,
  refund_id: receipt.refundId,
  type: receipt.type,
  status: receipt.status,
  amount: receipt.amount,
  currency: receipt.currency,
  ...receiptTermsJson(receipt),
  fiscal_storage_number: receipt.fiscalStorageNumber,
  fiscal_document_number: receipt.fiscalDocumentNumber,
  fiscal_attribute: receipt.fiscalAttribute,
  registered_at: receipt.registeredAt,
  failure_reason: receipt.failureReason,
  created_at: receipt.createdAt,
});
