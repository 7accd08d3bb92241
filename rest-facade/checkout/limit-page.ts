/**
 * How often the hosted page may be called, and how many of its streams may be open: by page, by
 * address and by network. Buyers have no key, so no merchant's limit holds for their calls. The counts are
 * those of one process, in its memory: a flood costs no other part of the service anything.
 */
import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import { LRUCache } from 'lru-cache';

import {
  isLoopback,
  networkOf,
  widerNetworkOf,
  type AddressOf,
} from '../../subgraphs/platform/access/caller-address.ts';
import { openBucketsInMemory, type RateLimit } from '../../gateway/callers/admit-caller.ts';
import { openNamedQuota } from '../../gateway/callers/limits.ts';

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
 * Limits for pages of links: requests of an address and a network, for existing links or not,
 * against guessing; and payments of a link, by any caller. Viewing a page does not count against
 * its link, since anyone with the address could then block it. Half of a link's payments are
 * reserved (`newcomers`) for addresses that have made none lately, so a few addresses cannot use up
 * all.
 */
export const linkLimits = {
  address: { perSecond: 5, burst: 100 },
  network: { perSecond: 25, burst: 500 },
  link: { perSecond: 10, burst: 100 },
  newcomers: { perSecond: 10, burst: 100 },
} as const satisfies Readonly<Record<string, RateLimit>>;

/** How long an address that made a payment of a link is no newcomer to it. */
export const newcomerAgain_s = 600;
/** Of the addresses that made payments of links lately, the last ones are remembered. */
const payers_max = 100_000;

/** Seconds after which a stream that was refused may be asked for again. */
export const streamRetry_s = 15;

/**
 * Opens the question whether a request's address has made no payment of a link lately; it has from
 * then on. Of IPv6 a network counts as one, since it has addresses without end.
 */
const openNewcomers = (addressOf: AddressOf, now_us?: () => number) => {
  const payers = new LRUCache<string, true>({
    max: payers_max,
    ttl: newcomerAgain_s * 1_000,
    ...(now_us ? { perf: { now: () => now_us() / 1_000 }, ttlResolution: 0 } : {}),
  });
  return (request: IncomingMessage, link: string): boolean => {
    const address = addressOf(request);
    if (isLoopback(address)) return true;
    const payer = `${link} ${isIPv6(address) ? widerNetworkOf(address) : address}`;
    const isKnown = payers.has(payer);
    payers.set(payer, true);
    return !isKnown;
  };
};

const kinds = ['address', 'network', 'page'] as const;

/**
 * What a request is counted under. Loopback is the machine's own: a proxy there that
 * TRUSTED_PROXIES does not name would be all buyers at once.
 */
const namesOf = (
  address: string,
  paymentId: string | null,
): readonly (readonly [(typeof kinds)[number], string])[] => [
  ...(isLoopback(address)
    ? []
    : ([
        ['address', networkOf(address)],
        ['network', widerNetworkOf(address)],
      ] as const)),
  ...(paymentId === null ? [] : ([['page', paymentId]] as const)),
];

/** The counts of links' pages. */
const openLinkLimiter = (addressOf: AddressOf, now_us?: () => number) => {
  const buckets = openBucketsInMemory(now_us);
  const isNewcomer = openNewcomers(addressOf, now_us);
  const take = (kind: keyof typeof linkLimits, name: string): number =>
    buckets.take(`${kind} ${name}`, linkLimits[kind]).retryAfter_s;
  return {
    /** Counts one call of the page of a link, by where it comes from. */
    link: (request: IncomingMessage): number => {
      for (const [kind, name] of namesOf(addressOf(request), null)) {
        const wait_s = kind === 'page' ? 0 : take(kind, name);
        if (wait_s > 0) return wait_s;
      }
      return 0;
    },
    /** Counts one payment of the link with this address, by who makes it. */
    linkPayment: (request: IncomingMessage, address: string): number => {
      const link = address.slice(0, 22);
      const isNew = isNewcomer(request, link);
      const wait_s = take('link', link);
      return wait_s > 0 && isNew ? take('newcomers', link) : wait_s;
    },
  };
};

/**
 * Opens the counts of one process. Each gives the seconds until the caller may come again, or 0 when
 * it may now. `now_us` is a clock that only goes forward, in microseconds.
 */
export const openPageLimiter = (addressOf: AddressOf, now_us?: () => number) => {
  const buckets = Object.fromEntries(kinds.map((kind) => [kind, openBucketsInMemory(now_us)]));
  const open = Object.fromEntries(
    kinds.map((kind) => [kind, openNamedQuota(pageLimits[kind].streams)]),
  );
  return {
    ...openLinkLimiter(addressOf, now_us),
    /** Counts one call, of the page of this name: of a payment, when its token is good, or a customer. */
    call: (request: IncomingMessage, page: string | null): number => {
      for (const [kind, name] of namesOf(addressOf(request), page)) {
        const wait_s = buckets[kind]?.take(name, pageLimits[kind].calls).retryAfter_s ?? 0;
        if (wait_s > 0) return wait_s;
      }
      return 0;
    },
    /** Counts one stream; the answer gives it back. Null when there are as many as allowed. */
    stream: (request: IncomingMessage, paymentId: string): (() => void) | null => {
      const held: (() => void)[] = [];
      const giveBack = (): void => held.splice(0).forEach((one) => one());
      for (const [kind, name] of namesOf(addressOf(request), paymentId)) {
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
export type PageLimiter = ReturnType<typeof openPageLimiter>;
