/** Payout drafts, and the decisions of a second person. */
import { Drafts, type DraftRowFragment } from '../../../schema/generated/console.ts';
import { listOf, useAddress } from '../address.ts';
import { DraftState } from '../parts/decide.tsx';
import { Listing } from '../parts/listing.tsx';
import { usePageArguments } from '../parts/pager.tsx';
import { Empty } from '../parts/states.tsx';
import type { Column } from '../parts/table.tsx';
import { Money, Moment } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { useFollow } from '../parts/use-follow.ts';
import { isNarrowed, RangeFilters, rangeOf, StatusChips } from '../payments/filters.tsx';
import { useDraftWords, type DraftWords } from '../words/drafts.ts';
import type { Words } from '../words/en.ts';
import { useSharedWords } from '../words/shared.ts';
import { useWords } from '../words/words.ts';
import { DraftActs } from './draft-acts.tsx';
import { recipientText } from './draft-shown.ts';

type Row = DraftRowFragment;
const statuses = ['pending', 'approved', 'rejected', 'expired'] as const;
const keyOf = ({ merchantId, id }: Row): string => `${merchantId}/${id}`;

const columnsOf = (words: Words, own: DraftWords, again: () => void): readonly Column<Row>[] => [
  { name: words.columns.status, cell: (draft) => <DraftState draft={draft} own={own} /> },
  {
    name: words.columns.amount,
    isNumber: true,
    cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
  },
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
    cell: ({ createdAt, createdBy, isMine }) => (
      <span className="stack">
        <Moment at={createdAt} />
        <span className="quiet">{isMine ? own.mine : own.by(createdBy)}</span>
      </span>
    ),
  },
  { name: words.columns.shop, isWide: true, cell: ({ shop }) => shop.name },
  { name: own.acts, cell: (draft) => <DraftActs draft={draft} again={again} /> },
];

/** The part of the screen. */
export const DraftsList = () => {
  const words = useWords();
  const own = useDraftWords();
  const shared = useSharedWords();
  const { search, mode, merchantId } = useAddress();
  const status = listOf(search.status, statuses);
  const { data, error, again, list } = useAsk(Drafts, {
    merchantId,
    status: status.length > 0 ? [...status] : null,
    filter: { mode: [mode], ...rangeOf(search) },
    ...usePageArguments(),
  });
  useFollow(again, { lists: ['payout_drafts'] });
  const empty = isNarrowed(search) ? (
    <Empty title={shared.none} />
  ) : (
    <Empty title={own.empty}>
      <p>{own.emptyText}</p>
    </Empty>
  );
  return (
    <>
      <StatusChips known={statuses} names={own.statuses} />
      <RangeFilters />
      <Listing
        name="payout-drafts"
        label={own.tabs.drafts}
        asked={{
          error,
          again,
          list,
          rows: data?.payoutDrafts.nodes,
          pageInfo: data?.payoutDrafts.pageInfo,
        }}
        columns={columnsOf(words, own, again)}
        keyOf={keyOf}
        empty={empty}
      />
    </>
  );
};
