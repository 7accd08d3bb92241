/** Tables of receipts. Additions, section 2. */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { InstantType } from '../../platform/database/instant.ts';
import type { Row } from '../../platform/database/statement.ts';
import type { Mode } from '../../rules/mode.ts';
import type { KeptItem, ReceiptCustomer, ReceiptStatus, ReceiptType } from '../../rules/receipt.ts';

const instant = () => p.type(InstantType).$type<Temporal.Instant>();

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
  indexes: [
    { name: 'receipt_registry', properties: ['merchantId', 'shopId', 'mode', 'createdAt', 'id'] },
    {
      name: 'receipt_filter',
      properties: ['merchantId', 'shopId', 'mode', 'status', 'createdAt', 'id'],
    },
    { name: 'receipt_newest', properties: ['mode', 'status', 'createdAt', 'id'] },
    { name: 'receipt_payment', properties: ['merchantId', 'paymentId', 'createdAt', 'id'] },
    {
      name: 'receipt_email',
      properties: ['merchantId'],
      expression:
        "create index receipt_email on receipt (merchant_id, (customer_shown ->> 'email'), created_at) where customer_shown ->> 'email' is not null",
    },
    {
      name: 'receipt_phone',
      properties: ['merchantId'],
      expression:
        "create index receipt_phone on receipt (merchant_id, (customer_shown ->> 'phone'), created_at) where customer_shown ->> 'phone' is not null",
    },
    { name: 'receipt_ask_due', properties: ['askAt'], where: 'ask_at is not null' },
    {
      name: 'receipt_due_of_merchant',
      properties: ['merchantId', 'askAt'],
      where: 'ask_at is not null',
    },
  ],
  uniques: [
    {
      name: 'receipt_of_payment',
      properties: ['merchantId', 'paymentId', 'type'],
      where: 'refund_id is null',
    },
    {
      name: 'receipt_of_refund',
      properties: ['merchantId', 'refundId'],
      where: 'refund_id is not null',
    },
  ],
  checks: [
    { name: 'receipt_amount', expression: 'amount >= 0 and amount <= 9007199254740991' },
    {
      name: 'receipt_type',
      expression: "type = any (array['payment'::text, 'refund'::text, 'closing'::text])",
    },
    { name: 'receipt_refund', expression: "(type = 'refund'::text) = (refund_id is not null)" },
    {
      name: 'receipt_status',
      expression: "status = any (array['pending'::text, 'registered'::text, 'failed'::text])",
    },
    {
      name: 'receipt_registered',
      expression:
        "(status = 'registered'::text) = (registered_at is not null) and (status = 'failed'::text) = (failure_reason is not null)",
    },
    { name: 'receipt_ask', expression: "ask_at is null or status = 'pending'::text" },
  ],
});
export type Receipt = Row<InferEntity<typeof ReceiptEntity>>;
