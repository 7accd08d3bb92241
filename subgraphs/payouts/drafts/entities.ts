/** Table of payout drafts. */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import type { Row } from '../../platform/database/statement.ts';
import { draftChecks, draftColumns, draftIndexes } from '../../platform/drafts/store-drafts.ts';
import type { DraftStatus } from '../../platform/drafts/rules.ts';
import type { Mode } from '../../rules/mode.ts';
import type { PayoutMethod } from '../rules/payout.ts';

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
    /** What drafts that were proposed together have in common, such as the lines of a file. */
    batchId: p.uuid().nullable(),
    ...draftColumns(),
  },
  indexes: [
    ...draftIndexes('payout_draft'),
    {
      name: 'payout_draft_batch',
      properties: ['merchantId', 'batchId', 'createdAt', 'id'],
      where: 'batch_id is not null',
    },
  ],
  checks: [
    ...draftChecks('payout_draft'),
    {
      name: 'payout_draft_method',
      expression:
        "method = any (array['payouts_sbp'::text, 'payouts_card'::text, 'payouts_account'::text])",
    },
  ],
});
export type PayoutDraft = Row<InferEntity<typeof PayoutDraftEntity>>;
