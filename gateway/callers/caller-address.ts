/**
 * Where a call comes from: decision D-11. It is the socket's address, or the last untrusted hop of
 * `X-Forwarded-For` when the socket belongs to a configured trusted proxy. Whoever is no trusted
 * proxy gains nothing by sending that header.
 */
import type { IncomingMessage } from 'node:http';
import {
  openAddressList,
  readAddress,
} from '../../subgraphs/kernel/service/access/address-list.ts';
import { headerValues } from './header-values.ts';

/**
 * Gives the caller's address. What a trusted proxy names instead of an address comes as it stands,
 * and is in no list.
 */
export type AddressOf = (request: IncomingMessage) => string;

/** `trustedProxies`: addresses and CIDR blocks; none means that the header is never read. */
export const openAddressOf = (trustedProxies: readonly string[]): AddressOf => {
  const trusted = openAddressList(trustedProxies);
  return (request) => {
    const socket = plain(request.socket.remoteAddress ?? '');
    if (trustedProxies.length === 0 || !trusted(socket)) return socket;
    const hops = headerValues(request, 'x-forwarded-for')
      .flatMap((value) => value.split(','))
      .map((hop) => plain(hop.trim()));
    // Each proxy appends whom it heard from: the nearest hop is the last. Where all are trusted,
    // the first one began the call.
    return hops.findLast((hop) => !trusted(hop)) ?? hops[0] ?? socket;
  };
};

/** The address in one notation, without the port that some proxies add. */
const plain = (text: string): string => {
  const [, bracketed, withPort] =
    /^\[([^\]]*)\](?::\d+)?$|^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text) ?? [];
  const address = bracketed ?? withPort ?? text;
  return readAddress(address)?.text ?? address;
};

/** The first groups of an IPv6 address as a block: `2001:db8:1::/48` for three of them. */
const blockOf = (text: string, groups: number): string => {
  const [head = '', tail] = text.split('::');
  const before = head === '' ? [] : head.split(':');
  const behind = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : 8 - before.length - behind.length;
  const whole = [...before, ...Array.from({ length: zeros }, () => '0'), ...behind];
  return `${whole.slice(0, groups).join(':')}::/${groups * 16}`;
};

/**
 * What one caller can choose freely of its address: an IPv4 address itself, of an IPv6 address the
 * /64 that it is in. For counting callers.
 */
export const networkOf = (address: string): string => {
  const read = readAddress(address);
  return read?.family === 'ipv6' ? blockOf(read.text, 4) : address;
};

/**
 * What one organisation often has: of an IPv4 address the /24 that it is in, of an IPv6 address the
 * /48. What is no address comes as it is.
 */
export const widerNetworkOf = (address: string): string => {
  const read = readAddress(address);
  if (!read) return address;
  return read.family === 'ipv6'
    ? blockOf(read.text, 3)
    : `${read.text.split('.').slice(0, 3).join('.')}.0/24`;
};

/** Whether an address is the machine's own. */
export const isLoopback: (address: string) => boolean = openAddressList(['127.0.0.0/8', '::1']);

/** Tells whether an address is in one of these networks: addresses and CIDR blocks. */
export const openNetworks = (networks: readonly string[]): ((address: string) => boolean) =>
  openAddressList(networks);
