/** The store of proposed refunds. */
import type { ListedPage } from '../../platform/database/lists.ts';
import { propertyNames } from '../../platform/database/statement.ts';
import { openDraftStore } from '../../platform/drafts/store-drafts.ts';
import { RefundDraftEntity, type RefundDraft } from './entities.ts';

export type RefundDraftPage = ListedPage<RefundDraft>;

/** The store. Always lock a payment before a draft of its refund. */
export const refundDrafts = openDraftStore<RefundDraft>({
  name: 'refund_draft',
  names: propertyNames(RefundDraftEntity),
  shown: ({ status, amount, currency, paymentId, mode, reason, rejectReason }) => ({
    status,
    amount,
    currency,
    payment: paymentId,
    mode,
    reason: rejectReason ?? reason,
  }),
  alsoSet: '',
});
