/**
 * Where a call comes from, by its address and by the page that sends it. The address: the socket's, or the last untrusted hop of
 * `X-Forwarded-For` when the socket belongs to a configured trusted proxy. A sender that is not a
 * trusted proxy gains nothing by that header.
 */
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import { openAddressList, readAddress } from '../../subgraphs/platform/access/address-list.ts';

/**
 * Gives the caller's address. A trusted proxy may name something that is no address: it is returned
 * as it stands, and matches no list.
 */
export type AddressOf = (request: IncomingMessage) => string;

// Every value of a header that was sent several times. Node keeps the first Authorization and joins
// most others, so only the raw list has them.

/** The values of a header, in the order of the request. `name` is in lower case. */
export const headerValues = (
  { rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>,
  name: string,
): readonly string[] => {
  const values: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const sent = rawHeaders[i];
    if (sent?.length === name.length && sent.toLowerCase() === name)
      values.push(rawHeaders[i + 1] ?? '');
  }
  return values;
};

/**
 * Opens the reader. `trustedProxies` are addresses and CIDR blocks; with none the header is never
 * read.
 */
export const openAddressOf = (trustedProxies: readonly string[]): AddressOf => {
  const trusted = openAddressList(trustedProxies);
  return (request) => {
    const socket = plain(request.socket.remoteAddress ?? '');
    if (trustedProxies.length === 0 || !trusted(socket)) return socket;
    const hops = headerValues(request, 'x-forwarded-for')
      .flatMap((value) => value.split(','))
      .map((hop) => plain(hop.trim()));
    // Each proxy appends its own peer: the nearest hop is the last. Where all hops are trusted, the
    // first one began the call.
    return hops.findLast((hop) => !trusted(hop)) ?? hops[0] ?? socket;
  };
};

/** The address in one notation, without the port that some proxies append. */
const plain = (text: string): string => {
  const [, bracketed, withPort] =
    /^\[([^\]]*)\](?::\d+)?$|^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text) ?? [];
  const address = bracketed ?? withPort ?? text;
  return readAddress(address)?.text ?? address;
};

/** The first groups of an IPv6 address as a block: `2001:db8:1::/48` for three of them. */
const blockOf = (text: string, groups: number): string => {
  const parts = ipaddr.IPv6.parse(text).parts.slice(0, groups);
  return `${parts.map((part) => part.toString(16)).join(':')}::/${groups * 16}`;
};

/**
 * The part of an address that one caller does not choose freely, for counting callers: an IPv4
 * address itself, the /64 of an IPv6 address.
 */
export const networkOf = (address: string): string => {
  const read = readAddress(address);
  return read?.family === 'ipv6' ? blockOf(read.text, 4) : address;
};

/**
 * The network that one organisation often has: the /24 of an IPv4 address, the /48 of an IPv6
 * address. Anything that is no address is returned as it is.
 */
export const widerNetworkOf = (address: string): string => {
  const read = readAddress(address);
  if (!read) return address;
  return read.family === 'ipv6'
    ? blockOf(read.text, 3)
    : `${read.text.split('.').slice(0, 3).join('.')}.0/24`;
};

export const isLoopback: (address: string) => boolean = openAddressList(['127.0.0.0/8', '::1']);

// Which pages may talk to the graph from a browser: our own, and those of the origins that
// `GRAPHQL_ORIGINS` names. A program that is no browser sends no Origin and is not concerned.

type WithHeaders = Pick<IncomingMessage, 'headers'>;

/** Opens the check. `publicUrl` is the service's own address, `others` are exact origins. */
export const openOrigins = (publicUrl: string | null, others: readonly string[]) => {
  const own = publicUrl === null ? null : (URL.parse(publicUrl)?.origin ?? null);
  /** Whether the request says that it comes from a page of this service. */
  const isOwn = ({ headers: { origin, host } }: WithHeaders): boolean => {
    if (origin === undefined) return false;
    if (origin === own) return true;
    const named = URL.parse(origin)?.host;
    return named !== undefined && named !== '' && named === host;
  };
  /** The origin of a page elsewhere that may call with a bearer; null when it is none. */
  const otherOf = ({ headers: { origin } }: WithHeaders): string | null =>
    origin !== undefined && others.includes(origin) ? origin : null;
  return {
    /** Whether there are pages elsewhere that may call. */
    hasOthers: others.length > 0,
    isOwn,
    otherOf,
    /** Whether a page of this origin, or no page at all, may open a socket. */
    maySocket: (request: WithHeaders): boolean =>
      request.headers.origin === undefined || isOwn(request) || otherOf(request) !== null,
  };
};
export type Origins = ReturnType<typeof openOrigins>;
