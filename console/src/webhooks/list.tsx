/** Webhook deliveries: their results, attempts, and resending. */
import { useMemo } from 'react';
import { later } from '../parts/later.tsx';
import { Deliveries, type DeliveriesQuery } from '../../../schema/generated/console.ts';
import { listOf, useAddress } from '../address.ts';
import { usePageArguments } from '../parts/pager.tsx';
import { Listing } from '../parts/listing.tsx';
import { Empty } from '../parts/states.tsx';
import { Status, tones } from '../parts/status.tsx';
import { Moment } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import type { Column } from '../parts/table.tsx';
import { useFollow } from '../parts/use-follow.ts';
import { DayFilters, StatusChips } from '../payments/filters.tsx';
import { useViewer } from '../viewer.tsx';
import type { Words } from '../words/en.ts';
import { useWords } from '../words/words.ts';
import { EndpointCards } from './endpoints.tsx';

/** Loaded on first use. */
const LaterDrawer = later(() =>
  import('./delivery.tsx').then(({ DeliveryDrawer }) => DeliveryDrawer),
);

type Row = DeliveriesQuery['webhookDeliveries']['nodes'][number];
const statuses = ['pending', 'delivered', 'failed'] as const;

const keyOf = ({ merchantId, id }: Row): string => `${merchantId}/${id}`;

const columnsOf = (words: Words): readonly Column<Row>[] => [
  {
    id: 'status',
    name: words.columns.status,
    cell: ({ status }) => <Status tone={tones[status]}>{words.delivery.statuses[status]}</Status>,
  },
  { id: 'event', name: words.columns.event, cell: ({ event }) => event.replace('_', '.') },
  {
    id: 'address',
    name: words.columns.address,
    cell: ({ url }) => <span className="cut">{url}</span>,
  },
  {
    id: 'attempts',
    name: words.columns.attempts,
    isNumber: true,
    isWide: true,
    cell: ({ attempts }) => attempts,
  },
  {
    id: 'next',
    name: words.columns.next,
    isWide: true,
    cell: ({ nextAttemptAt }) => nextAttemptAt !== null && <Moment at={nextAttemptAt} />,
  },
  {
    id: 'created',
    name: words.columns.created,
    cell: ({ createdAt }) => <Moment at={createdAt} />,
  },
];

const useDeliveries = () => {
  const viewer = useViewer();
  const { search, mode, merchantId } = useAddress();
  const isOfAll = merchantId === null && viewer.merchantId === null;
  const [chosen] = listOf(search.status, statuses);
  const status = isOfAll ? 'failed' : (chosen ?? null);
  const narrowing = {
    merchantId,
    mode,
    status,
    since: search.since ?? null,
    until: search.until ?? null,
  };
  const { data, error, again, list } = useAsk(Deliveries, { ...narrowing, ...usePageArguments() });
  const { nodes: rows, pageInfo } = data?.webhookDeliveries ?? {};
  const owner = viewer.merchantId ?? merchantId;
  useFollow(again, { lists: ['webhook_deliveries'], events: true });
  return { asked: { error, again, list, rows, pageInfo }, owner, isOfAll, status };
};

/** The screen. */
export const WebhooksPage = () => {
  const words = useWords();
  const { search, set } = useAddress();
  const columns = useMemo(() => columnsOf(words), [words]);
  const { asked, owner, isOfAll, status } = useDeliveries();
  return (
    <>
      <header className="page-head">
        <h1>{words.sections.webhooks}</h1>
      </header>
      {owner !== null && <EndpointCards merchantId={owner} />}
      {isOfAll ? (
        <p className="quiet">{words.delivery.chooseMerchant}</p>
      ) : (
        <StatusChips known={statuses} names={words.delivery.statuses} />
      )}
      <DayFilters />
      <Listing
        name="webhooks"
        label={words.sections.webhooks}
        asked={asked}
        columns={columns}
        keyOf={keyOf}
        openKey={search.open ?? null}
        onOpen={(row) => set({ open: keyOf(row) })}
        empty={
          <Empty
            title={
              isOfAll
                ? words.delivery.noneFailed
                : status === null
                  ? words.delivery.empty
                  : words.delivery.none
            }
          >
            {status === null && <p>{words.delivery.emptyText}</p>}
          </Empty>
        }
      />
      {search.open !== undefined && (
        <LaterDrawer name={search.open} close={() => set({ open: undefined })} />
      )}
    </>
  );
};
