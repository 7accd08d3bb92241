/** Table of payout drafts. */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { InstantType } from '../../kernel/database/instant.ts';
import type { Row } from '../../kernel/database/statement.ts';
import type { DraftStatus } from '../../kernel/drafts/rules.ts';
import type { Mode } from '../../kernel/rules/mode.ts';
import type { RefusalCode } from '../../kernel/rules/refusal.ts';
import type { PayoutMethod } from '../rules/payout.ts';

const instant = () => p.type(InstantType).$type<Temporal.Instant>();

/** A proposed payout. The payout created from it has its id. */
export const PayoutDraftEntity = defineEntity({
  name: 'PayoutDraft',
  tableName: 'payout_draft',
  properties: {
    merchantId: p.uuid().primary(),
    id: p.uuid().primary(),
    shopId: p.uuid(),
    mode: p.text().$type<Mode>(),
    amount: p.bigint(),
    currency: p.text(),
    method: p.text().$type<PayoutMethod>(),
    status: p.text().$type<DraftStatus>(),
    recipientPhone: p.text().nullable(),
    recipientBankId: p.text().nullable(),
    recipientName: p.text().nullable(),
    /** Last 4 digits. */
    recipientCardMask: p.text().nullable(),
    /**
     * Of the card's number, keyed and bound to the draft: the approver types the number again. Null
     * once the draft is decided.
     */
    recipientCardDigest: p.text().nullable(),
    recipientAccount: p.text().nullable(),
    recipientBik: p.text().nullable(),
    recipientInn: p.text().nullable(),
    reason: p.text().nullable(),
    /** The proposer's subject. */
    createdBy: p.text(),
    createdAt: instant(),
    expiresAt: instant(),
    /**
     * The subject of the person who approved or rejected it; null while pending and when it
     * expired.
     */
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
      name: 'payout_draft_registry',
      properties: ['merchantId', 'shopId', 'mode', 'createdAt', 'id'],
    },
    {
      name: 'payout_draft_filter',
      properties: ['merchantId', 'shopId', 'mode', 'status', 'createdAt', 'id'],
    },
    { name: 'payout_draft_newest', properties: ['mode', 'createdAt', 'id'] },
    {
      name: 'payout_draft_pending',
      properties: ['merchantId', 'mode'],
      where: "status = 'pending'",
    },
    { name: 'payout_draft_ends', properties: ['expiresAt'], where: "status = 'pending'" },
  ],
  checks: [
    { name: 'payout_draft_amount', expression: 'amount >= 1 and amount <= 9007199254740991' },
    {
      name: 'payout_draft_method',
      expression:
        "method = any (array['payouts_sbp'::text, 'payouts_card'::text, 'payouts_account'::text])",
    },
    {
      name: 'payout_draft_status',
      expression:
        "status = any (array['pending'::text, 'approved'::text, 'rejected'::text, 'expired'::text])",
    },
    {
      name: 'payout_draft_decided',
      expression: "(status = 'pending'::text) = (decided_at is null)",
    },
    {
      name: 'payout_draft_two',
      expression: "status <> 'approved'::text or decided_by <> created_by",
    },
  ],
});
export type PayoutDraft = Row<InferEntity<typeof PayoutDraftEntity>>;
