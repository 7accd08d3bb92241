/**
 * Where a call comes from, by its address and by the page that sends it. The address is the
 * socket's, or the last untrusted hop of `X-Forwarded-For` when the socket belongs to a configured
 * trusted proxy. A sender that is not a trusted proxy gains nothing by that header.
 */
import ipaddr from 'ipaddr.js';
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, SocketAddress } from 'node:net';

// Lists of network addresses: a shop's allow-list (docs/contract.md#caller-address) and the trusted
// proxies. An entry is an IPv4 or IPv6 address or a CIDR block. An IPv4 address written as IPv6
// (`::ffff:192.0.2.1`) equals that IPv4 address, in entries and in callers.

/** The address in a socket or a header, normalized so that equal addresses are equal texts. */
export interface Address {
  readonly family: 'ipv4' | 'ipv6';
  readonly text: string;
}

/** As many bits of an IPv4 address in IPv6 notation stand before the IPv4 address itself. */
const mappedBits = 96;

/**
 * Reads an address in any notation; null when it is none. A zone, as in `fe80::1%eth0`, is left
 * out.
 */
export const readAddress = (text: string): Address | null => {
  const version = isIP(text);
  if (version === 0) return null;
  if (version === 4) return { family: 'ipv4', text };
  const { address } = new SocketAddress({ address: text, family: 'ipv6' });
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address) ?? [];
  return mapped === undefined
    ? { family: 'ipv6', text: address }
    : { family: 'ipv4', text: mapped };
};

interface Block extends Address {
  readonly bits: number;
}

const readBlock = (entry: string): Block | null => {
  const [, written = '', prefix] = /^([\d.:a-f]+)(?:\/(\d{1,3}))?$/i.exec(entry) ?? [];
  const address = readAddress(written);
  if (!address) return null;
  const limit = isIP(written) === 4 ? 32 : 128;
  const bits = prefix === undefined ? limit : Number(prefix);
  if (bits > limit || (prefix !== undefined && String(bits) !== prefix)) return null;
  if (address.family === 'ipv6' || limit === 32) return { ...address, bits };
  // A block that reaches beyond the IPv4 addresses in IPv6 notation is none of either kind.
  return bits < mappedBits ? null : { ...address, bits: bits - mappedBits };
};

/**
 * The entry in one notation; null when it is neither an address nor a CIDR block. An address stands
 * without a prefix.
 */
export const readAddressEntry = (entry: string): string | null => {
  const block = readBlock(entry.trim());
  if (!block) return null;
  return block.bits === (block.family === 'ipv4' ? 32 : 128)
    ? block.text
    : `${block.text}/${block.bits}`;
};

/** Whether an address, in any notation, is in the list. What is no address is in no list. */
export type AddressList = (address: string) => boolean;

/** Opens a list of entries that have been read before; throws on another. */
export const openAddressList = (entries: readonly string[]): AddressList => {
  // One for each family: Node would find an IPv4 address in a block of IPv6 addresses that is wide
  // enough.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const entry of entries) {
    const block = readBlock(entry);
    if (!block) throw new Error(`not an address: ${entry}`);
    lists[block.family].addSubnet(block.text, block.bits, block.family);
  }
  return (text) => {
    const address = readAddress(text);
    return address !== null && lists[address.family].check(address.text, address.family);
  };
};

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

/** Reads the network of a caller's address: calls are counted by it before authentication. */
export const openNetworkOf = (trustedProxies: readonly string[]): AddressOf => {
  const addressOf = openAddressOf(trustedProxies);
  return (request) => networkOf(addressOf(request));
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
