/** Receipts, newest first: their registration, refusals, and resending. */
import * as graph from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { actButton } from '../parts/act-form.tsx';
import { Listing, usePage } from '../parts/listing.tsx';
import { Status, tones, PageHead } from '../parts/texts.tsx';
import {
  type Column,
  amountColumn,
  createdColumn,
  objectKey,
  paymentColumn,
} from '../parts/table.tsx';
import { PaymentDrawer } from '../payments/shown.tsx';
import { NoRows, RangeFilters, ManyChips, useNarrowing, useShopFilter } from '../parts/filters.tsx';
import { resendReceipt } from '../payments/resend-dialogs.tsx';
import { receiptWords as own } from '../words/receipts.ts';
import { words } from '../words/words.ts';

type Row = graph.ReceiptRowFragment;
/** The poll interval: a cash register's answer causes no event. */
const look_ms = 10_000;

const columnsOf = (): readonly Column<Row>[] => [
  {
    id: 'status',
    name: words.columns.status,
    cell: ({ status, failureReason }) => (
      <span className="stack">
        <Status tone={tones[status]}>{own.statuses[status]}</Status>
        {failureReason !== null && <span className="quiet wrap">{failureReason}</span>}
      </span>
    ),
  },
  { id: 'amount', ...amountColumn(words.columns.amount) },
  { id: 'type', name: own.type, isWide: true, cell: ({ type }) => own.types[type] },
  paymentColumn(words.columns.payment),
  { id: 'shop', name: words.columns.shop, isWide: true, cell: ({ payment }) => payment.shopName },
  {
    id: 'document',
    name: own.document,
    isWide: true,
    isExtra: true,
    cell: ({ fiscalDocumentNumber }) => fiscalDocumentNumber ?? '',
  },
  createdColumn(words.columns.created),
  {
    id: 'acts',
    name: words.columns.acts,
    cell: (receipt) => receipt.status === 'failed' && actButton(resendReceipt(receipt)),
  },
];

export const ReceiptsPage = () => {
  const { search, set } = useAddress();
  const narrowing = useNarrowing(own.statuses).asked;
  const shop = search.shop === undefined ? {} : { shopId: [search.shop] };
  const filter = { ...narrowing.filter, ...shop };
  const asked = usePage(graph.Receipts, { ...narrowing, filter }, { every_ms: look_ms });
  return (
    <>
      <PageHead name={words.sections.receipts} />
      <ManyChips names={own.statuses} />
      <RangeFilters more={[useShopFilter()]} />
      <Listing
        name="receipts"
        label={words.sections.receipts}
        asked={asked}
        columns={columnsOf}
        keyOf={objectKey}
        onOpen={({ merchantId: owner, paymentId }) => set({ open: `${owner}/${paymentId}` })}
        empty={<NoRows of={own} />}
      />
      <PaymentDrawer />
    </>
  );
};
