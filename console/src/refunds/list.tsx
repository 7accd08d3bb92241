/** Refunds, newest first, live. */
import * as graph from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { Fresh, useLiveRows } from '../parts/use-live-rows.tsx';
import { usePage, Listing } from '../parts/listing.tsx';
import { Money, Moment, PageHead } from '../parts/texts.tsx';
import { Tabs } from '../parts/tabs.tsx';
import {
  type Column,
  createdColumn,
  objectKey,
  paymentColumn,
  statusColumn,
} from '../parts/table.tsx';
import { PaymentDrawer } from '../payments/shown.tsx';
import { NoRows, RangeFilters, ManyChips, useNarrowing } from '../parts/filters.tsx';
import { refundDraftWords as own } from '../words/drafts.ts';
import { FailureName } from '../words/failures.tsx';
import { words } from '../words/words.ts';
import { RefundDraftsList } from './drafts.tsx';

type Row = graph.RefundRowFragment;

const columnsOf = (): readonly Column<Row>[] => [
  statusColumn(words.columns.status, words.refund.statuses),
  {
    id: 'amount',
    name: words.columns.amount,
    isNumber: true,
    cell: ({ amount, payment }) => <Money amount={amount} currency={payment.currency} />,
  },
  paymentColumn(words.columns.payment),
  {
    id: 'reason',
    name: words.columns.reason,
    isWide: true,
    cell: ({ reason, failReason }) => reason ?? <FailureName code={failReason} />,
  },
  { id: 'shop', name: words.columns.shop, isWide: true, cell: ({ payment }) => payment.shopName },
  {
    id: 'completed',
    name: words.refund.completed,
    isWide: true,
    isExtra: true,
    cell: ({ completedAt }) => completedAt && <Moment at={completedAt} />,
  },
  createdColumn(words.columns.created),
];

const Made = () => {
  const { search, mode, set } = useAddress();
  const narrowing = useNarrowing(words.refund.statuses);
  const { asked, fresh } = useLiveRows(
    'refund',
    usePage(graph.Refunds, narrowing.asked, { lists: ['refunds'] }),
    (row) => row.payment.mode === mode && narrowing.takes(row.status),
  );
  // The drawer shows the payment: the row is the newest of its refunds here.
  const open = asked.rows?.find((row) => `${row.merchantId}/${row.paymentId}` === search.open);
  return (
    <>
      <ManyChips names={words.refund.statuses} />
      <RangeFilters />
      <Listing
        name="refunds"
        label={words.sections.refunds}
        asked={asked}
        columns={columnsOf}
        keyOf={objectKey}
        openKey={open ? objectKey(open) : null}
        onOpen={({ merchantId: owner, paymentId }) => set({ open: `${owner}/${paymentId}` })}
        tools={<Fresh {...fresh} />}
        empty={<NoRows of={words.refund} />}
      />
      <PaymentDrawer />
    </>
  );
};

export const RefundsPage = () => (
  <>
    <PageHead name={words.sections.refunds} />
    <Tabs names={own.tabs} parts={{ refunds: <Made />, drafts: <RefundDraftsList /> }} />
  </>
);
