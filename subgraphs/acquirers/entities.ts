/**
 * Tables of the acquirers: the simulator's own records, which a bank would keep on its side, the
 * calls to banks, and the terms of receipts.
 */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { instant } from '../platform/database/instant.ts';
import type { Row } from '../platform/database/statement.ts';
import type { BankOperation, RouteMethod, PlannedOutcome } from '../rules/banks.ts';
import type { FailureCode } from '../rules/failure-code.ts';
import type { Mode } from '../rules/mode.ts';
import type { KeptItem, ReceiptCustomer } from '../rules/receipt.ts';

export const SimulatorOperationEntity = defineEntity({
  name: 'SimulatorOperation',
  tableName: 'simulator_operation',
  properties: {
    merchantId: p.uuid().primary(),
    /** Our operation's id: the key under which a repeated call finds the first. */
    operationId: p.uuid().primary(),
    reference: p.text(),
    outcome: p.text().$type<PlannedOutcome>(),
    failureCode: p.text().$type<FailureCode>().strictNullable(),
    /** When the answer becomes final by itself; null: it waits for the buyer, or never comes. */
    answerAt: instant().strictNullable(),
    cardBrand: p.text().strictNullable(),
    cardMask: p.text().strictNullable(),
    cardHolder: p.text().strictNullable(),
    createdAt: instant(),
    /** Present: it holds the money until a separate order captures it. */
    holds: p.boolean().strictNullable(),
    /** It answers no query before this moment; null: it answers. */
    silentUntil: instant().strictNullable(),
    /**
     * For a saved method that refuses its first charge: that charge, its own operation before there
     * is one. Null: it refuses none.
     */
    firstCharge: p.uuid().strictNullable(),
  },
});
export type SimulatorOperation = Row<InferEntity<typeof SimulatorOperationEntity>>;

/** What the simulated bank was ordered to do with a hold, and whether it did. */
export const SimulatorHoldOrderEntity = defineEntity({
  name: 'SimulatorHoldOrder',
  tableName: 'simulator_hold_order',
  properties: {
    merchantId: p.uuid().primary(),
    operationId: p.uuid().primary(),
    paymentId: p.uuid(),
    kind: p.text().$type<'capture' | 'release'>(),
    amount: p.bigint(),
    /** Present: it refused. */
    failureCode: p.text().$type<FailureCode>().strictNullable(),
    /** When it answers; null: never. */
    answerAt: instant().strictNullable(),
    createdAt: instant(),
  },
});
export type SimulatorHoldOrder = Row<InferEntity<typeof SimulatorHoldOrderEntity>>;

/** The callbacks that the simulated bank will send about a payment. */
export const SimulatorCallbackEntity = defineEntity({
  name: 'SimulatorCallback',
  tableName: 'simulator_callback',
  properties: {
    merchantId: p.uuid().primary(),
    operationId: p.uuid().primary(),
    number: p.integer().primary(),
    shopId: p.uuid(),
    mode: p.text().$type<Mode>(),
    kind: p.text().$type<'decision' | 'opposite' | 'pending'>(),
    dueAt: instant(),
  },
});
export type SimulatorCallback = Row<InferEntity<typeof SimulatorCallbackEntity>>;

/**
 * Which connector serves an operation of a shop by a method. Of several the lowest priority that
 * this installation has wins.
 */
export const BankRouteEntity = defineEntity({
  name: 'BankRoute',
  tableName: 'bank_route',
  properties: {
    merchantId: p.uuid().primary(),
    id: p.uuid().primary(),
    shopId: p.uuid().groups('audit'),
    mode: p.text().$type<Mode>(),
    operation: p.text().$type<BankOperation>().groups('audit'),
    method: p.text().$type<RouteMethod>().groups('audit'),
    connector: p.text().groups('audit'),
    priority: p.integer().groups('audit'),
    active: p.boolean().groups('audit'),
    createdAt: instant(),
  },
});
export type BankRoute = Row<InferEntity<typeof BankRouteEntity>>;

/** The purpose of an account: acquirers have separate ones for incoming and outgoing money. */
export type AccountPurpose = 'payments' | 'payouts';

/**
 * A merchant's own account at an acquirer. At most one for each purpose is active; the others are
 * queried about their orders.
 */
export const BankAccountEntity = defineEntity({
  name: 'BankAccount',
  tableName: 'bank_account',
  properties: {
    merchantId: p.uuid().primary(),
    connector: p.text().primary().groups('audit'),
    purpose: p.text().$type<AccountPurpose>().primary().groups('audit'),
    /** The shop, gateway or terminal there. */
    account: p.text().primary().groups('audit'),
    secretSealed: p.text().hidden(),
    active: p.boolean(),
    createdAt: instant(),
    changedAt: instant(),
  },
});
export type BankAccount = Row<InferEntity<typeof BankAccountEntity>>;

/** A participant of SBP as an acquirer last named it; the service's own list stands under these. */
export const SbpBankEntity = defineEntity({
  name: 'SbpBank',
  tableName: 'sbp_bank',
  properties: {
    memberId: p.text().primary(),
    name: p.text(),
    nameEn: p.text(),
    /** The one whose bank named it last. */
    connector: p.text(),
    refreshedAt: instant(),
  },
});

/** An order that went out to a bank that has no idempotency key for it (`tbank/orders`). */
export const BankOrderEntity = defineEntity({
  name: 'BankOrder',
  tableName: 'bank_order',
  properties: {
    merchantId: p.uuid().primary(),
    /** The order's owner: a refund's payment. */
    subjectId: p.uuid().primary(),
    operationId: p.uuid().primary(),
    sentAt: instant(),
  },
});

/**
 * One call to a bank about an operation: the request and the answer, as far as the port names them.
 * Never a card, a recipient or a secret.
 */
export const BankCallEntity = defineEntity({
  name: 'BankCall',
  tableName: 'bank_call',
  properties: {
    merchantId: p.uuid().primary(),
    /** The operation as the bank knows it: a payment, a refund, a payout, or a hold's order. */
    subjectId: p.uuid().primary(),
    id: p.uuid().primary(),
    connector: p.text(),
    /** The call of the port: `openSession`, `ask`, `refund`... */
    call: p.text(),
    amount: p.bigint().strictNullable(),
    currency: p.text().strictNullable(),
    /** The kind of the answer, or `threw`. */
    answer: p.text(),
    reference: p.text().strictNullable(),
    failureCode: p.text().strictNullable(),
    bankCode: p.text().strictNullable(),
    duration_ms: p.integer(),
    /** When it was made, by the operation's time. Its partition. */
    createdAt: instant().primary(),
  },
});
export type BankCall = Row<InferEntity<typeof BankCallEntity>>;

/**
 * What receipts are made of, by the subject that it was given with: a payment, a refund, a closing
 * receipt, or the order of a capture (`hold_key`); of what makes payments, its own id. Additions,
 * section 2.
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
});
export type NewTerms = Row<InferEntity<typeof ReceiptTermsEntity>>;

export const banksEntities = [
  SimulatorOperationEntity,
  SimulatorHoldOrderEntity,
  SimulatorCallbackEntity,
  BankRouteEntity,
  BankAccountEntity,
  SbpBankEntity,
  BankOrderEntity,
  BankCallEntity,
  ReceiptTermsEntity,
];
