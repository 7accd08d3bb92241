/** Subscriptions, and the methods that buyers have saved. */
import * as graph from '../../../schema/generated/console.ts';
import { listOf, useAddress } from '../address.ts';
import {
  ChosenChip,
  FindField,
  isNarrowed,
  RangeFilters,
  rangeOf,
  ManyChips,
  NoRows,
} from '../parts/filters.tsx';
import { Listing, usePage } from '../parts/listing.tsx';
import { send } from '../parts/outcome.tsx';
import { amountColumn, type Column, objectKey, statusColumn } from '../parts/table.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { Moment, Id, PageHead, CustomerLink } from '../parts/texts.tsx';
import { Fresh, useLiveRows } from '../parts/use-live-rows.tsx';
import { OfMerchant } from '../parts/whose.tsx';
import { subscriptionWords as own } from '../words/subscriptions.ts';
import { keysOf } from '../words/table.ts';
import { words } from '../words/words.ts';
import { SubscriptionDrawer } from './subscription.tsx';

type Row = graph.SubscriptionRowFragment;

const customerColumn = (): Column<Pick<Row, 'merchantId' | 'customerRef'>> => ({
  name: own.customer,
  cell: ({ merchantId, customerRef }) => (
    <CustomerLink merchantId={merchantId} customer={customerRef} />
  ),
});

export const subscriptionColumns = (): readonly Column<Row>[] => [
  statusColumn(words.columns.status, own.statuses),
  { id: 'price', ...amountColumn(own.price) },
  {
    id: 'plan',
    name: own.plan,
    cell: ({ planName, period, intervalCount }) => (
      <span className="two">
        {planName !== null && <span>{planName}</span>}
        <span className="quiet">{own.every(intervalCount, period)}</span>
      </span>
    ),
  },
  { id: 'customer', isWide: true, ...customerColumn() },
  {
    id: 'method',
    name: words.columns.method,
    isWide: true,
    cell: ({ method }) => words.payment.methods[method],
  },
  {
    id: 'next',
    name: own.nextCharge,
    cell: ({ nextChargeAt, retryAt }) => {
      const at = retryAt ?? nextChargeAt;
      return at === null ? '—' : <Moment at={at} />;
    },
  },
];

const useSubscriptions = () => {
  const { search, mode, merchantId } = useAddress();
  const status = listOf(search.status, keysOf(own.statuses));
  const customer = search.customer === undefined ? {} : { customerRef: search.customer };
  const filter = {
    mode: [mode],
    ...(status.length > 0 ? { status: [...status] } : {}),
    ...customer,
    ...rangeOf(search),
  };
  const page = usePage(graph.Subscriptions, { merchantId, filter });
  return useLiveRows('subscription', page, (row) => row.mode === mode && !isNarrowed(search));
};

/** The field; what is chosen is a chip that can be taken away. */
export const CustomerField = () => {
  const { customer } = useAddress().search;
  return customer === undefined ? (
    <FindField field="customer" label={own.findCustomer} />
  ) : (
    <ChosenChip field="customer" text={`${own.customer} ${customer}`} />
  );
};

const SubscriptionList = () => {
  const { asked, fresh } = useSubscriptions();
  return (
    <>
      <div className="filter-row">
        <ManyChips names={own.statuses} />
        <Fresh {...fresh} />
      </div>
      <div className="filter-row">
        <CustomerField />
        <RangeFilters />
      </div>
      <Listing
        name="subscriptions"
        label={own.tabs.subscriptions}
        asked={asked}
        columns={subscriptionColumns}
        keyOf={objectKey}
        opens
        empty={<NoRows of={own} />}
      />
      <SubscriptionDrawer />
    </>
  );
};

type Token = graph.TokensQuery['tokensConnection']['nodes'][number];

const tokenColumns = (): readonly Column<Token>[] => [
  statusColumn(words.columns.status, own.tokenStatuses),
  {
    name: words.columns.method,
    cell: ({ method, cardBrand, cardMask }) =>
      [words.payment.methods[method], cardBrand, cardMask].filter(Boolean).join(' '),
  },
  customerColumn(),
  { name: words.payment.id, isWide: true, cell: ({ id }) => <Id id={id} /> },
  {
    name: own.lastCharge,
    isWide: true,
    cell: ({ lastChargedAt }) => (lastChargedAt === null ? '—' : <Moment at={lastChargedAt} />),
  },
  { name: words.columns.created, cell: ({ createdAt }) => <Moment at={createdAt} /> },
];

export const TokenTable = ({
  asked,
  empty,
}: Pick<Parameters<typeof Listing<Token>>[0], 'asked' | 'empty'>) => {
  const { search } = useAddress();
  return (
    <Listing
      name="tokens"
      label={own.tabs.tokens}
      asked={asked}
      columns={tokenColumns}
      actOf={({ merchantId, id, status }) =>
        status !== 'cancelled' && {
          permission: 'tokenCancel',
          name: own.endToken,
          title: own.endTokenTitle,
          consequence: own.endTokenText,
          fields: { reason: { label: words.columns.reason, hint: own.reasonHint } },
          act: ({ reason }: { readonly reason: string }) =>
            send(graph.CancelToken, { merchantId, id, reason }, own.tokenEnded),
        }
      }
      openKey={search.open?.split('/')[1] ?? null}
      empty={empty}
    />
  );
};

const TokenList = ({ merchantId }: { readonly merchantId: string }) => {
  const { search, mode } = useAddress();
  const customerRef = search.customer ?? null;
  const asked = usePage(graph.Tokens, { merchantId, mode, customerRef });
  return (
    <>
      <CustomerField />
      <TokenTable
        asked={asked}
        empty={
          <NoRows
            of={{ empty: own.tokensEmpty, emptyText: own.tokensEmptyText }}
            isNarrow={customerRef !== null}
          />
        }
      />
    </>
  );
};

export const SubscriptionsPage = () => (
  <>
    <PageHead name={words.sections.subscriptions} />
    <Tabs
      names={own.tabs}
      parts={{
        subscriptions: <SubscriptionList />,
        tokens: <OfMerchant>{(merchantId) => <TokenList merchantId={merchantId} />}</OfMerchant>,
      }}
    />
  </>
);
