/** A shop's event log with the deliveries of each event, and the lookup of a request by id. */
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import {
  EventLog,
  FindRequest,
  type EventLogQuery,
  type FindRequestQuery,
} from '../../../schema/generated/console.ts';
import { kept, listOf, useAddress } from '../address.ts';
import { Listing } from '../parts/listing.tsx';
import { Modal } from '../parts/modal.tsx';
import { Empty } from '../parts/states.tsx';
import { Status, tones } from '../parts/status.tsx';
import type { Column } from '../parts/table.tsx';
import { CopyBlock, Id, Moment } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { useDeveloperWords, type DeveloperWords } from '../words/developers.ts';
import type { Words } from '../words/en.ts';
import { useSharedWords } from '../words/shared.ts';
import { useWords } from '../words/words.ts';
import { eventName, webhookEvents } from '../webhooks/webhook-events.ts';
import type { DeveloperShop } from './shop.ts';

type Item = EventLogQuery['eventLog']['items'][number];
type Hit = FindRequestQuery['search'][number];
const page_rows = 50;

const columnsOf = (words: Words, own: DeveloperWords): readonly Column<Item>[] => [
  { name: own.event, cell: ({ event }) => event.replace('_', '.') },
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

const OneEvent = ({ item, close }: { readonly item: Item; readonly close: () => void }) => {
  const words = useWords();
  const own = useDeveloperWords();
  return (
    <Modal side title={item.event.replace('_', '.')} isOpen onClose={close}>
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
    </Modal>
  );
};

const HitLine = ({ hit }: { readonly hit: Hit }) => {
  const own = useDeveloperWords();
  const { search } = useAddress();
  return (
    <li className="line">
      <strong>{own.kinds[hit.kind]}</strong>
      {hit.payment ? (
        <Link
          to="/payments/$merchantId/$id"
          params={{ merchantId: hit.payment.merchantId, id: hit.payment.id }}
          search={kept(search)}
        >
          {hit.payment.publicId}
        </Link>
      ) : (
        <Id id={hit.id} />
      )}
      <Moment at={hit.at} />
    </li>
  );
};

const Requests = ({ merchantId }: { readonly merchantId: string }) => {
  const own = useDeveloperWords();
  const { find } = useSharedWords();
  const [text, setText] = useState('');
  const [asked, setAsked] = useState('');
  const { data } = useAsk(FindRequest, { text: asked, merchantId }, asked === '');
  const hits = asked === '' ? null : (data?.search ?? null);
  return (
    <section className="card">
      <form
        className="find"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          setAsked(text.trim());
        }}
      >
        <input
          aria-label={own.request}
          placeholder={own.request}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <button type="submit" className="button">
          {find}
        </button>
      </form>
      <p className="quiet" role="status">
        {hits?.length === 0 ? own.requestNone : own.requestText}
      </p>
      <ul className="lines">
        {hits?.map((hit) => (
          <HitLine key={`${hit.kind} ${hit.id}`} hit={hit} />
        ))}
      </ul>
    </section>
  );
};

const EventFilters = ({ from }: { readonly from: string }) => {
  const words = useWords();
  const own = useDeveloperWords();
  const { find } = useSharedWords();
  const { search, set } = useAddress();
  const [subject, setSubject] = useState(search.customer ?? '');
  return (
    <form
      className="find"
      onSubmit={(event) => {
        event.preventDefault();
        set({ customer: subject.trim() || undefined, after: undefined });
      }}
    >
      <label className="inline-field">
        {own.eventsFrom}
        <input
          type="date"
          value={from}
          onChange={({ target }) => set({ since: target.value || undefined, after: undefined })}
        />
      </label>
      <label className="inline-field">
        {own.event}
        <select
          value={search.type ?? ''}
          onChange={({ target }) => set({ type: target.value || undefined, after: undefined })}
        >
          <option value="">{words.filters.all}</option>
          {webhookEvents.map((event) => (
            <option key={event} value={event}>
              {eventName(event)}
            </option>
          ))}
        </select>
      </label>
      <label className="inline-field">
        {own.eventsOrder}
        <select
          value={search.by === 'oldest' ? 'oldest' : 'newest'}
          onChange={({ target }) =>
            set({ by: target.value === 'oldest' ? 'oldest' : undefined, after: undefined })
          }
        >
          <option value="newest">{own.eventsNewest}</option>
          <option value="oldest">{own.eventsOldest}</option>
        </select>
      </label>
      <input
        aria-label={own.eventsSubject}
        placeholder={own.eventsSubject}
        value={subject}
        onChange={(event) => setSubject(event.target.value)}
      />
      <button type="submit" className="button">
        {find}
      </button>
    </form>
  );
};

const LogPager = ({
  log: { hasMore, lastId },
  newestFirst,
}: {
  readonly log: EventLogQuery['eventLog'];
  readonly newestFirst: boolean;
}) => {
  const words = useWords();
  const own = useDeveloperWords();
  const { search, set } = useAddress();
  if (!hasMore && search.after === undefined) return null;
  return (
    <nav className="pager" aria-label={words.pages}>
      <button
        type="button"
        className="button"
        disabled={search.after === undefined}
        onClick={() => set({ after: undefined })}
      >
        {newestFirst ? words.first : own.eventsFirst}
      </button>
      <button
        type="button"
        className="button"
        disabled={!hasMore}
        onClick={() => set({ after: lastId ?? undefined })}
      >
        {newestFirst ? words.next : own.eventsMore}
      </button>
    </nav>
  );
};

/** The part of the screen. */
export const EventsPart = ({ shop }: { readonly shop: DeveloperShop }) => {
  const words = useWords();
  const own = useDeveloperWords();
  const { search, mode, set } = useAddress();
  const from = search.since?.slice(0, 10) ?? '';
  const [event] = listOf(search.type, webhookEvents);
  const newestFirst = search.by !== 'oldest';
  const { data, error, again, list } = useAsk(EventLog, {
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
      <Requests merchantId={shop.merchantId} />
      <EventFilters from={from} />
      <Listing
        label={own.tabs.events}
        asked={{ error, again, rows: log?.items, list }}
        columns={columnsOf(words, own)}
        keyOf={({ id }) => id}
        openKey={search.open ?? null}
        onOpen={({ id }) => set({ open: id })}
        empty={
          <Empty title={own.eventsEmpty}>
            <p>{own.eventsEmptyText}</p>
          </Empty>
        }
      />
      {log && <LogPager log={log} newestFirst={newestFirst} />}
      {open && <OneEvent item={open} close={() => set({ open: undefined })} />}
    </>
  );
};
