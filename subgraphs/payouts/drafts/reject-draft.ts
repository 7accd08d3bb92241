/** Rejects a draft; no payout is created. The proposer may withdraw a draft this way. */
import { inTransaction } from '../../kernel/database/statement.ts';
import { refused, type Refused } from '../../kernel/rules/refusal.ts';
import { textMistake } from '../../kernel/rules/text-mistake.ts';
import type { DraftParts, PersonActing } from './create-draft.ts';
import type { PayoutDraft } from './entities.ts';
import { draftReason_max_chars, rejection } from './rules.ts';
import { loadDrafts, lockDraft, moveDraft, recordDraft } from './store-draft.ts';

export interface RejectionRequest {
  readonly merchantId: string;
  readonly id: string;
  readonly reason: string;
}

const noDraft = refused('not_found', 'there is no such draft');

/**
 * Rejects a pending draft; returns it. Repeating the call by the same person is allowed. Refuses
 * with `not_found`, `not_pending`, and with `bad_request` an empty reason.
 */
export const rejectDraft = async (
  parts: DraftParts,
  acting: PersonActing,
  { merchantId, id, reason }: RejectionRequest,
): Promise<PayoutDraft | Refused> => {
  const mistake = textMistake('reason', reason, 1, draftReason_max_chars);
  if (mistake) return refused('bad_request', mistake);
  const { pool } = parts.database;
  const [found] = await loadDrafts(pool, [{ merchantId, id }]);
  if (!found) return noDraft;
  const { shopId, mode } = found;
  const at = await parts.clocks.timeOf({ kind: 'shop', merchantId, shopId, mode });
  const { subject } = acting.principal;
  return inTransaction(pool, async (client): Promise<PayoutDraft | Refused> => {
    const draft = await lockDraft(client, found);
    if (!draft) return noDraft;
    const status = rejection(draft, { subject, at });
    if (status === 'again') return draft;
    if (typeof status === 'object') return status;
    const after = {
      ...draft,
      status,
      decidedBy: subject,
      decidedAt: at,
      rejectReason: reason,
    };
    await moveDraft(client, after);
    await recordDraft(client, acting, 'reject', { before: draft, after });
    return after;
  });
};
