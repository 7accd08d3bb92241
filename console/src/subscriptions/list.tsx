/** Subscriptions, newest first, as their states change. */
import { useMemo } from 'react';
import { Subscriptions, type SubscriptionRowFragment } from '../../../schema/generated/console.ts';
import { listOf, useAddress } from '../address.ts';
import { CustomerLink } from '../customers/link.tsx';
import type { LiveChange } from '../graph/live.tsx';
import { Listing } from '../parts/listing.tsx';
import { Fresh } from '../parts/fresh.tsx';
import { usePageArguments } from '../parts/pager.tsx';
import { Empty } from '../parts/states.tsx';
import { Status, tones } from '../parts/status.tsx';
import { Money, Moment } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import type { Column } from '../parts/table.tsx';
import { useLiveRows } from '../parts/use-live-rows.ts';
import { isNarrowed, RangeFilters, rangeOf, StatusChips } from '../payments/filters.tsx';
import type { Words } from '../words/en.ts';
import { useSharedWords } from '../words/shared.ts';
import { useSubscriptionWords, type SubscriptionWords } from '../words/subscriptions.ts';
import { useWords } from '../words/words.ts';
import { CustomerField } from './customer-field.tsx';
import { SubscriptionDrawer } from './subscription.tsx';

type Row = SubscriptionRowFragment;
const statuses = ['pending', 'active', 'past_due', 'paused', 'cancelled'] as const;

const keyOf = ({ merchantId, id }: Row): string => `${merchantId}/${id}`;
const rowOf = (change: LiveChange): Row | null =>
  change.kind === 'subscription' ? change.row : null;

/** The columns of every list of subscriptions. */
export const subscriptionColumns = (
  words: Words,
  own: SubscriptionWords,
): readonly Column<Row>[] => [
  {
    id: 'status',
    name: words.columns.status,
    cell: ({ status }) => <Status tone={tones[status]}>{own.statuses[status]}</Status>,
  },
  {
    id: 'price',
    name: own.price,
    isNumber: true,
    cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
  },
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
  {
    id: 'customer',
    name: own.customer,
    isWide: true,
    cell: ({ merchantId, customerRef }) => (
      <CustomerLink merchantId={merchantId} customer={customerRef} />
    ),
  },
  {
    id: 'method',
    name: words.columns.method,
    isWide: true,
    cell: ({ method }) => own.methods[method],
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
  const status = listOf(search.status, statuses);
  const page = usePageArguments();
  const customer = search.customer === undefined ? {} : { customerRef: search.customer };
  const filter = {
    mode: [mode],
    ...(status.length > 0 ? { status: [...status] } : {}),
    ...customer,
    ...rangeOf(search),
  };
  const { data, error, again, list } = useAsk(Subscriptions, { merchantId, filter, ...page });
  const connection = data?.billingSubscriptionsConnection;
  const live = useLiveRows<Row>({
    rows: connection?.nodes,
    keyOf,
    rowOf,
    fits: (row) =>
      row.mode === mode &&
      (merchantId === null || row.merchantId === merchantId) &&
      !isNarrowed(search),
    isFirstPage: !('after' in page) && !('before' in page),
    again,
  });
  const rows = connection && live.rows;
  return { asked: { error, again, list, rows, pageInfo: connection?.pageInfo }, live };
};

/** The list. */
export const SubscriptionList = () => {
  const words = useWords();
  const own = useSubscriptionWords();
  const shared = useSharedWords();
  const { search, set } = useAddress();
  const { asked, live } = useSubscriptions();
  const choosable = useMemo(() => subscriptionColumns(words, own), [words, own]);
  return (
    <>
      <div className="filter-row">
        <StatusChips known={statuses} names={own.statuses} />
        <Fresh count={live.waiting} show={live.show} />
      </div>
      <div className="filter-row">
        <CustomerField />
        <RangeFilters />
      </div>
      <Listing
        name="subscriptions"
        label={own.tabs.subscriptions}
        asked={asked}
        columns={choosable}
        keyOf={keyOf}
        changed={live.changed}
        openKey={search.open ?? null}
        onOpen={(row) => set({ open: keyOf(row) })}
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
      <SubscriptionDrawer again={asked.again} />
    </>
  );
};
