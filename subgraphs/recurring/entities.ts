/**
 * Tables of tokens, subscriptions and their charges. The subgraph owns no money: its payments live
 * in the payments subgraph.
 */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import type { enums } from '../../schema/generated/enums.ts';
import { instant } from '../platform/database/instant.ts';
import type { Row } from '../platform/database/statement.ts';
import type { FailureCode } from '../rules/failure-code.ts';
import type { Mode } from '../rules/mode.ts';
import type { SavableMethod } from '../rules/recurring.ts';
import type { SchedulePeriod } from './rules/schedule.ts';
import type { SubscriptionStatus } from './rules/subscription.ts';
import type { TokenStatus } from './rules/token.ts';

export const SubscriptionEntity = defineEntity({
  name: 'Subscription',
  tableName: 'subscription',
  properties: {
    merchantId: p.uuid().primary(),
    id: p.uuid().primary(),
    /** Grows with every write; a decision on an older version is made again. */
    version: p.integer(),
    shopId: p.uuid(),
    mode: p.text().$type<Mode>(),
    customerRef: p.text(),
    customerEmail: p.text().strictNullable(),
    customerPhone: p.text().strictNullable(),
    planName: p.text().strictNullable(),
    /** Where the buyer returns after binding the method. */
    returnUrl: p.text().strictNullable(),
    /** The merchant's own pairs, in their original order; null: none. */
    metadata: p.json<Record<string, string>>().columnType('json').strictNullable(),
    amount: p.bigint(),
    currency: p.text(),
    method: p.text().$type<'cards' | 'sbp' | 'tpay'>(),
    period: p.text().$type<SchedulePeriod>(),
    intervalCount: p.integer(),
    trialDays: p.integer(),
    status: p.text().$type<SubscriptionStatus>(),
    /** The charged token: pending with the subscription until the buyer binds it. */
    tokenId: p.uuid(),
    /** The first date of the schedule; null until the method is bound. */
    anchorAt: instant().strictNullable(),
    /** How many periods have begun. */
    periods: p.integer(),
    /** Failed charges in a row. */
    failures: p.integer(),
    /**
     * When the sweep charges next; null while a charge is in progress, and when none is scheduled.
     */
    dueAt: instant().strictNullable(),
    nextChargeAt: instant().strictNullable(),
    lastChargeAt: instant().strictNullable(),
    pausedAt: instant().strictNullable(),
    cancelledAt: instant().strictNullable(),
    cancelReason: p.text().strictNullable(),
    createdAt: instant(),
    /** The source of each period's receipt terms: its own id, or null without a receipt. */
    receiptTermsId: p.uuid().strictNullable(),
  },
});
export type Subscription = Row<InferEntity<typeof SubscriptionEntity>>;

/** open: its payment is not final, or not yet made. cancelled: the merchant cancelled it. */
export type ChargeStatus = (typeof enums.SubscriptionChargeStatus)[number];

export const SubscriptionChargeEntity = defineEntity({
  name: 'SubscriptionCharge',
  tableName: 'subscription_charge',
  properties: {
    merchantId: p.uuid().primary(),
    subscriptionId: p.uuid().primary(),
    /** From 1; 0 is the verification that begins a trial. */
    period: p.integer().primary(),
    /** From 1, within the period. */
    attempt: p.integer().primary(),
    shopId: p.uuid(),
    mode: p.text().$type<Mode>(),
    kind: p.text().$type<'subscription_init' | 'subscription_charge'>(),
    amount: p.bigint(),
    currency: p.text(),
    status: p.text().$type<ChargeStatus>(),
    /** The payment's id, known before its creation; null when payments refused it. */
    paymentId: p.uuid().strictNullable(),
    failureCode: p.text().$type<FailureCode>().strictNullable(),
    /** When the payment is requested; null once it is known to exist. */
    askAt: instant().strictNullable(),
    createdAt: instant(),
    settledAt: instant().strictNullable(),
  },
});
export type SubscriptionCharge = Row<InferEntity<typeof SubscriptionChargeEntity>>;

export const TokenEntity = defineEntity({
  name: 'Token',
  tableName: 'token',
  properties: {
    merchantId: p.uuid().primary(),
    id: p.uuid().primary(),
    shopId: p.uuid(),
    mode: p.text().$type<Mode>(),
    customerRef: p.text(),
    method: p.text().$type<SavableMethod>(),
    status: p.text().$type<TokenStatus>(),
    cardBrand: p.text().strictNullable(),
    cardMask: p.text().strictNullable(),
    cardHolder: p.text().strictNullable(),
    /** The payment that binds it; null until payments made one. */
    bindingPaymentId: p.uuid().strictNullable(),
    /** The saved method as payments name it; null until it is bound. Never leaves the service. */
    savedReference: p.text().strictNullable(),
    customerEmail: p.text().strictNullable(),
    /** The merchant's own pairs, in the order in which they came; null: none. */
    metadata: p.json<Record<string, string>>().columnType('json').strictNullable(),
    lastChargedAt: instant().strictNullable(),
    createdAt: instant(),
  },
});
export type Token = Row<InferEntity<typeof TokenEntity>>;

export const recurringEntities = [TokenEntity, SubscriptionEntity, SubscriptionChargeEntity];
