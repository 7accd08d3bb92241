/** What deciding a draft of any kind looks like: its state, its buttons, its rejection. */
import { reason_max_chars } from '../../../schema/limits.ts';
import type { ReactNode } from 'react';
import type * as graph from '../../../schema/generated/console.ts';
import type { PermissionName } from '../viewer.tsx';
import type { DraftWords, RefundDraftWords } from '../words/drafts.ts';
import { actButton, type Doing } from './act-form.tsx';
import { outcomeWords, type Refusal } from '../words/outcome.ts';
import { isAbout, refusedBy, type Outcome } from './outcome.tsx';
import { Status, Moment } from './texts.tsx';

type AnyDraft = graph.DraftRowFragment | graph.RefundDraftRowFragment;
type DecisionWords = DraftWords | RefundDraftWords;

const tones = {
  pending: 'waiting',
  approved: 'good',
  rejected: 'bad',
  expired: 'over',
} as const;

/** Why an approval was refused, where drafts have a text of their own for it. */
const ownText = (own: DecisionWords, refusal: Refusal): string | undefined => {
  const refusals: Readonly<Record<string, string>> = own.refusals;
  return refusals[isAbout(refusal, 'card_pan') ? 'card' : refusal.code];
};

export const draftRefusal = (own: DecisionWords, refusal: Refusal): string =>
  ownText(own, refusal) ?? outcomeWords.refusal(refusal);

export const refusalOutcome = (own: DecisionWords, refusal: Refusal): Outcome => {
  const refused = ownText(own, refusal);
  return refused === undefined ? refusedBy(refusal) : { refused };
};

export type DraftRefusal = (refusal: Refusal) => Promise<Outcome>;

interface OfDraft {
  readonly draft: AnyDraft;
  readonly own: DecisionWords;
}

/** When it was proposed, and by whom. */
export const Proposer = ({
  draft: { createdAt, createdBy, isMine },
  own,
  children,
}: OfDraft & { readonly children?: ReactNode }) => (
  <span className="stack">
    <Moment at={createdAt} />
    <span className="quiet">{isMine ? own.mine : own.by(createdBy)}</span>
    {children}
  </span>
);

/** The state of a draft, with who decided it and what stands against it. */
export const DraftState = ({
  draft: { status, lastRefusal, rejectReason, decidedBy, expiresAt },
  own,
}: OfDraft) => (
  <span className="stack">
    <Status tone={tones[status]}>{own.statuses[status]}</Status>
    {status === 'pending' && lastRefusal && (
      <span className="quiet wrap">{draftRefusal(own, lastRefusal)}</span>
    )}
    {status === 'pending' && (
      <span className="quiet">
        {own.until} <Moment at={expiresAt} />
      </span>
    )}
    {decidedBy && <span className="quiet">{own.by(decidedBy)}</span>}
    {rejectReason && <span className="quiet wrap">{rejectReason}</span>}
  </span>
);

/** The buttons of a draft. `statusNow` asks for its state: another person may have decided it. */
export const DecideActs = ({
  draft: { status, isMine },
  own,
  statusNow,
  approve,
  reject,
}: {
  readonly draft: Pick<AnyDraft, 'status' | 'isMine'>;
  readonly own: DecisionWords;
  readonly statusNow: () => Promise<AnyDraft['status'] | undefined>;
  readonly approve: (refusal: DraftRefusal) => Doing & { readonly permission: PermissionName };
  readonly reject: {
    readonly permission: PermissionName;
    /** Why this draft is not this person's to reject; undefined: it is. */
    readonly barred?: string | undefined;
    readonly act: (reason: string, refusal: DraftRefusal) => Promise<Outcome>;
  };
}) => {
  if (status !== 'pending') return null;
  const refusalOf: DraftRefusal = async (refusal) => {
    if (refusal.code !== 'not_pending') return refusalOutcome(own, refusal);
    const now = await statusNow();
    return now ? { refused: own.now(own.statuses[now]) } : refusedBy(refusal);
  };
  return (
    <div className="acts">
      {actButton({
        ...approve(refusalOf),
        barred: isMine ? own.own : undefined,
        isMain: true,
        title: own.approve,
      })}
      {actButton({
        permission: reject.permission,
        barred: reject.barred,
        title: own.reject,
        consequence: own.rejectText,
        fields: {
          reason: {
            label: own.rejectReason,
            hint: own.rejectReasonHint,
            maxLength: reason_max_chars,
          },
        },
        act: ({ reason }) => reject.act(reason, refusalOf),
      })}
    </div>
  );
};
