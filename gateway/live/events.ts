/**
 * The source of the live stream: distributes the events of `follow-stream` to the readers that may
 * receive them. Every buffer is bounded. A slow reader loses its oldest events and gets their
 * number; `after` resumes from memory, or from the store when the events are older.
 */
import type { StreamedEvent } from '../../subgraphs/rules/event.ts';
import type { Bus } from '../../subgraphs/platform/bus/bus.ts';
import { liveSubscribers, type Logger } from '../../subgraphs/platform/tracing/telemetry.ts';
import { followStream } from './follow-stream.ts';
import { audienceNameOf, audienceNamesOf, type LiveFilter } from './audience.ts';
import { LiveReader, type DeliveredEvent, RecentEvents } from './reader.ts';
import type { ReadEventsAfter } from './stored-events.ts';

const recentEvents_max = 10_000;
const readerBuffer_max = 1_000;

interface LiveEventsDeps {
  readonly bus: Bus;
  readonly readEventsAfter: ReadEventsAfter;
  readonly log: Logger;
  readonly recentEvents?: number;
  readonly readerBuffer?: number;
}

export interface LiveEvents {
  /**
   * Selected events, from now on or after the event `after` (its id). No event comes twice, and
   * `missed` counts every skipped one. The iteration ends by `return`, or when the source closes.
   */
  read(filter: LiveFilter, after?: string | null): AsyncIterableIterator<DeliveredEvent, undefined>;
  /** The id behind which a reader begins that joins now; null while it is not known. */
  position(): string | null;
  close(): void;
}

/** Opens the source. */
export const openLiveEvents = ({
  bus,
  readEventsAfter,
  log,
  recentEvents = recentEvents_max,
  readerBuffer = readerBuffer_max,
}: LiveEventsDeps): LiveEvents => {
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
    read: (filter, after = null) => {
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
    position: () => stream.position(),
    close: () => {
      stream.stop();
      for (const group of readers.values()) for (const reader of group) reader.close();
    },
  };
};
