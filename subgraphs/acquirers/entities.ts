/** The simulator's own records: what a bank would keep on its side. */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import type { AccountPurpose } from './bank-accounts.ts';
import { InstantType } from '../platform/database/instant.ts';
import type { Row } from '../platform/database/statement.ts';
import type { FailureCode } from '../rules/failure-code.ts';
import type { PlannedOutcome } from '../rules/buyer.ts';
import type { BankOperation, RouteMethod } from '../rules/banks.ts';
import type { Mode } from '../rules/mode.ts';

const instant = () => p.type(InstantType).$type<Temporal.Instant>();

const SimulatorOperationEntity = defineEntity({
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
  indexes: [{ name: 'simulator_operation_age', properties: ['createdAt'] }],
});
export type SimulatorOperation = Row<InferEntity<typeof SimulatorOperationEntity>>;

/** What the simulated bank was ordered to do with a hold, and whether it did. */
const SimulatorHoldOrderEntity = defineEntity({
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
  uniques: [
    {
      name: 'simulator_hold_settled',
      properties: ['merchantId', 'paymentId'],
      where: 'failure_code is null',
    },
  ],
  indexes: [{ name: 'simulator_hold_order_age', properties: ['createdAt'] }],
  checks: [
    {
      name: 'simulator_hold_order_kind',
      expression: "kind = any (array['capture'::text, 'release'::text])",
    },
  ],
});
export type SimulatorHoldOrder = Row<InferEntity<typeof SimulatorHoldOrderEntity>>;

/** The callbacks that the simulated bank will send about a payment. */
const SimulatorCallbackEntity = defineEntity({
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
  indexes: [{ name: 'simulator_callback_due', properties: ['dueAt'] }],
  checks: [
    {
      name: 'simulator_callback_kind',
      expression: "kind = any (array['decision'::text, 'opposite'::text, 'pending'::text])",
    },
  ],
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
  uniques: [
    {
      name: 'bank_route_once',
      properties: ['merchantId', 'shopId', 'mode', 'operation', 'method', 'connector'],
    },
  ],
});
export type BankRoute = Row<InferEntity<typeof BankRouteEntity>>;

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
  uniques: [
    {
      name: 'bank_account_active',
      properties: ['merchantId', 'connector', 'purpose'],
      where: 'active',
    },
  ],
  checks: [
    {
      name: 'bank_account_purpose',
      expression: "purpose = any (array['payments'::text, 'payouts'::text])",
    },
  ],
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
    /** The person who named it. */
    connector: p.text(),
    refreshedAt: instant(),
  },
  checks: [{ name: 'sbp_bank_member', expression: "member_id ~ '^[0-9]{12}$'::text" }],
});

/** An order that went out to a bank that has no idempotency key for it (`claim-order`). */
const BankOrderEntity = defineEntity({
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

export const banksEntities = [
  SimulatorOperationEntity,
  SimulatorHoldOrderEntity,
  SimulatorCallbackEntity,
  BankRouteEntity,
  BankAccountEntity,
  SbpBankEntity,
  BankOrderEntity,
];
