/**
 * Calls that read the same event of the live stream again for the same caller share what they
 * load: fifty subscriptions on a socket, each with fields of its own, read an object once.
 */
import type { Call } from '../access/principal.ts';
import { Lru } from '../lru.ts';

/** The header under which a call's live event goes to a subgraph in another process. */
export const liveEventHeader = 'x-live-event';

/** Events of one caller each that are shared at a time. */
const sharedEvents_max = 1_000;
/** An object of an event is at most this old when a slower subscriber gets it. */
const shared_ms = 5_000;

interface Shared {
  readonly loads: object;
  readonly until_ms: number;
}

/**
 * Opens the sharing of one subgraph. The answer gives, for a call, the object that its loaders are
 * kept by (`perCall`), or undefined where the call shares nothing. Only calls of the very same
 * principal share: its rights, its merchant, its shop and its mode are a part of the name.
 */
export const openEventLoads = (
  clock_ms: () => number = () => performance.now(),
): ((call: Call) => object | undefined) => {
  const kept = new Lru<string, Shared>(sharedEvents_max);
  return ({ liveEvent, principal }) => {
    if (liveEvent === undefined) return undefined;
    const name = `${liveEvent} ${JSON.stringify(principal)}`;
    const now_ms = clock_ms();
    const known = kept.get(name);
    if (known && known.until_ms > now_ms) return known.loads;
    const loads = {};
    kept.set(name, { loads, until_ms: now_ms + shared_ms });
    return loads;
  };
};
