/** Tables of the payments subgraph. */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { instant } from '../platform/database/instant.ts';
import type { Row } from '../platform/database/statement.ts';
import type { DraftStatus } from '../platform/drafts/rules.ts';
import { draftColumns } from '../platform/drafts/drafts.ts';
import type { BankStep, PlannedOutcome } from '../rules/banks.ts';
import type { FailureCode } from '../rules/failure-code.ts';
import type { Mode } from '../rules/mode.ts';
import type {
  KeptItem,
  ReceiptCustomer,
  ReceiptStatus,
  ReceiptType,
  ShownTerms,
} from '../rules/receipt.ts';
import type { RecurringKind } from '../rules/recurring.ts';
import type { LinkStatus } from './links/rules.ts';
import type { HoldOrderKind, RefundStatus } from './rules/amounts.ts';
import type { PaymentMethod, PaymentStatus } from './rules/payment.ts';

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
});
export type Payment = Row<InferEntity<typeof PaymentEntity>>;
/** A payment of a saved method. */
export type RecurringPayment = Payment & { readonly kind: RecurringKind; readonly tokenId: string };

export const PaymentNoteEntity = defineEntity({
  name: 'PaymentNote',
  tableName: 'payment_note',
  properties: {
    merchantId: p.uuid().primary(),
    paymentId: p.uuid().primary(),
    /** Counts the notes of a payment. */
    number: p.integer().primary(),
    id: p.uuid(),
    /** The writer's subject. */
    author: p.text(),
    createdAt: instant(),
    text: p.text(),
  },
});
export type PaymentNote = Row<InferEntity<typeof PaymentNoteEntity>>;

/** A proposed refund. The refund created from it has its id. */
export const RefundDraftEntity = defineEntity({
  name: 'RefundDraft',
  tableName: 'refund_draft',
  properties: {
    merchantId: p.uuid().primary(),
    id: p.uuid().primary(),
    paymentId: p.uuid(),
    shopId: p.uuid(),
    mode: p.text().$type<Mode>(),
    amount: p.bigint(),
    currency: p.text(),
    status: p.text().$type<DraftStatus>(),
    reason: p.text(),
    /** Its id when terms of its own receipt were given; null: those of the payment. */
    receiptTermsId: p.uuid().strictNullable(),
    ...draftColumns(),
  },
});
export type RefundDraft = Row<InferEntity<typeof RefundDraftEntity>>;

export const RefundEntity = defineEntity({
  name: 'Refund',
  tableName: 'refund',
  properties: {
    merchantId: p.uuid().primary(),
    id: p.uuid().primary(),
    paymentId: p.uuid(),
    shopId: p.uuid(),
    mode: p.text().$type<Mode>(),
    amount: p.bigint(),
    reason: p.text().nullable(),
    /** The merchant's own pairs, in their order; null: none. */
    metadata: p.json<Record<string, string>>().columnType('json').nullable(),
    status: p.text().$type<RefundStatus>(),
    failReason: p.text().$type<FailureCode>().nullable(),
    createdAt: instant(),
    completedAt: instant().nullable(),
    /** The terms of its receipt, its own or its payment's; null: it has none. */
    receiptTermsId: p.uuid().nullable(),
    /** The bank's reference of it; null until the bank gave one. */
    bankRef: p.text().nullable(),
    /** When the bank is queried next; null if there is nothing to query. */
    askAt: instant().nullable(),
  },
});
export type Refund = Row<InferEntity<typeof RefundEntity>>;

/** A payment link. Its id is random: the address of its page is made of it. */
export const PaymentLinkEntity = defineEntity({
  name: 'PaymentLink',
  tableName: 'payment_link',
  properties: {
    merchantId: p.uuid().primary(),
    id: p.uuid().primary(),
    shopId: p.uuid(),
    mode: p.text().$type<Mode>(),
    /** The address of its page. */
    url: p.text(),
    status: p.text().$type<LinkStatus>(),
    /** Null: the buyer types one from `amountMin` to `amountMax`. */
    amount: p.bigint().strictNullable(),
    amountMin: p.bigint().strictNullable(),
    amountMax: p.bigint().strictNullable(),
    currency: p.text(),
    description: p.text().strictNullable(),
    orderId: p.text().strictNullable(),
    method: p.text().$type<PaymentMethod>(),
    /** Null: automatic. */
    capture: p.text().$type<'manual'>().strictNullable(),
    /** Null: without limit. */
    uses: p.integer().strictNullable(),
    usesLeft: p.integer().strictNullable(),
    returnUrl: p.text().strictNullable(),
    metadata: p.json<Record<string, string>>().columnType('json'),
    /** Of each of its payments, as everybody sees it; its terms have the link's id. */
    receipt: p.json<ShownTerms>().columnType('json').strictNullable(),
    /** Of payments that succeeded and were not given back for want of a use. */
    paymentsCount: p.integer(),
    /** Their sum, of any size: an exact number as text. */
    amountPaid: p.decimal().columnType('numeric'),
    expiresAt: instant(),
    createdAt: instant(),
    finalizedAt: instant().strictNullable(),
  },
});
export type PaymentLink = Row<InferEntity<typeof PaymentLinkEntity>>;

/** Which link a payment was made through. */
export const LinkPaymentEntity = defineEntity({
  name: 'LinkPayment',
  tableName: 'link_payment',
  properties: {
    merchantId: p.uuid().primary(),
    paymentId: p.uuid().primary(),
    linkId: p.uuid(),
  },
});

/** A receipt of a movement of money. */
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

export const paymentsEntities = [
  PaymentEntity,
  RefundEntity,
  PaymentLinkEntity,
  LinkPaymentEntity,
  PaymentNoteEntity,
  RefundDraftEntity,
  ReceiptEntity,
];
