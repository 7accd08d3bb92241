/** The store of payout drafts. */
import type { ListedPage } from '../../platform/database/lists.ts';
import { propertyNames } from '../../platform/database/statement.ts';
import { openDraftStore } from '../../platform/drafts/store-drafts.ts';
import { maskedName } from '../../rules/receipt.ts';
import { PayoutDraftEntity, type PayoutDraft } from './entities.ts';
import { shownRecipient } from './rules.ts';

export type DraftPage = ListedPage<PayoutDraft>;

/**
 * The store. Always lock a draft before its merchant. In the audit log a draft is without the data
 * needed to pay its recipient; a card's digest is stored only while the draft is pending.
 */
export const payoutDrafts = openDraftStore<PayoutDraft>({
  name: 'payout_draft',
  names: propertyNames(PayoutDraftEntity),
  shown: (draft) => ({
    status: draft.status,
    amount: draft.amount,
    currency: draft.currency,
    method: draft.method,
    mode: draft.mode,
    recipient: {
      ...shownRecipient(draft),
      fullName: draft.recipientName && maskedName(draft.recipientName),
    },
    reason: draft.rejectReason ?? draft.reason,
  }),
  alsoSet: `, recipient_card_digest = case when $3::text = 'pending' then recipient_card_digest end`,
});
