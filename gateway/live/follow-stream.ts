/**
 * Follows the stream in this process: what comes over the bus, in its order, and what did not come,
 * from the store. The bus may lose messages, and a relay may die after it has numbered events and
 * before it has told of them; each message says what it comes behind, and now and then one says
 * where the stream stands. Invariant 1: PostgreSQL has the facts, so whatever is missing is read
 * there.
 */
import { liveKinds, type StreamedEvent } from '../../subgraphs/kernel/rules/event.ts';
import type { Bus } from '../../subgraphs/kernel/service/bus.ts';
import type { Logger } from '../../subgraphs/kernel/service/tracing/telemetry.ts';
import type { ReadEventsAfter } from './live-events.ts';

/** Events read from the store at a time. */
const mendingPage = 500;

export interface ConsumerParts {
  readonly bus: Bus;
  readonly readEventsAfter: ReadEventsAfter;
  /**
   * Called with every event of the stream, in order; with one that has been here before when a
   * relay that was thought dead still speaks.
   */
  readonly take: (event: StreamedEvent) => void;
  readonly log: Logger;
}

const later = (one: bigint, other: bigint): bigint => (one > other ? one : other);

/**
 * Begins with the first message that comes; gives the way to end. What cannot be read is tried
 * again at the next message.
 */
export const followStream = ({ bus, readEventsAfter, take, log }: ConsumerParts): (() => void) => {
  const everything = { audience: {}, kinds: new Set(liveKinds) };
  /** All events up to this number have been taken; null before the first message. */
  let position: bigint | null = null;
  /** The last number that was told of. */
  let told = 0n;
  let mending = false;
  const ending = new AbortController();

  const readPage = async (from: bigint): Promise<bigint> => {
    const goal = told;
    const page = await readEventsAfter(String(from), everything, mendingPage);
    if (page === null)
      log.warn(
        { after: String(from) },
        'live events were missed: the last one that was told is no longer to be resumed from',
      );
    for (const event of ending.signal.aborted ? [] : (page ?? [])) take(event);
    const last = page?.at(-1);
    if (last && page?.length === mendingPage) return BigInt(last.sequence);
    return last ? later(goal, BigInt(last.sequence)) : goal;
  };

  /** Meanwhile nothing is taken from the bus: the store has it too. */
  const mend = async (from: bigint): Promise<void> => {
    mending = true;
    position = from;
    try {
      while (position < told && !ending.signal.aborted) position = await readPage(position);
    } catch (error) {
      log.warn({ err: error }, 'live events that did not come over the bus could not be read');
    } finally {
      mending = false;
    }
  };

  const unsubscribe = bus.subscribe('events', ({ behind, last, events }) => {
    told = later(told, BigInt(last));
    if (mending) return;
    if (position !== null && BigInt(behind) > position) {
      void mend(position);
      return;
    }
    for (const event of events) take(event);
    position = later(position ?? 0n, BigInt(last));
  });
  return () => {
    ending.abort();
    unsubscribe();
  };
};
