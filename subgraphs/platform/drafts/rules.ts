/**
 * What people propose and others approve: payouts and refunds. The proposer cannot approve. A draft
 * expires, and is approved once.
 */
import { enums } from '../../../schema/generated/enums.ts';
import { movesBy } from '../../rules/moves.ts';
import { refuse, type Refusal } from '../../rules/refusal.ts';

export const draftStatuses = enums.PayoutDraftStatus;
export type DraftStatus = (typeof draftStatuses)[number];

type DraftTrigger = 'person_approved' | 'person_rejected' | 'time_elapsed';

const draftMove = movesBy<DraftStatus, DraftTrigger>({
  pending: { person_approved: 'approved', person_rejected: 'rejected', time_elapsed: 'expired' },
  approved: {},
  rejected: {},
  expired: {},
});

/** How long a draft stays pending, by its shop's clock. */
export const draftLife_h = 72;
/** Pending drafts of a merchant in one mode; further ones are refused. */
export const pendingDrafts_max = 1_000;

/** The fields of a draft that decide its next state. */
export interface DraftState {
  readonly status: DraftStatus;
  readonly createdBy: string;
  readonly decidedBy: string | null;
  readonly expiresAt: Temporal.Instant;
}

interface Deciding {
  readonly subject: string;
  readonly at: Temporal.Instant;
}

/** The result of a decision; `again`: this person has already decided so. */
type Verdict = DraftStatus | 'again' | Refusal;

const decide = (
  trigger: 'person_approved' | 'person_rejected',
  wanted: DraftStatus,
  draft: DraftState,
  { subject, at }: Deciding,
): Verdict => {
  const status = draftMove(draft.status, trigger);
  if (!status)
    return draft.status === wanted && draft.decidedBy === subject
      ? 'again'
      : refuse('not_pending', `only a pending draft can be decided; this one is ${draft.status}`);
  // Already expired, although the sweep has not written it yet.
  return Temporal.Instant.compare(draft.expiresAt, at) <= 0
    ? refuse('not_pending', 'only a pending draft can be decided; this one is expired')
    : status;
};

/**
 * Whether a person may approve a draft: `scope_required` for the proposer, in any session, and
 * `not_pending`.
 */
export const approval = (draft: DraftState, deciding: Deciding): Verdict =>
  draft.createdBy === deciding.subject
    ? refuse('scope_required', 'another person must approve it: you made this draft')
    : decide('person_approved', 'approved', draft, deciding);

/** Whether a draft may be rejected, also by the proposer; `not_pending`. */
export const rejection = (draft: DraftState, deciding: Deciding): Verdict =>
  decide('person_rejected', 'rejected', draft, deciding);
