/** The table of what receipts are made of. Additions, section 2. */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { InstantType } from '../../platform/database/instant.ts';
import type { Row } from '../../platform/database/statement.ts';
import type { Mode } from '../../rules/mode.ts';
import type { KeptItem, ReceiptCustomer } from '../../rules/receipt.ts';

const instant = () => p.type(InstantType).$type<Temporal.Instant>();

/**
 * What receipts are made of, by the subject that it was given with: a payment, a refund, a closing
 * receipt, or the order of a capture (`hold_key`); of what makes payments, its own id.
 */
export const ReceiptTermsEntity = defineEntity({
  name: 'ReceiptTerms',
  tableName: 'receipt_terms',
  properties: {
    merchantId: p.uuid().primary(),
    subjectId: p.uuid().primary(),
    shopId: p.uuid(),
    mode: p.text().$type<Mode>(),
    /** The payment that it is about; null: payments to come. */
    paymentId: p.uuid().nullable(),
    taxSystem: p.integer().nullable(),
    items: p.json<readonly KeptItem[]>().columnType('json'),
    /** Sealed (`platform/database/kept-keys`); null once it was erased. */
    customerSealed: p.text().nullable(),
    /** Masked, as everybody sees it; null once it was erased. */
    customerShown: p.json<ReceiptCustomer>().columnType('json').nullable(),
    createdAt: instant(),
  },
  indexes: [
    {
      name: 'receipt_terms_payment',
      properties: ['merchantId', 'paymentId'],
      where: 'payment_id is not null',
    },
  ],
});
export type NewTerms = Row<InferEntity<typeof ReceiptTermsEntity>>;
