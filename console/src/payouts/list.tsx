/** Payouts, newest first, live, and payout drafts. */
import { later } from '../parts/later.tsx';
import * as graph from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { ActButton } from '../parts/act-form.tsx';
import { Fresh, useLiveRows } from '../parts/use-live-rows.tsx';
import { usePage, Listing } from '../parts/listing.tsx';
import { Status, tones, Id, PageHead } from '../parts/texts.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { type Column, amountColumn, createdColumn, extra, objectKey } from '../parts/table.tsx';
import { useWhose } from '../parts/whose.tsx';
import { NoRows, RangeFilters, ManyChips, useNarrowing } from '../parts/filters.tsx';
import { usePermission } from '../viewer.tsx';
import { draftWords as own } from '../words/drafts.ts';
import { FailureName } from '../words/failures.tsx';
import { words } from '../words/words.ts';
import { DraftsList } from './drafts.tsx';
import { NewPayoutDialog } from './new-payout.tsx';
import { recipientOf } from './recipient.tsx';

const LaterDrawer = later(async () => (await import('./payout.tsx')).PayoutDrawer);

const LaterBatch = later(async () => (await import('./batch.tsx')).BatchPart);

type Row = graph.PayoutRowFragment;

const columnsOf = (): readonly Column<Row>[] => [
  {
    id: 'status',
    name: words.columns.status,
    cell: ({ status, failReason }) => (
      <span className="two">
        <Status tone={tones[status]}>{words.payout.statuses[status]}</Status>
        <span className="quiet">
          <FailureName code={failReason} />
        </span>
      </span>
    ),
  },
  { id: 'amount', ...amountColumn(words.columns.amount) },
  {
    id: 'method',
    name: words.columns.method,
    cell: ({ method }) => words.payout.methods[method],
  },
  { id: 'recipient', name: words.columns.recipient, cell: recipientOf },
  { id: 'id', name: words.payment.id, isWide: true, cell: ({ id }) => <Id id={id} /> },
  { id: 'reference', name: own.reference, ...extra, cell: ({ bankRef }) => bankRef ?? '' },
  createdColumn(words.columns.createdHer),
];

const Made = () => {
  const { search, mode } = useAddress();
  const narrowing = useNarrowing(words.payout.statuses);
  const { asked, fresh } = useLiveRows(
    'payout',
    usePage(graph.Payouts, narrowing.asked),
    (row) => row.mode === mode && narrowing.takes(row.status),
  );
  return (
    <>
      <ManyChips names={words.payout.statuses} />
      <RangeFilters />
      <Listing
        name="payouts"
        label={words.sections.payouts}
        asked={asked}
        columns={columnsOf}
        keyOf={objectKey}
        opens
        tools={<Fresh {...fresh} />}
        empty={<NoRows of={words.payout} />}
      />
      {search.open !== undefined && <LaterDrawer />}
    </>
  );
};

const Propose = () => {
  const merchantId = useWhose();
  const { granted } = usePermission('payoutDraftCreate');
  const { search, set } = useAddress();
  const isOpen = search.act === 'new' && granted;
  return (
    <>
      <ActButton
        permission="payoutDraftCreate"
        barred={merchantId === null ? own.chooseMerchant : undefined}
        isMain
        onPress={() => set({ act: 'new' })}
      >
        {own.make}
      </ActButton>
      {isOpen && merchantId !== null && (
        <NewPayoutDialog merchantId={merchantId} close={() => set({ act: undefined })} />
      )}
    </>
  );
};

export const PayoutsPage = () => {
  const { mode } = useAddress();
  const merchantId = useWhose();
  // What is chosen belongs to one merchant and mode.
  const drafts = <DraftsList key={`${mode} ${merchantId ?? ''}`} />;
  return (
    <>
      <PageHead name={words.sections.payouts}>
        <Propose />
      </PageHead>
      <Tabs names={own.tabs} parts={{ payouts: <Made />, drafts, batch: <LaterBatch /> }} />
    </>
  );
};
