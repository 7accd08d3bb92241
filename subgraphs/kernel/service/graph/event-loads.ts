/**
 * Calls that read the same event of the live stream again for the same caller share their loads:
 * fifty subscriptions on a socket, each with different fields, read an object once.
 * Shared data is as fresh as the result that equal subscriptions share: from the first read of the
 * event. A later event has its own loads, so it never shows an earlier state. Each process of a
 * subgraph shares separately.
 */
import type { Call } from '../access/principal.ts';

/** The header under which a call's live event goes to a subgraph in another process. */
export const liveEventHeader = 'x-live-event';

/** Events of one caller each that are shared at a time. */
const sharedEvents_max = 1_000;
/**
 * Rows that are held for all of them together. One selection can reach the 500 shops of its
 * merchant, so the number of events alone bounds no memory.
 */
const sharedRows_max = 5_000;
/** An object of an event is at most this old when a slower subscriber gets it. */
const shared_ms = 5_000;

/** What the calls of one caller about one event share: the key of their loaders. */
export interface SharedLoads {
  /** Counts rows that are held from now on. */
  hold(rows: number): void;
}

interface Kept {
  readonly loads: SharedLoads;
  readonly until_ms: number;
  rows: number;
}

/**
 * Opens the sharing of one subgraph. The returned function gives, for a call, the key object of its
 * loaders (`perCall`), or undefined when the call shares nothing. Only calls of the very same
 * principal share: its rights, its merchant, its shop and its mode are a part of the name.
 */
export const openEventLoads = (
  clock_ms: () => number = () => performance.now(),
  life_ms = shared_ms,
): ((call: Call) => SharedLoads | undefined) => {
  /** Oldest first: all have the same lifetime. */
  const kept = new Map<string, Kept>();
  let rows = 0;
  let sweeping = false;

  const drop = (name: string, entry: Kept): void => {
    kept.delete(name);
    rows -= entry.rows;
  };
  const trim = (): void => {
    for (const [name, entry] of kept) {
      const fits = kept.size <= sharedEvents_max && rows <= sharedRows_max;
      if (fits && entry.until_ms > clock_ms()) return;
      drop(name, entry);
    }
  };
  /** Also when no call comes any more, what is too old is let go. */
  const sweepLater = (): void => {
    if (sweeping) return;
    sweeping = true;
    setTimeout(() => {
      sweeping = false;
      trim();
      if (kept.size > 0) sweepLater();
    }, life_ms).unref();
  };
  const keep = (name: string): SharedLoads => {
    const hold = (more: number): void => {
      if (kept.get(name) !== entry) return;
      entry.rows += more;
      rows += more;
      trim();
    };
    const entry: Kept = { loads: { hold }, until_ms: clock_ms() + life_ms, rows: 0 };
    kept.set(name, entry);
    trim();
    sweepLater();
    return entry.loads;
  };

  return ({ liveEvent, principal }) => {
    if (liveEvent === undefined) return undefined;
    const name = `${liveEvent} ${JSON.stringify(principal)}`;
    const known = kept.get(name);
    if (known && known.until_ms > clock_ms()) return known.loads;
    if (known) drop(name, known);
    return keep(name);
  };
};
