/**
 * The source of the live stream: events of `follow-stream`, fanned out to those who may hear them
 * (architecture section 4). Everything is bounded. A slow reader loses its oldest events and is
 * told how many; `after` resumes from memory, or from the store when that is older.
 */
import type { StreamedEvent, LiveKind } from '../../subgraphs/kernel/rules/event.ts';
import type { Bus } from '../../subgraphs/kernel/service/bus.ts';
import { liveSubscribers, type Logger } from '../../subgraphs/kernel/service/tracing/telemetry.ts';
import { EventRing } from './event-ring.ts';
import { followStream } from './follow-stream.ts';
import { nameOfAudience, namesOfAudiences, type Audience } from './audience.ts';
import { LiveReader, type Told } from './live-reader.ts';

const rememberedEvents_max = 10_000;
const readerBuffer_max = 1_000;

export interface LiveFilter {
  readonly audience: Audience;
  readonly kinds: ReadonlySet<LiveKind>;
}

/**
 * Reads stored events behind `after` that the filter lets through, oldest first, at most `first`;
 * null when `after` is not an event of the last 24 hours (decision D-76).
 */
export type ReadEventsAfter = (
  after: string,
  filter: LiveFilter,
  first: number,
) => Promise<readonly StreamedEvent[] | null>;

export interface LiveEventsParts {
  readonly bus: Bus;
  readonly readEventsAfter: ReadEventsAfter;
  readonly log: Logger;
  readonly rememberedEvents?: number;
  readonly readerBuffer?: number;
}

export interface LiveEvents {
  /**
   * Events that the filter lets through, from now on or from behind the event `after` (its id). No
   * event comes twice; none is skipped except as `missed` says. The iteration ends by `return`, or
   * when the source closes.
   */
  read(filter: LiveFilter, after?: string | null): AsyncIterableIterator<Told, undefined>;
  close(): void;
}

/** Opens the source. */
export const openLiveEvents = ({
  bus,
  readEventsAfter,
  log,
  rememberedEvents = rememberedEvents_max,
  readerBuffer = readerBuffer_max,
}: LiveEventsParts): LiveEvents => {
  const ring = new EventRing(rememberedEvents);
  const readers = new Map<string, Set<LiveReader>>();

  const take = (event: StreamedEvent): void => {
    const placed = ring.push(event);
    if (!placed) return;
    for (const name of namesOfAudiences(event))
      readers.get(name)?.forEach((reader) => reader.offer(placed));
  };
  const leaveStream = followStream({ bus, readEventsAfter, take, log });

  const leave = (name: string, reader: LiveReader): void => {
    const group = readers.get(name);
    if (!group?.delete(reader)) return;
    liveSubscribers.dec();
    if (group.size === 0) readers.delete(name);
  };

  return {
    read: (filter, after = null) => {
      const name = nameOfAudience(filter.audience);
      const group = readers.get(name) ?? new Set();
      readers.set(name, group);
      const reader = new LiveReader({
        ring,
        filter,
        readEventsAfter,
        after,
        most: readerBuffer,
        left: () => leave(name, reader),
      });
      group.add(reader);
      liveSubscribers.inc();
      return reader;
    },
    close: () => {
      leaveStream();
      for (const group of readers.values()) for (const reader of group) reader.close();
    },
  };
};
