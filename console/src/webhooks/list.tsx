/** Webhook deliveries: their results, attempts, and resending. */
import { useMemo } from 'react';
import { later } from '../parts/later.tsx';
import { Deliveries, type DeliveriesQuery } from '../../../schema/generated/console.ts';
import { listOf, useAddress } from '../address.ts';
import { DateChips } from '../parts/date-chips.tsx';
import { ExportButton } from '../parts/export-button.tsx';
import { Pager, usePageArguments } from '../parts/pager.tsx';
import { Empty, Failure } from '../parts/states.tsx';
import { Status, tones } from '../parts/status.tsx';
import { Skeleton, Table } from '../parts/table.tsx';
import { Moment } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { ColumnsButton, useColumns, type ChoosableColumn } from '../parts/use-columns.tsx';
import { useFollow } from '../parts/use-follow.ts';
import { StatusChips } from '../payments/filters.tsx';
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

const columnsOf = (words: Words): readonly ChoosableColumn<Row>[] => [
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
  const { data, error, again } = useAsk(Deliveries, { ...narrowing, ...usePageArguments() });
  const rows = data?.webhookDeliveries.nodes ?? [];
  const owner = viewer.merchantId ?? merchantId;
  useFollow(again, { lists: ['webhook_deliveries'], events: true });
  return { data, error, again, rows, owner, isOfAll, status, narrowing };
};

/** The screen. */
export const WebhooksPage = () => {
  const words = useWords();
  const { search, set } = useAddress();
  const columns = useColumns(
    'webhooks',
    useMemo(() => columnsOf(words), [words]),
  );
  const { data, error, again, rows, owner, isOfAll, status, narrowing } = useDeliveries();
  return (
    <>
      <header className="page-head">
        <h1>{words.sections.webhooks}</h1>
        <ColumnsButton {...columns} />
        <ExportButton of={Deliveries} variables={narrowing} />
      </header>
      {owner !== null && <EndpointCards merchantId={owner} />}
      {isOfAll ? (
        <p className="quiet">{words.delivery.chooseMerchant}</p>
      ) : (
        <StatusChips known={statuses} names={words.delivery.statuses} />
      )}
      <DateChips />
      {error && !data && <Failure error={error} again={again} />}
      {!data && !error && <Skeleton />}
      {data && rows.length === 0 && (
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
      )}
      {rows.length > 0 && (
        <Table
          label={words.sections.webhooks}
          columns={columns.shown}
          rows={rows}
          keyOf={keyOf}
          openKey={search.open ?? null}
          onOpen={(row) => set({ open: keyOf(row) })}
        />
      )}
      {data && <Pager info={data.webhookDeliveries.pageInfo} />}
      {search.open !== undefined && (
        <LaterDrawer name={search.open} close={() => set({ open: undefined })} />
      )}
    </>
  );
};
