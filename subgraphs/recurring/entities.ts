/** Tables of the recurring subgraph: tokens here, subscriptions in `subscription-entities`. It owns no money: its payments live in the payments subgraph. */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { InstantType } from '../kernel/database/instant.ts';
import type { Row } from '../kernel/database/statement.ts';
import type { Mode } from '../kernel/rules/mode.ts';
import { subscriptionEntities } from './subscription-entities.ts';

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

export type { Subscription } from './subscription-entities.ts';

export const recurringEntities = [TokenEntity, ...subscriptionEntities];
