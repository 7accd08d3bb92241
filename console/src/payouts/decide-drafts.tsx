/**
 * The dialog that decides several drafts of a merchant: their number and sum, what they take, and
 * what became of each. A second press decides only what is left; the service pays no draft twice.
 */
import { reason_max_chars } from '../../../schema/limits.ts';
import { useState } from 'react';
import { useClient } from 'urql';
import {
  ApproveDrafts,
  RejectDrafts,
  type DraftDecisionsFragment,
  type DraftRowFragment,
} from '../../../schema/generated/console.ts';
import { money } from '../amounts.ts';
import { ActForm } from '../parts/act-form.tsx';
import { refusalOutcome } from '../parts/decide.tsx';
import { outcomeOf, refusedBy, type Outcome } from '../parts/outcome.ts';
import { useRefusalText } from '../parts/refusal.tsx';
import { Status } from '../parts/status.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { Money } from '../parts/texts.tsx';
import { useDraftWords } from '../words/drafts.ts';
import { useManyDraftsWords } from '../words/many-drafts.ts';
import { useWords } from '../words/words.ts';
import { Available } from './available.tsx';
import { recipientText } from './draft-shown.ts';

type Row = DraftRowFragment;
export type Decision = 'approve' | 'reject';

/** What became of a draft: decided, or why not. */
type End = { readonly refused: string } | 'decided';
type Ends = ReadonlyMap<string, End>;

/** Drafts of one call. */
const call_rows = 50;

export const sumOf = (drafts: readonly Row[]): number =>
  drafts.reduce((sum, { amount }) => sum + amount, 0);

/** Whether a draft can be approved with others: by another person, and without a card's number. */
const fits = (decision: Decision, { isMine, method }: Row): boolean =>
  decision === 'reject' || (!isMine && method !== 'payouts_card');

/** What became of the drafts of one call, in words. */
const useEnds = () => {
  const drafts = useDraftWords();
  const textOf = useRefusalText();
  return (
    decisions: Extract<DraftDecisionsFragment, { __typename: 'PayoutDraftsDecided' }>['decisions'],
  ): readonly (readonly [id: string, end: End])[] =>
    decisions.map(({ id, draft, refusal }) => {
      if (!refusal) return [id, 'decided'];
      if (refusal.code === 'not_pending' && draft)
        return [id, { refused: drafts.now(drafts.statuses[draft.status]) }];
      const outcome = refusalOutcome(drafts, refusal);
      return [id, { refused: 'refused' in outcome ? outcome.refused : textOf(refusal, undefined) }];
    });
};

/** Decides drafts in calls of a few, in their order, until one has no answer. */
const useDeciding = (decision: Decision, merchantId: string) => {
  const client = useClient();
  const own = useManyDraftsWords();
  const endsOf = useEnds();
  const send = async (ids: string[], reason: string) => {
    const asked = { merchantId, ids };
    if (decision === 'reject') {
      const { data, error } = await client.mutation(RejectDrafts, { ...asked, reason }).toPromise();
      return { data: data?.payoutDraftsReject, error };
    }
    const { data, error } = await client.mutation(ApproveDrafts, asked).toPromise();
    return { data: data?.payoutDraftsApprove, error };
  };
  return async (
    left: readonly Row[],
    reason: string,
    end: (ends: ReturnType<typeof endsOf>) => void,
  ): Promise<Outcome> => {
    let refused = 0;
    for (let from = 0; from < left.length; from += call_rows) {
      const ids = left.slice(from, from + call_rows).map(({ id }) => id);
      const answer = await send(ids, reason);
      if (answer.data?.__typename !== 'PayoutDraftsDecided')
        return outcomeOf(answer, (refusal) =>
          refusal.__typename === 'Refused' ? refusedBy(refusal) : { unknown: true },
        );
      const ends = endsOf(answer.data.decisions);
      refused += ends.filter(([, one]) => one !== 'decided').length;
      end(ends);
    }
    const done = left.length - refused;
    // What was decided stays so: only where nothing was, the form stands again.
    if (refused === 0) return { done: own.done[decision](done) };
    const text = own.partly[decision](done, refused);
    return done === 0 ? { refused: text } : { done: text };
  };
};

const useColumns = (decision: Decision, ends: Ends): readonly Column<Row>[] => {
  const words = useWords();
  const own = useManyDraftsWords();
  const { recipient } = useDraftWords();
  return [
    {
      name: words.columns.amount,
      isNumber: true,
      cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
    },
    { name: recipient, cell: (draft) => <span className="wrap">{recipientText(draft)}</span> },
    {
      name: words.columns.status,
      cell: ({ id }) => {
        const end = ends.get(id);
        if (end === undefined) return <Status tone="waiting">{own.waits}</Status>;
        if (end === 'decided') return <Status tone="good">{own.decided[decision]}</Status>;
        return (
          <span className="stack">
            <Status tone="bad">{own.refused}</Status>
            <span className="wrap">{end.refused}</span>
          </span>
        );
      },
    },
  ];
};

/** The dialog. */
export const DecideDraftsDialog = ({
  decision,
  chosen,
  close,
}: {
  readonly decision: Decision;
  readonly chosen: readonly Row[];
  readonly close: () => void;
}) => {
  const { locale } = useWords();
  const own = useManyDraftsWords();
  const drafts = useDraftWords();
  const [ends, setEnds] = useState<Ends>(new Map());
  const [reason, setReason] = useState('');
  // The oldest first, as the lines of a file: they are paid where the balance does not cover all.
  const able = chosen
    .filter((draft) => fits(decision, draft))
    .toSorted((one, other) => Date.parse(one.createdAt) - Date.parse(other.createdAt));
  const left = able.filter(({ id }) => ends.get(id) !== 'decided');
  const [first] = able;
  const decide = useDeciding(decision, first?.merchantId ?? '');
  const columns = useColumns(decision, ends);
  const lines = (
    <div className="dialog-rows">
      <Table label={own.label} columns={columns} rows={able} keyOf={({ id }) => id} />
    </div>
  );
  const items = left.map(({ shopId, method, amount }) => ({ shopId, method, amount }));
  const sum = money(sumOf(able), 'RUB', locale);
  return (
    <ActForm
      title={own.title[decision](able.length)}
      consequence={own.consequence[decision](able.length, sum)}
      isReady={left.length > 0 && (decision === 'approve' || reason.trim() !== '')}
      close={close}
      result={left.length > 0 && lines}
      act={() =>
        decide(left, reason.trim(), (some) => setEnds((before) => new Map([...before, ...some])))
      }
    >
      {able.length < chosen.length && (
        <p className="note">{own.left(chosen.length - able.length)}</p>
      )}
      {decision === 'approve' && first && (
        <Available merchantId={first.merchantId} mode={first.mode} items={items} />
      )}
      {decision === 'reject' && (
        <label className="field">
          {drafts.rejectReason}
          <input
            value={reason}
            maxLength={reason_max_chars}
            onChange={(event) => setReason(event.target.value)}
          />
          <span className="quiet">{drafts.rejectReasonHint}</span>
        </label>
      )}
      {lines}
    </ActForm>
  );
};
