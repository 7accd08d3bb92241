/**
 * One reader of the live stream: first the replay that it requested, then new events, through a
 * bounded buffer of its own.
 */
import type { LiveEventKind } from '../../schema/generated/operations.ts';
import type { Principal } from '../../subgraphs/platform/access/principal.ts';
import {
  type StreamedEvent,
  type LiveKind,
  graphKindOf,
  liveKindOf,
} from '../../subgraphs/rules/event.ts';
import { refuse, type Refusal } from '../../subgraphs/rules/refusal.ts';
import type { Supergraph } from '../supergraph.ts';
import { dataOf, edgeCall } from '../callers/caller.ts';

/** An event with its position in the stream as a comparable number. */
interface RecentEvent {
  readonly event: StreamedEvent;
  readonly sequence: bigint;
}

/**
 * The newest events, in the order of the stream: a client that was away briefly resumes from here,
 * without a query.
 */
export class RecentEvents {
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
type Audience = Readonly<
  Partial<Pick<StreamedEvent, 'merchantId' | 'shopId' | 'mode' | 'subjectId'>>
>;

export interface LiveFilter {
  readonly audience: Audience;
  readonly kinds: ReadonlySet<LiveKind>;
}

/**
 * The caller's audience, narrowed to `merchantId` when one is given. Refuses a merchant that is not
 * the caller's with `not_found`.
 */
export const audienceOf = (principal: Principal, merchantId: string | null): Audience | Refusal => {
  switch (principal.kind) {
    case 'key':
      return within(principal.merchantId, merchantId, {
        merchantId: principal.merchantId,
        shopId: principal.shopId,
        mode: principal.mode,
      });
    case 'operator': {
      if (principal.merchantId === null) return merchantId === null ? {} : { merchantId };
      return within(principal.merchantId, merchantId, { merchantId: principal.merchantId });
    }
    case 'buyer':
      return within(principal.merchantId, merchantId, {
        merchantId: principal.merchantId,
        subjectId: principal.paymentId,
      });
    case 'edge':
    case 'service':
      return refuse('not_found', 'The stream is not for services.');
  }
};

const within = (own: string, requested: string | null, audience: Audience): Audience | Refusal =>
  requested === null || requested === own
    ? audience
    : refuse('not_found', 'There is no such merchant.');

/** A name for the audience: equal audiences have equal names. */
export const audienceNameOf = ({ merchantId, shopId, mode, subjectId }: Audience): string =>
  [merchantId, shopId, mode, subjectId].map((part) => part ?? '*').join(' ');

/** The names of all audiences that receive the event. */
export const audienceNamesOf = ({
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
 * While it replays, the reader takes a page on each `next` and ignores offered events, which memory
 * or the store has as well. It becomes live in the same turn of the event loop in which memory has
 * no more events, so none is lost in between, and it accepts only events after the last one.
 */
export class LiveReader implements AsyncIterableIterator<DeliveredEvent, undefined> {
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
