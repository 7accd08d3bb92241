/** Payout drafts, and the decisions of a second person. */
import { Drafts, type DraftRowFragment } from '../../../schema/generated/console.ts';
import { listOf, useAddress } from '../address.ts';
import { DraftState } from '../parts/decide.tsx';
import { Listing, usePage } from '../parts/listing.tsx';
import { amountColumn, type Column, objectKey } from '../parts/table.tsx';
import { Moment } from '../parts/texts.tsx';
import { useFollow } from '../parts/use-follow.ts';
import { useWhose } from '../parts/whose.tsx';
import { RangeFilters, rangeOf, StatusChips, NoRows } from '../parts/filters.tsx';
import { useDraftWords, type DraftWords, useManyDraftsWords } from '../words/drafts.ts';
import { useWords, type Words } from '../words/words.ts';
import { ChooseDraft, ChosenDrafts, useChosenDrafts, type Chosen } from './chosen-drafts.tsx';
import { DraftActs } from './draft-acts.tsx';
import { recipientText } from './recipient.tsx';

type Row = DraftRowFragment;
const statuses = ['pending', 'approved', 'rejected', 'expired'] as const;

/** The file that a draft was proposed with: a press shows all of its drafts. */
const OfFile = ({ batchId }: { readonly batchId: string }) => {
  const { oneFile } = useManyDraftsWords();
  const { search, set } = useAddress();
  if (search.batch === batchId) return null;
  return (
    <button
      type="button"
      className="chip plain"
      onClick={() => set({ batch: batchId, after: undefined, before: undefined })}
    >
      {oneFile}
    </button>
  );
};

const columnsOf = (
  words: Words,
  own: DraftWords,
  chosen: Chosen | null,
  again: () => void,
): readonly Column<Row>[] => [
  {
    name: words.columns.status,
    cell: (draft) => {
      const state = <DraftState draft={draft} own={own} />;
      if (chosen === null) return state;
      return (
        <ChooseDraft draft={draft} chosen={chosen}>
          {state}
        </ChooseDraft>
      );
    },
  },
  amountColumn(words.columns.amount),
  { name: words.columns.method, cell: ({ method }) => words.payout.methods[method] },
  {
    name: own.recipient,
    cell: (draft) => (
      <span className="stack">
        <span className="wrap">{recipientText(draft)}</span>
        <span className="quiet wrap">{draft.reason}</span>
      </span>
    ),
  },
  {
    name: own.proposed,
    isNamed: true,
    cell: ({ createdAt, createdBy, isMine, batchId }) => (
      <span className="stack">
        <Moment at={createdAt} />
        <span className="quiet">{isMine ? own.mine : own.by(createdBy)}</span>
        {batchId !== null && <OfFile batchId={batchId} />}
      </span>
    ),
  },
  { name: words.columns.shop, isWide: true, cell: ({ shop }) => shop.name },
  { name: own.acts, cell: (draft) => <DraftActs draft={draft} again={again} /> },
];

export const DraftsList = () => {
  const words = useWords();
  const own = useDraftWords();
  const many = useManyDraftsWords();
  const { search, mode } = useAddress();
  const merchantId = useWhose();
  const choice = useChosenDrafts();
  const status = listOf(search.status, statuses);
  const narrowing = {
    merchantId,
    filter: { mode: [mode], batchId: search.batch ?? null, ...rangeOf(search) },
  };
  const asked = usePage(Drafts, {
    ...narrowing,
    status: status.length > 0 ? [...status] : null,
  });
  const { again, rows } = asked;
  useFollow(again, { lists: ['payout_drafts'] });
  // Drafts of several merchants have several balances: they are decided one merchant at a time.
  const isWaiting =
    merchantId !== null &&
    (choice.chosen.size > 0 || rows?.some((one) => one.status === 'pending') === true);
  return (
    <>
      <StatusChips known={statuses} names={own.statuses} />
      <RangeFilters
        more={{
          fields: null,
          read: () => ({}),
          shown: search.batch === undefined ? [] : [['batch', many.oneFile]],
        }}
      />
      <Listing
        name="payout-drafts"
        label={own.tabs.drafts}
        asked={asked}
        columns={columnsOf(words, own, isWaiting ? choice : null, again)}
        tools={isWaiting && <ChosenDrafts {...choice} asked={narrowing} again={again} />}
        keyOf={objectKey}
        empty={<NoRows title={own.empty} text={own.emptyText} />}
      />
    </>
  );
};
