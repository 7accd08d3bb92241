/** Payment links of a merchant, newest first. */
import { money } from '../format.ts';
import { Link } from '@tanstack/react-router';
import * as graph from '../../../schema/generated/console.ts';
import { listOf, useAddress } from '../address.ts';
import { Listing, usePage } from '../parts/listing.tsx';
import { Empty, Waiting } from '../parts/states.tsx';
import {
  Status,
  tones,
  Money,
  Moment,
  CopyBlock,
  Id,
  Facts,
  PageHead,
  ObjectLink,
  type ObjectId,
} from '../parts/texts.tsx';
import type { Column } from '../parts/table.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { OfMerchant } from '../parts/whose.tsx';
import { ManyChips, NoRows } from '../parts/filters.tsx';
import { NewLinkButton } from '../selling/new-link.tsx';
import { linkWords as own } from '../words/selling.ts';
import { sharedWords } from '../words/shared.ts';
import { keysOf } from '../words/table.ts';
import { words } from '../words/words.ts';
import { actButton } from '../parts/act-form.tsx';
import { send } from '../parts/outcome.tsx';
import { Drawer } from '../parts/modal.tsx';
import { PaymentStanding } from '../payments/shown.tsx';

/** The amount, or its bounds where the buyer enters it. */
const linkAmount = ({
  amount,
  amountMin: least,
  amountMax: most,
  currency,
}: graph.LinkRowFragment): string => {
  const text = (of: number): string => money(of, currency);
  if (amount !== null) return text(amount);
  if (least !== null && most !== null) return own.amountBetween(text(least), text(most));
  if (least !== null) return own.amountFrom(text(least));
  return most === null ? own.amountAny : own.amountTo(text(most));
};

/** How many more payments it accepts. */
const usesText = ({ uses, usesLeft }: graph.LinkRowFragment): string =>
  uses === null ? own.endless : own.usesOf(usesLeft ?? 0, uses);

const LinkActs = ({
  link: { merchantId, id, url, status },
}: {
  readonly link: graph.LinkRowFragment;
}) => (
  <div className="acts">
    <a className="button" href={url} target="_blank" rel="noreferrer">
      {own.open}
    </a>
    {status === 'active' &&
      actButton({
        permission: 'linkDeactivate',
        title: own.end,
        consequence: own.endText,
        act: () => send(graph.EndLink, { merchantId, id }, own.endDone),
      })}
  </div>
);

const View = ({ merchantId, id }: ObjectId) => {
  const { data, error } = useAsk(graph.Link, { merchantId, id });
  if (!data) return <Waiting error={error} />;
  const { paymentLink: link } = data;
  if (!link) return <Empty title={sharedWords.notFound} />;
  const { status, url, currency } = link;
  const isOpen = status === 'active';
  return (
    <article className="payment">
      <header className="payment-head">
        <p className="amount money">{linkAmount(link)}</p>
        <Status tone={isOpen ? 'moving' : tones[status]}>{own.statuses[status]}</Status>
        <p className="quiet line">{link.description}</p>
      </header>
      <LinkActs link={link} />
      <CopyBlock text={url} />
      <Facts
        facts={[
          [own.paid, <Money key="paid" amount={link.amountPaid} currency={currency} />],
          [words.sections.payments, String(link.paymentsCount)],
          [own.uses, usesText(link)],
          [
            words.columns.method,
            link.method === 'any' ? own.anyMethod : words.payment.methods[link.method],
          ],
          [own.capture, own.captures[link.capture]],
          [words.columns.order, link.orderId],
          [own.returnUrl, link.returnUrl],
          [own.ends, <Moment key="ends" at={link.expiresAt} />],
          [own.ended, link.finalizedAt && <Moment key="ended" at={link.finalizedAt} />],
          [words.payment.id, <Id key="id" id={link.id} whole />],
        ]}
      />
      <LinkPaymentsList merchantId={merchantId} id={id} mode={link.mode} since={link.createdAt} />
    </article>
  );
};

const LinkPaymentsList = ({
  merchantId,
  id,
  mode,
  since,
}: ObjectId & { readonly mode: 'test' | 'live'; readonly since: string }) => {
  const asked = { merchantId, id, mode, since };
  const { data, error } = useAsk(graph.LinkPayments, asked, { follow: {} });
  if (!data) return <Waiting error={error} />;
  const { nodes, pageInfo } = data.payments;
  return (
    <section>
      <h2>{words.sections.payments}</h2>
      {nodes.length === 0 && <p className="quiet">{own.noPayments}</p>}
      <ul className="lines">
        {nodes.map((payment) => (
          <li key={payment.id} className="line">
            <ObjectLink merchantId={merchantId} id={payment.id}>
              {payment.publicId}
            </ObjectLink>
            <PaymentStanding payment={payment} />
            <Money amount={payment.amount} currency={payment.currency} />
            <Moment at={payment.createdAt} />
          </li>
        ))}
      </ul>
      {(pageInfo.hasNextPage || nodes.length > 0) && (
        <Link to="/payments" search={{ mode, merchant: merchantId, link: id, since }}>
          {sharedWords.allOfThem}
        </Link>
      )}
    </section>
  );
};

type Row = graph.LinkRowFragment;

const columnsOf = (): readonly Column<Row>[] => [
  {
    name: words.columns.status,
    cell: ({ status }) => (
      <Status tone={status === 'active' ? 'moving' : tones[status]}>{own.statuses[status]}</Status>
    ),
  },
  {
    name: words.columns.amount,
    isNumber: true,
    cell: (row) => <span className="money">{linkAmount(row)}</span>,
  },
  {
    name: words.columns.description,
    cell: ({ description, orderId }) => <span className="cut">{description ?? orderId}</span>,
  },
  { name: own.uses, isWide: true, cell: (row) => usesText(row) },
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
  const { search, mode } = useAddress();
  const chosen = listOf(search.status, keysOf(own.statuses));
  const status = chosen.length > 0 ? [...chosen] : null;
  const asked = usePage(graph.Links, { merchantId, mode, status });
  return (
    <>
      <div className="acts">
        <NewLinkButton />
      </div>
      <ManyChips names={own.statuses} />
      <Listing
        name="links"
        label={words.sections.paylinks}
        asked={asked}
        columns={columnsOf}
        opens
        empty={<NoRows of={own} />}
      />
      {search.open !== undefined && (
        <Drawer title={own.one}>
          <View merchantId={merchantId} id={search.open} />
        </Drawer>
      )}
    </>
  );
};

export const LinksPage = () => (
  <>
    <PageHead name={words.sections.paylinks} />
    <OfMerchant>{(merchantId) => <LinkList merchantId={merchantId} />}</OfMerchant>
  </>
);
