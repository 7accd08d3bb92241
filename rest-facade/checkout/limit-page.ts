/**
 * How often the hosted page may be called, and how many of its streams may be open: by page, by
 * address and by network. Buyers have no key, so nobody answers for their calls. The counts are
 * those of one process, in its memory: a flood costs no other part of the service anything.
 */
import type { IncomingMessage } from 'node:http';
import { openBucketsInMemory } from '../../gateway/callers/buckets-in-memory.ts';
import {
  isLoopback,
  networkOf,
  widerNetworkOf,
  type AddressOf,
} from '../../gateway/callers/caller-address.ts';
import { openNamedQuota } from '../../gateway/callers/quota.ts';
import type { RateLimit } from '../../gateway/callers/token-bucket.ts';

interface PageLimit {
  readonly calls: RateLimit;
  /** Streams that are open at the same time. */
  readonly streams: number;
}

/**
 * A page in use makes about 20 calls and then one in 3 s. An address is an IPv4 address or a /64 of
 * IPv6: many buyers behind one NAT fit. A network is a /24 of IPv4 or a /48 of IPv6, and has room
 * for several addresses that use up theirs.
 */
export const pageLimits = {
  page: { calls: { perSecond: 20, burst: 200 }, streams: 10 },
  address: { calls: { perSecond: 200, burst: 2_000 }, streams: 500 },
  network: { calls: { perSecond: 500, burst: 5_000 }, streams: 2_000 },
} as const satisfies Readonly<Record<string, PageLimit>>;

/**
 * Of links' pages: an address and a network may ask for so many, whether they exist or not, so that
 * nobody guesses; and a link makes so many payments, whoever asks. Looking at a link's page takes
 * nothing from the link: anybody who knows its address could switch it off.
 */
export const linkLimits = {
  address: { perSecond: 5, burst: 100 },
  network: { perSecond: 25, burst: 500 },
  link: { perSecond: 20, burst: 200 },
} as const satisfies Readonly<Record<string, RateLimit>>;

/** Seconds after which a stream that was refused may be asked for again. */
export const streamRetry_s = 15;

export interface PageLimiter {
  /**
   * Counts one call, of the page with this payment when its token is good. Gives the seconds until
   * it may come again, or 0 when it may now.
   */
  call(request: IncomingMessage, paymentId: string | null): number;
  /**
   * Counts one call of the page of a link, by where it comes from. Gives the seconds until it may
   * come again, or 0 when it may now.
   */
  link(request: IncomingMessage): number;
  /**
   * Counts one payment of the link with this address. Gives the seconds until it may make another,
   * or 0 when it may now.
   */
  linkPayment(address: string): number;
  /**
   * Counts one stream of the page with this payment; calling the answer gives it back. Null when
   * there are as many as allowed.
   */
  stream(request: IncomingMessage, paymentId: string): (() => void) | null;
}

/** Opens the counts of one process. `now_us` is a clock that only goes forward, in microseconds. */
export const openPageLimiter = (addressOf: AddressOf, now_us?: () => number): PageLimiter => {
  const kinds = ['address', 'network', 'page'] as const;
  const buckets = Object.fromEntries(kinds.map((kind) => [kind, openBucketsInMemory(now_us)]));
  const linkBuckets = openBucketsInMemory(now_us);
  const open = Object.fromEntries(
    kinds.map((kind) => [kind, openNamedQuota(pageLimits[kind].streams)]),
  );
  /**
   * What a request is counted under. Loopback is the machine's own: a proxy there that
   * TRUSTED_PROXIES does not name would be all buyers at once.
   */
  const namesOf = (
    request: IncomingMessage,
    paymentId: string | null,
  ): readonly (readonly [(typeof kinds)[number], string])[] => {
    const address = addressOf(request);
    return [
      ...(isLoopback(address)
        ? []
        : ([
            ['address', networkOf(address)],
            ['network', widerNetworkOf(address)],
          ] as const)),
      ...(paymentId === null ? [] : ([['page', paymentId]] as const)),
    ];
  };
  const takeOfLinks = (kind: keyof typeof linkLimits, name: string): number => {
    const taken = linkBuckets.take(`${kind} ${name}`, linkLimits[kind]);
    return taken && !(taken instanceof Promise) && !taken.granted ? taken.retryAfter_s : 0;
  };
  return {
    call: (request, paymentId) => {
      for (const [kind, name] of namesOf(request, paymentId)) {
        const taken = buckets[kind]?.take(name, pageLimits[kind].calls);
        if (taken && !(taken instanceof Promise) && !taken.granted) return taken.retryAfter_s;
      }
      return 0;
    },
    link: (request) => {
      for (const [kind, name] of namesOf(request, null)) {
        const wait_s = kind === 'page' ? 0 : takeOfLinks(kind, name);
        if (wait_s > 0) return wait_s;
      }
      return 0;
    },
    linkPayment: (address) => takeOfLinks('link', address.slice(0, 22)),
    stream: (request, paymentId) => {
      const held: (() => void)[] = [];
      const giveBack = (): void => held.splice(0).forEach((one) => one());
      for (const [kind, name] of namesOf(request, paymentId)) {
        const one = open[kind]?.take(name);
        if (!one) {
          giveBack();
          return null;
        }
        held.push(one);
      }
      return giveBack;
    },
  };
};
