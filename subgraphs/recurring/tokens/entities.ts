/**
 * Tables of the recurring subgraph: tokens here, subscriptions in `subscription-entities`. It owns
 * no money: its payments live in the payments subgraph.
 */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { InstantType } from '../../platform/database/instant.ts';
import type { Row } from '../../platform/database/statement.ts';
import type { Mode } from '../../rules/mode.ts';
import { subscriptionEntities } from '../subscriptions/entities.ts';
import type { SavableMethod } from '../../rules/recurring.ts';
import type { TokenStatus } from '../rules/token.ts';

const instant = () => p.type(InstantType).$type<Temporal.Instant>();

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
  indexes: [
    { name: 'token_customer', properties: ['merchantId', 'mode', 'customerRef', 'createdAt'] },
    { name: 'token_filter', properties: ['merchantId', 'mode', 'status', 'createdAt', 'id'] },
    { name: 'token_list', properties: ['merchantId', 'mode', 'createdAt', 'id'] },
    { name: 'token_pending', properties: ['createdAt'], where: "status = 'pending'" },
  ],
  checks: [
    {
      name: 'token_status',
      expression: "status = any (array['pending'::text, 'active'::text, 'cancelled'::text])",
    },
    { name: 'token_active', expression: "status <> 'active'::text or saved_reference is not null" },
  ],
});
export type Token = Row<InferEntity<typeof TokenEntity>>;

export type { Subscription, SubscriptionCharge } from '../subscriptions/entities.ts';

export const recurringEntities = [TokenEntity, ...subscriptionEntities];
