/** Tables of the payments subgraph. CHECK constraints refuse what must never be. */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { InstantType } from '../platform/database/instant.ts';
import type { Row } from '../platform/database/statement.ts';
import type { FailureCode } from '../rules/failure-code.ts';
import type { Mode } from '../rules/mode.ts';
import type { BankStep, PlannedOutcome } from '../rules/buyer.ts';
import type { PaymentMethod, PaymentStatus } from './rules/payment.ts';
import type { RecurringKind } from '../rules/recurring.ts';
import type { HoldOrderKind } from './holds/rules.ts';
import { PageOpeningEntity } from './checkout/entities.ts';
import { LinkPaymentEntity, PaymentLinkEntity } from './links/entities.ts';
import { PaymentNoteEntity } from './notes/entities.ts';
import { RefundDraftEntity } from './refund-drafts/entities.ts';
import { ReceiptTermsEntity } from '../acquirers/receipts/entities.ts';
import { ReceiptEntity } from './receipts/entities.ts';
import { RefundEntity } from './refunds/entities.ts';

const instant = () => p.type(InstantType).$type<Temporal.Instant>();

export const PaymentEntity = defineEntity({
  name: 'Payment',
  tableName: 'payment',
  properties: {
    merchantId: p.uuid().primary(),
    id: p.uuid().primary(),
    /** Grows with every write: the hot writes guard themselves with it. */
    version: p.integer(),
    publicId: p.text(),
    shopId: p.uuid(),
    terminalId: p.uuid(),
    terminalName: p.text(),
    shopName: p.text(),
    mode: p.text().$type<Mode>(),
    orderId: p.text(),
    amount: p.bigint(),
    /** Null: the money is taken as the buyer pays. */
    capture: p.text().$type<'manual'>().nullable(),
    /** What a capture takes, from its order on. Null: everything. It was taken at `capturedAt`. */
    amountCaptured: p.bigint().nullable(),
    /** While it is authorized: when the hold ends. */
    captureBefore: instant().nullable(),
    /** What the bank was ordered to do with the hold, under which key; null: nothing. */
    holdOrder: p.text().$type<HoldOrderKind>().nullable(),
    holdKey: p.uuid().nullable(),
    /** The terms of its receipt, its own or those of its creator; null: it has none. */
    receiptTermsId: p.uuid().nullable(),
    /** Whose a capture has, from its order on. Null: the payment's. */
    captureTermsId: p.uuid().nullable(),
    amountRefunded: p.bigint(),
    amountUsdt: p.double().$type<number>().nullable(),
    currency: p.text(),
    method: p.text().$type<PaymentMethod>(),
    status: p.text().$type<PaymentStatus>(),
    rrn: p.text().nullable(),
    bankName: p.text().nullable(),
    /**
     * The bank that has its session, by its connector's name: it is asked there, whatever the
     * routes say by then.
     */
    connector: p.text().nullable(),
    returnUrl: p.text().nullable(),
    /** Null: the page leads back by itself, also after a failure. */
    onDecline: p.text().$type<'stay'>().nullable(),
    webhookUrl: p.text().nullable(),
    description: p.text().nullable(),
    customerId: p.text().nullable(),
    /** `json`, not `jsonb`: the merchant's pairs come back in the order in which they came. */
    metadata: p.json<Record<string, string>>().columnType('json'),
    createdAt: instant(),
    expiresAt: instant(),
    processingUntil: instant().nullable(),
    capturedAt: instant().nullable(),
    finalizedAt: instant().nullable(),
    /** When the bank is queried next; null if there is nothing to query. */
    askAt: instant().nullable(),
    /** When its order was given to the bank last, for its buyer; null before. */
    orderedAt: instant().nullable(),
    customerCardBrand: p.text().nullable(),
    customerCardMask: p.text().nullable(),
    customerCardHolder: p.text().nullable(),
    customerPhoneMask: p.text().nullable(),
    customerPayerBank: p.text().nullable(),
    fee: p.bigint().nullable(),
    feeRateBps: p.integer().nullable(),
    bankRef: p.text().nullable(),
    /** What the buyer must do at the bank; null while the bank has no order (`rules/order`). */
    step: p.text().$type<BankStep>().nullable(),
    stepUrl: p.text().nullable(),
    failureCode: p.text().$type<FailureCode>().nullable(),
    plannedOutcome: p.text().$type<PlannedOutcome>().nullable(),
    plannedFailureCode: p.text().$type<FailureCode>().nullable(),
    /**
     * The purpose and owner of a payment of a saved method; null for the merchant's own payments.
     */
    kind: p.text().$type<RecurringKind>().nullable(),
    tokenId: p.uuid().nullable(),
    subscriptionId: p.uuid().nullable(),
    /** The key that made it; null where no key did, and before this was kept. */
    madeByKey: p.uuid().nullable(),
    /**
     * The saved method, `<connector>:<the bank's reference>`: the source of a charge, or the result
     * of a binding.
     */
    savedReference: p.text().nullable(),
    /** A payment of 1 RUB that only proves the method: it is voided, or given back. */
    verification: p.boolean().default(false),
  },
  indexes: [
    { name: 'payment_registry', properties: ['merchantId', 'shopId', 'mode', 'createdAt', 'id'] },
    {
      name: 'payment_filter',
      properties: ['merchantId', 'shopId', 'mode', 'status', 'createdAt', 'id'],
    },
    { name: 'payment_newest', properties: ['mode', 'createdAt', 'id'] },
    { name: 'payment_link_due', properties: ['expiresAt'], where: "status = 'pending'" },
    {
      name: 'payment_session_due',
      properties: ['processingUntil'],
      where: "status = 'processing'",
    },
    { name: 'payment_public', properties: ['publicId'] },
    // Also finds by the beginning.
    {
      name: 'payment_order',
      properties: ['merchantId', 'orderId'],
      expression: 'create index payment_order on payment (merchant_id, order_id text_pattern_ops)',
    },
    {
      name: 'payment_of_customer',
      properties: ['merchantId', 'customerId', 'createdAt', 'id'],
      where: 'customer_id is not null',
    },
    { name: 'payment_rrn', properties: ['merchantId', 'rrn'], where: 'rrn is not null' },
    { name: 'payment_ask_due', properties: ['askAt'], where: 'ask_at is not null' },
    {
      name: 'payment_due_of_merchant',
      properties: ['merchantId', 'askAt'],
      where: 'ask_at is not null',
    },
    {
      name: 'payment_hold_due',
      properties: ['captureBefore'],
      where: "status = 'authorized' and hold_order is null",
    },
    {
      name: 'payment_hold_open',
      properties: ['holdOrder'],
      where: 'hold_order is not null',
    },
  ],
  checks: [
    { name: 'payment_amount', expression: 'amount >= 1 and amount <= 9007199254740991' },
    { name: 'payment_refunded', expression: 'amount_refunded >= 0 and amount_refunded <= amount' },
    {
      name: 'payment_kind',
      expression:
        "kind = any (array['token_bind'::text, 'subscription_init'::text, 'token_charge'::text, 'subscription_charge'::text])",
    },
    { name: 'payment_of_token', expression: '(kind is null) = (token_id is null)' },
    { name: 'payment_fee', expression: 'fee is null or fee >= 0 and fee <= amount' },
    {
      name: 'payment_processing',
      expression: "status <> 'processing'::text or processing_until is not null",
    },
    { name: 'payment_on_decline', expression: "on_decline = any (array['stay'::text])" },
    { name: 'payment_capture', expression: "capture = any (array['manual'::text])" },
    {
      name: 'payment_captured',
      expression: 'amount_captured >= 1 and amount_captured <= amount',
    },
    {
      name: 'payment_hold',
      expression:
        "(hold_order is null) = (hold_key is null) and hold_order = any (array['capture'::text, 'cancel'::text, 'end'::text, 'give_up'::text])",
    },
    {
      name: 'payment_authorized',
      expression: "status <> 'authorized'::text or capture_before is not null",
    },
    {
      name: 'payment_status',
      expression:
        "status = any (array['pending'::text, 'processing'::text, 'authorized'::text, 'succeeded'::text, 'failed'::text, 'expired'::text, 'cancelled'::text, 'refunded'::text])",
    },
  ],
});
export type Payment = Row<InferEntity<typeof PaymentEntity>>;
/** A payment of a saved method. */
export type RecurringPayment = Payment & { readonly kind: RecurringKind; readonly tokenId: string };

export const paymentsEntities = [
  PaymentEntity,
  RefundEntity,
  PaymentLinkEntity,
  LinkPaymentEntity,
  PageOpeningEntity,
  PaymentNoteEntity,
  RefundDraftEntity,
  ReceiptTermsEntity,
  ReceiptEntity,
];
