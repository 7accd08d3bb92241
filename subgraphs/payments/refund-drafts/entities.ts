/** The table of proposed refunds. */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import type { Row } from '../../platform/database/statement.ts';
import { draftChecks, draftColumns, draftIndexes } from '../../platform/drafts/store-drafts.ts';
import type { DraftStatus } from '../../platform/drafts/rules.ts';
import type { Mode } from '../../rules/mode.ts';

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
    ...draftColumns(),
  },
  indexes: [
    ...draftIndexes('refund_draft'),
    { name: 'refund_draft_payment', properties: ['merchantId', 'paymentId', 'createdAt', 'id'] },
  ],
  checks: [...draftChecks('refund_draft')],
});
export type RefundDraft = Row<InferEntity<typeof RefundDraftEntity>>;
