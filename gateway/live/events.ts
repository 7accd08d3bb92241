/**
 * The source of the live stream: distributes the followed stream to the readers that may
 * receive them. Every buffer is bounded. A slow reader loses its oldest events and gets their
 * number; `after` resumes from memory, or from the store when the events are older.
 */
import type { Bus } from '../../subgraphs/platform/bus/bus.ts';
import { liveSubscribers, type Logger } from '../../subgraphs/platform/tracing/telemetry.ts';
import { type StreamedEvent, liveKinds } from '../../subgraphs/rules/event.ts';
import {
  audienceNameOf,
  audienceNamesOf,
  type LiveFilter,
  LiveReader,
  type DeliveredEvent,
  RecentEvents,
  type ReadEventsAfter,
} from './reader.ts';

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
