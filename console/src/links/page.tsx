/** Payment links of a merchant, newest first. */
import { Links, type LinkRowFragment } from '../../../schema/generated/console.ts';
import { listOf, useAddress } from '../address.ts';
import { Listing } from '../parts/listing.tsx';
import { usePageArguments } from '../parts/pager.tsx';
import { Empty } from '../parts/states.tsx';
import { Status, tones } from '../parts/status.tsx';
import type { Column } from '../parts/table.tsx';
import { Money, Moment } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { OfMerchant } from '../parts/whose.tsx';
import { isNarrowed, StatusChips } from '../payments/filters.tsx';
import type { Words } from '../words/en.ts';
import { NewLinkButton } from '../selling/new-link.tsx';
import { useLinkWords, type LinkWords } from '../words/links.ts';
import { useSharedWords } from '../words/shared.ts';
import { useWords } from '../words/words.ts';
import { linkAmount, usesText } from './amount.ts';
import { LinkDrawer } from './link.tsx';

type Row = LinkRowFragment;
const statuses = ['active', 'paid', 'expired', 'deactivated'] as const;

const columnsOf = (words: Words, own: LinkWords): readonly Column<Row>[] => [
  {
    name: words.columns.status,
    cell: ({ status }) => (
      <Status tone={status === 'active' ? 'moving' : tones[status]}>{own.statuses[status]}</Status>
    ),
  },
  {
    name: words.columns.amount,
    isNumber: true,
    cell: (row) => <span className="money">{linkAmount(row, own, words.locale)}</span>,
  },
  {
    name: words.columns.description,
    cell: ({ description, orderId }) => <span className="cut">{description ?? orderId}</span>,
  },
  { name: own.uses, isWide: true, cell: (row) => usesText(row, own) },
  {
    name: own.paid,
    isNumber: true,
    isWide: true,
    cell: ({ amountPaid, currency }) => <Money amount={amountPaid} currency={currency} />,
  },
  { name: own.ends, isWide: true, cell: ({ expiresAt }) => <Moment at={expiresAt} /> },
  { name: words.columns.createdHer, cell: ({ createdAt }) => <Moment at={createdAt} /> },
];

const LinkList = ({ merchantId }: { readonly merchantId: string }) => {
  const words = useWords();
  const own = useLinkWords();
  const shared = useSharedWords();
  const { search, mode, set } = useAddress();
  const chosen = listOf(search.status, statuses);
  const { data, error, again, list } = useAsk(Links, {
    merchantId,
    mode,
    status: chosen.length > 0 ? [...chosen] : null,
    ...usePageArguments(),
  });
  const connection = data?.paymentLinks;
  return (
    <>
      <div className="acts">
        <NewLinkButton again={again} />
      </div>
      <StatusChips known={statuses} names={own.statuses} />
      <Listing
        name="links"
        label={words.sections.paylinks}
        asked={{ error, again, list, rows: connection?.nodes, pageInfo: connection?.pageInfo }}
        columns={columnsOf(words, own)}
        keyOf={({ id }) => id}
        openKey={search.open ?? null}
        onOpen={({ id }) => set({ open: id })}
        empty={
          isNarrowed(search) ? (
            <Empty title={shared.none} />
          ) : (
            <Empty title={own.empty}>
              <p>{own.emptyText}</p>
            </Empty>
          )
        }
      />
      <LinkDrawer merchantId={merchantId} changed={again} />
    </>
  );
};

/** The screen. */
export const LinksPage = () => {
  const words = useWords();
  return (
    <>
      <header className="page-head">
        <h1>{words.sections.paylinks}</h1>
      </header>
      <OfMerchant>{(merchantId) => <LinkList merchantId={merchantId} />}</OfMerchant>
    </>
  );
};
