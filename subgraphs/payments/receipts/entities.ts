/** Tables of receipts. Additions, section 2. */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { instant } from '../../platform/database/instant.ts';
import type { Row } from '../../platform/database/statement.ts';
import type { Mode } from '../../rules/mode.ts';
import type { KeptItem, ReceiptCustomer, ReceiptStatus, ReceiptType } from '../../rules/receipt.ts';

export const ReceiptEntity = defineEntity({
  name: 'Receipt',
  tableName: 'receipt',
  properties: {
    merchantId: p.uuid().primary(),
    id: p.uuid().primary(),
    /** Grows with every write. */
    version: p.integer(),
    shopId: p.uuid(),
    mode: p.text().$type<Mode>(),
    paymentId: p.uuid(),
    refundId: p.uuid().nullable(),
    type: p.text().$type<ReceiptType>(),
    status: p.text().$type<ReceiptStatus>(),
    amount: p.bigint(),
    currency: p.text(),
    /** Whose terms it has. */
    termsId: p.uuid(),
    taxSystem: p.integer().nullable(),
    items: p.json<readonly KeptItem[]>().columnType('json'),
    customerShown: p.json<ReceiptCustomer>().columnType('json').nullable(),
    fiscalStorageNumber: p.text().nullable(),
    fiscalDocumentNumber: p.text().nullable(),
    fiscalAttribute: p.text().nullable(),
    registeredAt: instant().nullable(),
    failureReason: p.text().nullable(),
    /** How often it was sent again. */
    attempt: p.integer(),
    /** When its bank is queried next; null if there is nothing to query. */
    askAt: instant().nullable(),
    createdAt: instant(),
  },
});
export type Receipt = Row<InferEntity<typeof ReceiptEntity>>;
