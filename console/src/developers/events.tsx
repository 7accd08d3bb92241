/** A shop's event log with the deliveries of each event. */
import { useState } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { listOf, useAddress } from '../address.ts';
import { Button, Form } from '../parts/button.tsx';
import { DateField, PickField } from '../parts/fields.tsx';
import { Listing, Pager } from '../parts/listing.tsx';
import { Drawer } from '../parts/modal.tsx';
import { Empty } from '../parts/states.tsx';
import { Status, tones, CopyBlock, Id, Moment } from '../parts/texts.tsx';
import type { Column } from '../parts/table.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { developerWords as own } from '../words/developers.ts';
import { sharedWords } from '../words/shared.ts';
import { words } from '../words/words.ts';
import { eventName, webhookEvents } from '../webhooks/endpoint-acts.tsx';
import type { DeveloperShop } from './keys.tsx';

type Item = graph.EventLogQuery['eventLog']['items'][number];
const page_rows = 50;

const columnsOf = (): readonly Column<Item>[] => [
  { name: words.columns.event, cell: ({ event }) => event.replace('_', '.') },
  { name: words.payment.id, isWide: true, cell: ({ id }) => <Id id={id} /> },
  {
    name: own.deliveries,
    cell: ({ deliveries }) => {
      const [worst] = deliveries.toSorted(
        (one, other) => Number(other.status === 'failed') - Number(one.status === 'failed'),
      );
      return worst ? (
        <Status tone={tones[worst.status]}>{words.delivery.statuses[worst.status]}</Status>
      ) : (
        <span className="quiet">—</span>
      );
    },
  },
  { name: words.columns.at, cell: ({ createdAt }) => <Moment at={createdAt} /> },
];

const OneEvent = ({ item }: { readonly item: Item }) => (
  <Drawer title={item.event.replace('_', '.')}>
    <div className="payment">
      <p className="line">
        <Id id={item.id} whole />
        <Moment at={item.createdAt} />
      </p>
      <section>
        <h2>{own.deliveries}</h2>
        {item.deliveries.length === 0 && <p className="quiet">{own.noDeliveries}</p>}
        <ul className="lines">
          {item.deliveries.map(({ id, url, status, deliveredAt, nextAttemptAt }) => (
            <li key={id} className="line">
              <Status tone={tones[status]}>{words.delivery.statuses[status]}</Status>
              <span className="break">{url}</span>
              {(deliveredAt ?? nextAttemptAt) !== null && (
                <Moment at={deliveredAt ?? nextAttemptAt ?? ''} />
              )}
            </li>
          ))}
        </ul>
      </section>
      <section>
        <h2>{own.eventData}</h2>
        <CopyBlock text={JSON.stringify(item.data, null, 2)} />
      </section>
    </div>
  </Drawer>
);

const EventFilters = ({ from }: { readonly from: string }) => {
  const { search, set } = useAddress();
  const [subject, setSubject] = useState(search.customer ?? '');
  return (
    <Form className="find" send={() => set({ customer: subject.trim() || undefined })}>
      <DateField
        isInline
        label={words.filters.since}
        value={from}
        set={(day) => set({ since: day || undefined })}
      />
      <PickField
        isInline
        label={words.columns.event}
        value={search.type ?? ''}
        set={(type) => set({ type: type || undefined })}
        options={[
          ['', words.filters.all],
          ...webhookEvents.map((event) => [event, eventName(event)] as const),
        ]}
      />
      <PickField
        isInline
        label={own.eventsOrder}
        value={search.by === 'oldest' ? 'oldest' : ''}
        set={(by) => set({ by: by || undefined })}
        options={[
          ['', own.eventsNewest],
          ['oldest', own.eventsOldest],
        ]}
      />
      <input
        aria-label={own.eventsSubject}
        placeholder={own.eventsSubject}
        value={subject}
        onChange={(event) => setSubject(event.target.value)}
      />
      <Button>{sharedWords.find}</Button>
    </Form>
  );
};

export const EventsPart = ({ shop }: { readonly shop: DeveloperShop }) => {
  const { search, mode } = useAddress();
  const from = search.since?.slice(0, 10) ?? '';
  const [event] = listOf(search.type, webhookEvents);
  const newestFirst = search.by !== 'oldest';
  const { data, error, list } = useAsk(graph.EventLog, {
    merchantId: shop.merchantId,
    shopId: shop.id,
    mode,
    events: event === undefined ? null : [event],
    from: from || null,
    subjectId: search.customer ?? null,
    newestFirst,
    first: page_rows,
    after: search.after ?? null,
  });
  const log = data?.eventLog;
  const open = log?.items.find(({ id }) => id === search.open);
  return (
    <>
      <EventFilters from={from} />
      <Listing
        name="events"
        label={own.tabs.events}
        asked={{ error, rows: log?.items, list }}
        columns={columnsOf}
        opens
        empty={<Empty title={own.eventsEmpty} text={own.eventsEmptyText} />}
      />
      {log && (
        <Pager
          info={{ hasNextPage: log.hasMore, endCursor: log.lastId }}
          names={newestFirst ? {} : { first: own.eventsFirst, next: own.eventsMore }}
        />
      )}
      {open && <OneEvent item={open} />}
    </>
  );
};
