/** Tables of the payouts subgraph. */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { InstantType } from '../kernel/database/instant.ts';
import type { Row } from '../kernel/database/statement.ts';
import type { FailureCode } from '../kernel/rules/failure-code.ts';
import type { Mode } from '../kernel/rules/mode.ts';

const moment = () => p.type(InstantType).$type<Temporal.Instant>();

export const PayoutEntity = defineEntity({
  name: 'Payout',
  tableName: 'payout',
  properties: {
    merchantId: p.uuid().primary(),
    id: p.uuid().primary(),
    shopId: p.uuid(),
    terminalId: p.uuid(),
    mode: p.text().$type<Mode>(),
    amount: p.bigint(),
    currency: p.text(),
    method: p.text().$type<'payouts_sbp' | 'payouts_card' | 'payouts_account'>(),
    status: p.text().$type<'pending' | 'succeeded' | 'failed'>(),
    failReason: p.text().$type<FailureCode>().nullable(),
    recipientPhone: p.text().nullable(),
    recipientBankId: p.text().nullable(),
    recipientName: p.text().nullable(),
    /** Last 4 digits. */
    recipientCardMask: p.text().nullable(),
    bankRef: p.text().nullable(),
    createdAt: moment(),
    completedAt: moment().nullable(),
  },
  indexes: [
    { name: 'payout_registry', properties: ['merchantId', 'shopId', 'mode', 'createdAt', 'id'] },
    { name: 'payout_filter', properties: ['merchantId', 'shopId', 'mode', 'status', 'method', 'createdAt', 'id'] },
  ],
  checks: [{ name: 'payout_amount', expression: 'amount >= 1 and amount <= 9007199254740991' }],
});
export type Payout = Row<InferEntity<typeof PayoutEntity>>;

export const payoutsEntities = [PayoutEntity];
