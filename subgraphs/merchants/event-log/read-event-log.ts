/**
 * The merchants' event log: a shop's frozen webhook events in one mode, in the stream's order
 * (additions, section 4). Numbers become visible in order (`platform/events/relay`), so a reader that
 * continues after the last event it saw misses none.
 */
import type { InferEntity } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type {
  QueryeventLogArgs,
  QueryliveEventsAfterArgs,
} from '../../../schema/generated/merchants.ts';
import { given, pageRange, spanOf, type Span } from '../../platform/database/keyset.ts';
import { EventEntity } from '../../platform/database/entities.ts';
import type { Database } from '../../platform/database/orm.ts';
import { run, type Statement } from '../../platform/database/statement.ts';
import type { OfShop } from '../../platform/graph/entities.ts';
import { isCanonicalUuid, isUuid } from '../../rules/ids.ts';
import { isRefusal, refuse, asCame } from '../../rules/refusal.ts';
import type { EventRow, LoggedEvent } from '../rows.ts';

type StoredEvent = InferEntity<typeof EventEntity>;

type EventLogQuery = Partial<Omit<QueryeventLogArgs, 'merchantId' | 'shopId' | 'mode'>>;

/**
 * Events that one page examines at most. With a selective filter the caller reads more pages,
 * within its rate limit.
 */
export const looked_max_events = 20_000;

/** SQL: the log of a shop in a mode, which are a statement's first parameters. */
const inLog =
  'merchant_id = $1 and shop_id = $2 and mode = $3 and webhook_event is not null and sequence is not null';

type Bounds = Partial<Record<'$gt' | '$gte' | '$lt' | '$lte', bigint>>;

/** Reads the log in one direction: forward from the oldest event, or backward from the newest. */
interface Way {
  /** Before the first number. */
  readonly start: bigint;
  readonly order: 'asc' | 'desc';
  /** The numbers behind this one, up to the last. */
  readonly numbers: (behind: bigint, end: bigint | undefined) => Bounds;
  /**
   * Where a filtered page ends: at the last event that was examined within the days. The next days
   * continue from there. And whether such an event follows, within the reach of the next page.
   */
  readonly edge: Statement;
  /** The far end of the days; null: open. */
  readonly farEnd: (span: Span) => Temporal.Instant | null;
}

interface Edge {
  readonly id: string;
  readonly sequence: bigint;
  readonly isBehind: boolean;
}

const wayOf = (name: string, backwards: boolean, start: bigint): Way => {
  const [beyond, last, order, near] = backwards
    ? (['<', 'min', 'desc', '>='] as const)
    : (['>', 'max', 'asc', '<'] as const);
  const looked = (
    place: string,
  ): string => `(select sequence, created_at from event where ${inLog} and sequence ${beyond} ${place} order by sequence ${order} limit ${looked_max_events}) as looked
        where ($5::timestamptz is null or looked.created_at ${near} $5)`;
  return {
    start,
    order,
    numbers: (behind, end) =>
      given(backwards ? { $lt: behind, $gte: end } : { $gt: behind, $lte: end }),
    farEnd: ({ since, until }) => (backwards ? since : until),
    edge: {
      name: `event_log.edge${name}`,
      text: `select id, sequence, exists (select 1 from ${looked('edge.sequence')}) as "isBehind" from event as edge where ${inLog} and sequence = (
        select ${last}(sequence) from ${looked('$4')})`,
    },
  };
};

const sequence_max = 2n ** 63n - 1n;
const onwards = wayOf('', false, 0n);
const backwards = wayOf('_backwards', true, sequence_max);

type NumberedEvent = LoggedEvent & { readonly sequence: bigint };

const logFields = ['sequence', 'webhookEvent', 'webhookBody'] as const;
const isLogged = (event: Pick<StoredEvent, keyof NumberedEvent>): event is NumberedEvent =>
  Boolean(event.sequence && event.webhookEvent && event.webhookBody);

/** The id of an event as merchants know it. */
export const publicIdOf = ({ id }: { readonly id: string }): string => `evt_${id}`;

/** The id in `evt_...`; null for another text. */
const idOf = (publicId: string): string | null => {
  const id = publicId.startsWith('evt_') ? publicId.slice(4).toLowerCase() : '';
  return isCanonicalUuid(id) ? id : null;
};

const whoseLog = ({ merchantId, shopId, mode }: OfShop) => ({ merchantId, shopId, mode });

/** One event of a shop's log by its `evt_...` id; null when there is none. */
export const findLoggedEvent = async (
  em: EntityManager,
  shop: OfShop,
  publicId: string,
): Promise<NumberedEvent | null> => {
  const id = idOf(publicId);
  if (id === null) return null;
  const options = { fields: logFields, disableIdentityMap: true };
  const event = await em.findOne(EventEntity, { ...whoseLog(shop), id }, options);
  return event && isLogged(event) ? event : null;
};

/**
 * A page of a shop's log, oldest or newest first. `bad_request` for a wrong size, day or subject,
 * and for an `after` that is unknown or was removed.
 */
export const readEventLog = async (
  database: Pick<Database, 'pool' | 'fork'>,
  shop: OfShop,
  query: EventLogQuery,
) => {
  const { first, after = null, from, to, subjectId = null } = query;
  const range = pageRange({ first }, null);
  if (isRefusal(range)) return range;
  const span = spanOf(from, to);
  if (isRefusal(span)) return span;
  if (subjectId !== null && !isUuid(subjectId))
    return refuse('bad_request', `subject_id: expected a UUID, got ${asCame(subjectId)}`);
  const start = after === null ? null : await findLoggedEvent(database.fork(), shop, after);
  if (after !== null && !start)
    return refuse(
      'bad_request',
      `after: expected the id of an event of this log that is still kept, as last_id has it, got ${asCame(after)}`,
    );
  return readBehind(database, shop, start, { ...query, ...span, size: range.size });
};

type CheckedQuery = Pick<EventLogQuery, 'events' | 'subjectId' | 'newestFirst'> &
  Span & { readonly size: number };

const readBehind = async (
  database: Pick<Database, 'pool' | 'fork'>,
  shop: OfShop,
  start: NumberedEvent | null,
  { events = null, subjectId = null, since, until, size, newestFirst = false }: CheckedQuery,
) => {
  const way = newestFirst ? backwards : onwards;
  const whose = whoseLog(shop);
  const behind = start?.sequence ?? way.start;
  const isFiltered = [events, subjectId, since, until].some((filter) => filter !== null);
  // Read before the page: an event published in between follows it.
  const [last] = isFiltered
    ? await run<Edge>(database.pool, way.edge, [
        ...Object.values(whose),
        behind,
        way.farEnd({ since, until }),
      ])
    : [];
  const createdAt = given({ $gte: since, $lt: until });
  const where = {
    ...whose,
    sequence: way.numbers(behind, last?.sequence),
    webhookEvent: events === null ? { $ne: null } : { $in: [...events] },
    ...given({ subjectId }),
    ...(since || until ? { createdAt } : {}),
  };
  const order = { orderBy: { sequence: way.order }, limit: size + 1 };
  const rows =
    isFiltered && !last
      ? []
      : await database
          .fork()
          .find(EventEntity, where, { ...order, fields: logFields, disableIdentityMap: true });
  const items = rows.slice(0, size).flatMap((event) => (isLogged(event) ? event : []));
  const isFull = rows.length > size;
  const end = isFull ? items.at(-1) : (last ?? items.at(-1) ?? start);
  return {
    items,
    hasMore: isFull || last?.isBehind === true,
    // For the next `after`, never past the end of the days; null when nothing was read.
    lastId: end ? publicIdOf(end) : null,
  };
};

// Reads the event log for the live stream: one event by its sequence number, and the events after
// it.

const streamFields = ['sequence', 'shopId', 'mode', 'subjectId', 'streamKind', 'payload'] as const;
const isOnStream = (event: Pick<StoredEvent, keyof EventRow>): event is EventRow =>
  Boolean(event.sequence && event.streamKind);

/** The event with this sequence number; null when there is none on the stream. */
export const findEvent = async (em: EntityManager, sequence: string): Promise<EventRow | null> => {
  if (!/^\d{1,18}$/.test(sequence)) return null;
  const options = { fields: streamFields, disableIdentityMap: true };
  const event = await em.findOne(EventEntity, { sequence: BigInt(sequence) }, options);
  return event && isOnStream(event) ? event : null;
};

/** How far back a stream can resume. */
const resumable_h = 24;

/**
 * Events after `after`, oldest first, at most `limit`; null when `after` is not an event of the
 * last 24 hours.
 */
export const findEventsBehind = async (
  em: EntityManager,
  after: string,
  limit: number,
  filter: Partial<Omit<QueryliveEventsAfterArgs, 'after' | 'first'>>,
  now: Temporal.Instant,
): Promise<EventRow[] | null> => {
  if (!/^\d{1,18}$/.test(after)) return null;
  const createdAt = { $gte: now.subtract({ hours: resumable_h }) };
  const known = { sequence: BigInt(after), createdAt };
  if ((await em.count(EventEntity, known)) === 0) return null;
  const { kinds, ...whose } = filter;
  const streamKind = kinds ? { $in: [...kinds] } : { $ne: null };
  const behind = { sequence: { $gt: known.sequence }, streamKind, ...given(whose) };
  const order = { orderBy: { sequence: 'asc' }, limit } as const;
  const options = { ...order, fields: streamFields, disableIdentityMap: true };
  const found = await em.find(EventEntity, behind, options);
  return found.flatMap((event) => (isOnStream(event) ? event : []));
};
