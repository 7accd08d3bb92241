/** The table of proposed refunds. */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { InstantType } from '../../kernel/database/instant.ts';
import type { Row } from '../../kernel/database/statement.ts';
import type { DraftStatus } from '../../kernel/drafts/rules.ts';
import type { Mode } from '../../kernel/rules/mode.ts';
import type { RefusalCode } from '../../kernel/rules/refusal.ts';

const instant = () => p.type(InstantType).$type<Temporal.Instant>();

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
    receiptTermsId: p.uuid().nullable(),
    /** The proposer's subject. */
    createdBy: p.text(),
    createdAt: instant(),
    expiresAt: instant(),
    /** The person who approved or rejected it; null while pending and when it expired. */
    decidedBy: p.text().nullable(),
    decidedAt: instant().nullable(),
    rejectReason: p.text().nullable(),
    /** The refusal of the last approval. */
    refusalCode: p.text().$type<RefusalCode>().nullable(),
    refusalMessage: p.text().nullable(),
    refusedAt: instant().nullable(),
  },
  indexes: [
    {
      name: 'refund_draft_registry',
      properties: ['merchantId', 'shopId', 'mode', 'createdAt', 'id'],
    },
    {
      name: 'refund_draft_filter',
      properties: ['merchantId', 'shopId', 'mode', 'status', 'createdAt', 'id'],
    },
    { name: 'refund_draft_newest', properties: ['mode', 'createdAt', 'id'] },
    {
      name: 'refund_draft_pending',
      properties: ['merchantId', 'mode'],
      where: "status = 'pending'",
    },
    { name: 'refund_draft_ends', properties: ['expiresAt'], where: "status = 'pending'" },
    { name: 'refund_draft_payment', properties: ['merchantId', 'paymentId', 'createdAt', 'id'] },
  ],
  checks: [
    { name: 'refund_draft_amount', expression: 'amount >= 1 and amount <= 9007199254740991' },
    {
      name: 'refund_draft_status',
      expression:
        "status = any (array['pending'::text, 'approved'::text, 'rejected'::text, 'expired'::text])",
    },
    {
      name: 'refund_draft_decided',
      expression: "(status = 'pending'::text) = (decided_at is null)",
    },
    {
      name: 'refund_draft_two',
      expression: "status <> 'approved'::text or decided_by <> created_by",
    },
  ],
});
export type RefundDraft = Row<InferEntity<typeof RefundDraftEntity>>;
