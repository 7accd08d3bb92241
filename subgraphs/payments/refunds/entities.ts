/** The table of refunds. CHECK constraints state what must never be. */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { InstantType } from '../../platform/database/instant.ts';
import type { Row } from '../../platform/database/statement.ts';
import type { FailureCode } from '../../rules/failure-code.ts';
import type { Mode } from '../../rules/mode.ts';
import type { RefundStatus } from './rules.ts';

const instant = () => p.type(InstantType).$type<Temporal.Instant>();

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
  indexes: [
    { name: 'refund_registry', properties: ['merchantId', 'shopId', 'mode', 'createdAt', 'id'] },
    {
      name: 'refund_filter',
      properties: ['merchantId', 'shopId', 'mode', 'status', 'createdAt', 'id'],
    },
    { name: 'refund_newest', properties: ['mode', 'createdAt', 'id'] },
    { name: 'refund_payment', properties: ['merchantId', 'paymentId', 'createdAt', 'id'] },
    { name: 'refund_ask_due', properties: ['askAt'], where: 'ask_at is not null' },
    {
      name: 'refund_due_of_merchant',
      properties: ['merchantId', 'askAt'],
      where: 'ask_at is not null',
    },
    { name: 'refund_pending', properties: ['createdAt'], where: "status = 'pending'" },
  ],
  checks: [
    { name: 'refund_amount', expression: 'amount >= 1 and amount <= 9007199254740991' },
    { name: 'refund_final', expression: "(status = 'pending'::text) = (completed_at is null)" },
    { name: 'refund_failed', expression: "(status = 'failed'::text) = (fail_reason is not null)" },
    {
      name: 'refund_status',
      expression: "status = any (array['pending'::text, 'succeeded'::text, 'failed'::text])",
    },
  ],
});
export type Refund = Row<InferEntity<typeof RefundEntity>>;
