/** Proposed refunds, and the decisions of a second person. */
import * as graph from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { DraftState, Proposer } from '../parts/decide.tsx';
import { Listing, usePage } from '../parts/listing.tsx';
import { amountColumn, type Column, objectKey } from '../parts/table.tsx';
import { Money } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { PaymentDrawer, type PaymentDetails } from '../payments/shown.tsx';
import { RangeFilters, ManyChips, NoRows, useNarrowing } from '../parts/filters.tsx';
import { refundDraftWords as own } from '../words/drafts.ts';
import { words } from '../words/words.ts';
import { RefundDraftActs } from './draft-acts.tsx';

type Row = graph.RefundDraftRowFragment;
const follow = { lists: ['refund_drafts'] } as const;

const columnsOf = (): readonly Column<Row>[] => [
  { name: words.columns.status, cell: (draft) => <DraftState draft={draft} own={own} /> },
  amountColumn(words.columns.amount),
  {
    name: words.columns.payment,
    cell: ({ payment }) => (
      <span className="stack">
        <span>{payment.orderId}</span>
        <span className="quiet mono">{payment.publicId}</span>
      </span>
    ),
  },
  { name: words.columns.reason, cell: ({ reason }) => <span className="wrap">{reason}</span> },
  { name: own.proposed, isNamed: true, cell: (draft) => <Proposer draft={draft} own={own} /> },
  { name: words.columns.shop, isWide: true, cell: ({ payment }) => payment.shopName },
  { name: words.columns.acts, cell: (draft) => <RefundDraftActs draft={draft} /> },
];

export const RefundDraftsList = () => {
  const { set } = useAddress();
  const asked = usePage(graph.RefundDrafts, useNarrowing(own.statuses).asked, follow);
  return (
    <>
      <ManyChips names={own.statuses} />
      <RangeFilters />
      <Listing
        name="refund-drafts"
        label={own.tabs.drafts}
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

export const WaitingRefunds = ({
  payment: { merchantId, id: paymentId, mode },
}: {
  readonly payment: PaymentDetails;
}) => {
  const asked = { merchantId, status: ['pending' as const], filter: { paymentId, mode: [mode] } };
  const { data } = useAsk(graph.RefundDrafts, asked, { follow });
  const rows = data?.refundDrafts.nodes ?? [];
  if (rows.length === 0) return null;
  return (
    <section className="notes" aria-label={own.title}>
      <h2>{own.title}</h2>
      <ul>
        {rows.map((draft) => (
          <li key={draft.id}>
            <p className="line">
              <Money amount={draft.amount} currency={draft.currency} />
              <Proposer draft={draft} own={own} />
            </p>
            <p className="break">{draft.reason}</p>
            <DraftState draft={draft} own={own} />
            <RefundDraftActs draft={draft} />
          </li>
        ))}
      </ul>
    </section>
  );
};
