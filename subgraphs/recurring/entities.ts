/** Tables of the recurring subgraph. It owns no money: its payments live in the payments subgraph. */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { InstantType } from '../kernel/database/instant.ts';
import type { Row } from '../kernel/database/statement.ts';
import type { Mode } from '../kernel/rules/mode.ts';

const moment = () => p.type(InstantType).$type<Temporal.Instant>();

export const TokenEntity = defineEntity({
  name: 'Token',
  tableName: 'token',
  properties: {
    merchantId: p.uuid().primary(),
    id: p.uuid().primary(),
    shopId: p.uuid(),
    mode: p.text().$type<Mode>(),
    customerRef: p.text(),
    method: p.text().$type<'cards' | 'sbp' | 'tpay'>(),
    status: p.text().$type<'pending' | 'active' | 'cancelled'>(),
    cardBrand: p.text().nullable(),
    cardMask: p.text().nullable(),
    cardHolder: p.text().nullable(),
    lastChargedAt: moment().nullable(),
    createdAt: moment(),
  },
  indexes: [{ name: 'token_customer', properties: ['merchantId', 'mode', 'customerRef', 'createdAt'] }],
});
export type Token = Row<InferEntity<typeof TokenEntity>>;

export const SubscriptionEntity = defineEntity({
  name: 'Subscription',
  tableName: 'subscription',
  properties: {
    merchantId: p.uuid().primary(),
    id: p.uuid().primary(),
    shopId: p.uuid(),
    mode: p.text().$type<Mode>(),
    customerRef: p.text(),
    planName: p.text().nullable(),
    amount: p.bigint(),
    currency: p.text(),
    method: p.text().$type<'cards' | 'sbp' | 'tpay'>(),
    period: p.text().$type<'day' | 'week' | 'month' | 'year'>(),
    intervalCount: p.integer(),
    trialDays: p.integer(),
    status: p.text().$type<'pending' | 'active' | 'past_due' | 'paused' | 'cancelled'>(),
    tokenId: p.uuid().nullable(),
    nextChargeAt: moment().nullable(),
    lastChargeAt: moment().nullable(),
    createdAt: moment(),
  },
  indexes: [{ name: 'subscription_list', properties: ['merchantId', 'mode', 'createdAt', 'id'] }],
  checks: [{ name: 'subscription_amount', expression: 'amount >= 1 and amount <= 9007199254740991' }],
});
export type Subscription = Row<InferEntity<typeof SubscriptionEntity>>;

export const recurringEntities = [TokenEntity, SubscriptionEntity];
