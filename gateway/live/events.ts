/**
 * The source of the live stream: distributes the followed stream to the readers that may
 * receive them. Every buffer is bounded. A slow reader loses its oldest events and gets their
 * number; `after` resumes from memory, or from the store when the events are older.
 */
import type { LiveEventKind } from '../../schema/generated/operations.ts';
import type { Bus } from '../../subgraphs/platform/bus/bus.ts';
import { liveSubscribers, type Logger } from '../../subgraphs/platform/tracing/telemetry.ts';
import {
  type StreamedEvent,
  type LiveKind,
  graphKindOf,
  liveKindOf,
  liveKinds,
} from '../../subgraphs/rules/event.ts';
import { dataOf, edgeCall } from '../callers/caller.ts';
import type { Supergraph } from '../supergraph.ts';

/** An event with its position in the stream as a comparable number. */
interface RecentEvent {
  readonly event: StreamedEvent;
  readonly sequence: bigint;
}

/**
 * The newest events, in the order of the stream: a client that was away briefly resumes from here,
 * without a query.
 */
class RecentEvents {
  readonly #entries: RecentEvent[] = [];
  readonly #capacity: number;
  /** The last event that was evicted; null before the first. */
  #lastEvicted: bigint | null = null;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /**
   * Appends an event. Null when it is not newer than the newest: a repetition, or one that comes
   * too late.
   */
  push(event: StreamedEvent): RecentEvent | null {
    const placed = { event, sequence: BigInt(event.sequence) };
    const newest = this.newest;
    if (newest !== null && placed.sequence <= newest) return null;
    this.#entries.push(placed);
    if (this.#entries.length > this.#capacity)
      this.#lastEvicted = this.#entries.shift()?.sequence ?? null;
    return placed;
  }

  get newest(): bigint | null {
    return this.#entries.at(-1)?.sequence ?? null;
  }

  /** Whether the buffer has every event behind `position`. */
  covers(position: bigint): boolean {
    const [oldest] = this.#entries;
    const newest = this.newest;
    if (!oldest || newest === null || position > newest) return false;
    return position >= (this.#lastEvicted ?? oldest.sequence);
  }

  /** The events behind `position`, oldest first, at most `max`. */
  after(position: bigint, max: number): readonly RecentEvent[] {
    const start = this.#entries.findLastIndex(({ sequence }) => sequence <= position) + 1;
    return this.#entries.slice(start, start + max);
  }
}

/** Events read from memory or from the store at a time. */
const replayPage_max = 500;

/** An event, and how many before it were dropped because the reader was slow. */
export interface DeliveredEvent {
  readonly event: StreamedEvent;
  readonly missed: number;
}

// Who receives which events of the stream: a key those of its shop and mode, an operator all or one
// merchant's, a buyer those of the own payment.

/** The properties that an event must have to be received; an absent field matches anything. */
export type Audience = Readonly<
  Partial<Pick<StreamedEvent, 'merchantId' | 'shopId' | 'mode' | 'subjectId'>>
>;

export interface LiveFilter {
  readonly audience: Audience;
  readonly kinds: ReadonlySet<LiveKind>;
}

/** A name for the audience: equal audiences have equal names. */
const audienceNameOf = ({ merchantId, shopId, mode, subjectId }: Audience): string =>
  [merchantId, shopId, mode, subjectId].map((part) => part ?? '*').join(' ');

/** The names of all audiences that receive the event. */
const audienceNamesOf = ({
  merchantId,
  shopId,
  mode,
  subjectId,
}: StreamedEvent): readonly string[] => [
  audienceNameOf({}),
  audienceNameOf({ merchantId }),
  audienceNameOf({ merchantId, shopId, mode }),
  audienceNameOf({ merchantId, subjectId }),
];

// Reads events of the stream that are no longer in memory, as the gateway itself, through the
// merchants subgraph.

/**
 * Reads stored events behind `after` that the filter selects, oldest first, at most `first`; null
 * when `after` is not an event of the last 24 hours.
 */
export type ReadEventsAfter = (
  after: string,
  filter: LiveFilter,
  first: number,
) => Promise<readonly StreamedEvent[] | null>;

/** Reads through the operation `ReadEventsAfter`. Rejects when the subgraph is unavailable. */
export const storedEvents = (supergraph: Pick<Supergraph, 'operation'>): ReadEventsAfter => {
  const operation = supergraph.operation('ReadEventsAfter');
  return async (after, { audience, kinds }, first) => {
    const variables = {
      after,
      first,
      ...audience,
      kinds: Array.from(kinds, (kind) => graphKindOf(kind)),
    };
    const { liveEventsAfter } = dataOf(await operation.run(variables, edgeCall('gateway')));
    return liveEventsAfter?.map(readEvent) ?? null;
  };
};

type Stored = Omit<StreamedEvent, 'sequence' | 'kind' | 'subjectId'> & {
  readonly id: string;
  readonly kind: LiveEventKind;
};

/**
 * The payload of each kind begins with the id of its subject (docs/contract.md#stream-payloads).
 */
const readEvent = ({ id, kind, payload, ...rest }: Stored): StreamedEvent => ({
  ...rest,
  sequence: id,
  kind: liveKindOf(kind),
  payload,
  subjectId: String(payload['id']),
});

interface LiveReaderDeps {
  readonly recent: RecentEvents;
  readonly filter: LiveFilter;
  readonly readEventsAfter: ReadEventsAfter;
  /** The id of the event to resume after; null for new events only. */
  readonly after: string | null;
  readonly buffer_max: number;
  /** Called once, when the reader has ended. */
  readonly onEnd: () => void;
}

/**
 * One reader: first the replay that it requested, then new events, through a bounded buffer of its
 * own. While it replays, the reader takes a page on each `next` and ignores offered events, which memory
 * or the store has as well. It becomes live in the same turn of the event loop in which memory has
 * no more events, so none is lost in between, and it accepts only events after the last one.
 */
class LiveReader implements AsyncIterableIterator<DeliveredEvent, undefined> {
  readonly #parts: LiveReaderDeps;
  readonly #name: string;
  #phase: 'stored' | 'recent' | 'live' | 'ended';
  /** The last event taken or, at first, the one to resume behind. */
  #position: bigint;
  /** The newest event in memory when the reader was opened. */
  readonly #newestAtStart: bigint;
  #buffer: RecentEvent[] = [];
  #missed = 0;
  #wake: (() => void) | null = null;

  constructor(deps: LiveReaderDeps) {
    this.#parts = deps;
    this.#name = audienceNameOf(deps.filter.audience);
    this.#position = BigInt(deps.after ?? 0);
    this.#newestAtStart = deps.recent.newest ?? 0n;
    if (deps.after === null) this.#phase = 'live';
    else this.#phase = deps.recent.covers(this.#position) ? 'recent' : 'stored';
  }

  /** Takes a new event of the reader's audience. */
  offer(recent: RecentEvent): void {
    if (this.#phase !== 'live') return;
    this.#take(recent);
    this.#wake?.();
  }

  async next(): Promise<IteratorResult<DeliveredEvent, undefined>> {
    for (;;) {
      const recent = this.#buffer.shift();
      if (recent) {
        const missed = this.#missed;
        this.#missed = 0;
        return { done: false, value: { event: recent.event, missed } };
      }
      switch (this.#phase) {
        case 'stored':
          await this.#replayStored();
          break;
        case 'recent':
          this.#replayRecent();
          break;
        case 'live':
          await this.#untilWoken();
          break;
        case 'ended':
          return { done: true, value: undefined };
      }
    }
  }

  async return(): Promise<IteratorResult<DeliveredEvent, undefined>> {
    this.close();
    return { done: true, value: undefined };
  }

  /** Ends the reader; a pending `next` is done. */
  close(): void {
    if (this.#phase === 'ended') return;
    this.#phase = 'ended';
    this.#buffer = [];
    this.#parts.onEnd();
    this.#wake?.();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #replayStored(): Promise<void> {
    const page = await this.#readStored();
    if (this.#phase !== 'stored') return;
    // A position that cannot be resumed continues from when the reader was opened.
    if (page === null) this.#position = this.#newestAtStart;
    for (const event of page ?? []) this.#take({ event, sequence: BigInt(event.sequence) });
    // Events from after the read are in memory: they came over the bus since.
    if (page === null || page.length < replayPage_max || this.#parts.recent.covers(this.#position))
      this.#phase = 'recent';
  }

  async #readStored(): Promise<readonly StreamedEvent[] | null> {
    try {
      return await this.#parts.readEventsAfter(
        String(this.#position),
        this.#parts.filter,
        replayPage_max,
      );
    } catch (error) {
      this.close();
      throw error;
    }
  }

  #replayRecent(): void {
    const page = this.#parts.recent.after(this.#position, replayPage_max);
    for (const recent of page)
      if (audienceNamesOf(recent.event).includes(this.#name)) this.#take(recent);
    this.#position = page.at(-1)?.sequence ?? this.#position;
    if (page.length < replayPage_max) this.#phase = 'live';
  }

  #take(recent: RecentEvent): void {
    if (recent.sequence <= this.#position || !this.#parts.filter.kinds.has(recent.event.kind))
      return;
    this.#position = recent.sequence;
    this.#buffer.push(recent);
    if (this.#buffer.length <= this.#parts.buffer_max) return;
    this.#buffer.shift();
    this.#missed += 1;
  }

  #untilWoken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = null;
        resolve();
      };
    });
  }
}

const recentEvents_max = 10_000;
const readerBuffer_max = 1_000;

interface LiveEventsDeps {
  readonly bus: Bus;
  readonly readEventsAfter: ReadEventsAfter;
  readonly log: Logger;
  readonly recentEvents?: number;
  readonly readerBuffer?: number;
}

// Follows the stream in this process: events from the bus in order, and those that did not come
// from the store. The bus may lose messages, and a relay may die between numbering events and
// publishing them. Each message therefore states which position it follows, and from time to time
// one states only the position of the stream. PostgreSQL holds the facts (invariant 1), so whatever
// is missing is read there.

/** Events read from the store at a time. */
const catchUpPage_max = 500;

interface FollowDeps {
  readonly bus: Bus;
  readonly readEventsAfter: ReadEventsAfter;
  /**
   * Called with every event of the stream, in order; again with an earlier one when a relay that
   * was thought dead still publishes.
   */
  readonly onEvent: (event: StreamedEvent) => void;
  readonly log: Logger;
}

const later = (one: bigint, other: bigint): bigint => (one > other ? one : other);

/** Starts with the first message. A failed read is retried at the next message. */
const followStream = ({ bus, readEventsAfter, onEvent, log }: FollowDeps) => {
  const everything = { audience: {}, kinds: new Set(liveKinds) };
  let position: bigint | null = null;
  /** The last position that was published. */
  let lastPublished = 0n;
  let catchingUp = false;
  const stopping = new AbortController();

  const readPage = async (from: bigint): Promise<bigint> => {
    const goal = lastPublished;
    const page = await readEventsAfter(String(from), everything, catchUpPage_max);
    if (page === null)
      log.warn(
        { after: String(from) },
        'live events were missed: the stream cannot resume from the last published event',
      );
    for (const event of stopping.signal.aborted ? [] : (page ?? [])) onEvent(event);
    const last = page?.at(-1);
    if (last && page?.length === catchUpPage_max) return BigInt(last.sequence);
    return last ? later(goal, BigInt(last.sequence)) : goal;
  };

  /** Until it is done, messages are not passed on: the store has their events too. */
  const catchUp = async (from: bigint): Promise<void> => {
    catchingUp = true;
    position = from;
    try {
      while (position < lastPublished && !stopping.signal.aborted)
        position = await readPage(position);
    } catch (error) {
      log.warn({ err: error }, 'could not read the live events that the bus missed');
    } finally {
      catchingUp = false;
    }
  };

  const unsubscribe = bus.subscribe('events', ({ behind, last, events }) => {
    lastPublished = later(lastPublished, BigInt(last));
    if (catchingUp) return;
    if (position !== null && BigInt(behind) > position) {
      void catchUp(position);
      return;
    }
    for (const event of events) onEvent(event);
    position = later(position ?? 0n, BigInt(last));
  });
  return {
    /** All events up to this one have been passed on; null before the first message. */
    position: (): string | null => position?.toString() ?? null,
    stop: (): void => {
      stopping.abort();
      unsubscribe();
    },
  };
};

export const openLiveEvents = ({
  bus,
  readEventsAfter,
  log,
  recentEvents = recentEvents_max,
  readerBuffer = readerBuffer_max,
}: LiveEventsDeps) => {
  const recent = new RecentEvents(recentEvents);
  const readers = new Map<string, Set<LiveReader>>();

  const distribute = (event: StreamedEvent): void => {
    const placed = recent.push(event);
    if (!placed) return;
    for (const name of audienceNamesOf(event))
      readers.get(name)?.forEach((reader) => reader.offer(placed));
  };
  const stream = followStream({ bus, readEventsAfter, onEvent: distribute, log });

  const leave = (name: string, reader: LiveReader): void => {
    const group = readers.get(name);
    if (!group?.delete(reader)) return;
    liveSubscribers.dec();
    if (group.size === 0) readers.delete(name);
  };

  return {
    /**
     * Selected events, from now on or after the event `after` (its id). No event comes twice, and
     * `missed` counts every skipped one. The iteration ends by `return`, or when the source closes.
     */
    read: (
      filter: LiveFilter,
      after: string | null = null,
    ): AsyncIterableIterator<DeliveredEvent, undefined> => {
      const name = audienceNameOf(filter.audience);
      const group = readers.get(name) ?? new Set();
      readers.set(name, group);
      const reader = new LiveReader({
        recent,
        filter,
        readEventsAfter,
        after,
        buffer_max: readerBuffer,
        onEnd: () => leave(name, reader),
      });
      group.add(reader);
      liveSubscribers.inc();
      return reader;
    },
    /** The id behind which a reader begins that joins now; null while it is not known. */
    position: stream.position,
    close: (): void => {
      stream.stop();
      for (const group of readers.values()) for (const reader of group) reader.close();
    },
  };
};
export type LiveEvents = ReturnType<typeof openLiveEvents>;
