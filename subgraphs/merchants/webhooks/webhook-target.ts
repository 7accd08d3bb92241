/**
 * Where webhooks may go. Decision D-74: https only for live; never to loopback, private,
 * link-local, multicast or metadata addresses, checked on the address that is actually connected
 * to. Redirects are not followed, so each connection is the only hop. The development switch allows
 * http, and loopback.
 */
import { lookup as systemLookup, Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import ipaddr from 'ipaddr.js';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import type { Mode } from '../../kernel/rules/mode.ts';
import { webhookDeadline_ms, webhookSocketsPerOrigin_max, webhookUrl_max_chars } from './rules.ts';

export interface TargetRules {
  /** The development switch: http and loopback are allowed, other private addresses are not. */
  readonly privateTargets: boolean;
}

/** The development switch as it stands now. */
export interface TargetSwitch {
  readonly privateTargets: () => boolean;
}

/** The target may not be connected to. */
class RefusedTarget extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RefusedTarget';
  }
}

/**
 * The only IPv6 block from which public unicast addresses are given out; outside it also lie forms
 * that carry an IPv4 address, such as `::7f00:1`.
 */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Public by its block, and yet the cloud's own inside of a machine that runs there: Azure's wire
 * server.
 */
const cloudOwn = new Set(['168.63.129.16']);

/**
 * Whether an address, in any notation that a socket or a resolver gives, is a public unicast one.
 * Everything else is refused, known or not: private, carrier-grade NAT, link-local with its
 * metadata services, multicast, reserved, and the IPv6 forms that carry an IPv4 address.
 */
export const isPublicAddress = (text: string): boolean => {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  return (
    address.range() === 'unicast' &&
    !cloudOwn.has(address.toString()) &&
    (address.kind() === 'ipv4' || address.match(globalUnicast))
  );
};

type MayReach = (address: string) => boolean;

const isPublicOrLoopback: MayReach = (text) =>
  isPublicAddress(text) || (ipaddr.isValid(text) && ipaddr.process(text).range() === 'loopback');

const mayReachWith = ({ privateTargets }: TargetRules): MayReach =>
  privateTargets ? isPublicOrLoopback : isPublicAddress;

const withoutBrackets = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');

/** Names that never lead outside (RFC 6761, RFC 8375, ICANN's private-use name). */
const isPrivateName = (hostname: string): boolean =>
  /(^|\.)(localhost|local|internal|home\.arpa)\.?$/i.test(hostname);

const isLoopbackName = (hostname: string): boolean => /(^|\.)localhost\.?$/i.test(hostname);

/**
 * Checks an address when it is configured or sent with a payment. Gives what is wrong with it, in
 * words that follow the field's name, or null. Names are not resolved here: what they lead to is
 * checked on every connection.
 */
export const checkWebhookUrl = (
  url: string,
  rules: TargetRules & { readonly mode: Mode },
): string | null => {
  if (url.length > webhookUrl_max_chars)
    return `must have at most ${webhookUrl_max_chars} characters, got ${url.length}`;
  if (!URL.canParse(url)) return 'must be an absolute URL';
  const { protocol, hostname, username, password } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') return 'must be an https URL';
  if (protocol === 'http:' && (rules.mode === 'live' || !rules.privateTargets))
    return 'must be an https URL';
  if (username !== '' || password !== '') return 'must not hold a user name or a password';
  const host = withoutBrackets(hostname);
  const isAllowedName = !isPrivateName(host) || (rules.privateTargets && isLoopbackName(host));
  return (isIP(host) === 0 ? !isAllowedName : !mayReachWith(rules)(host))
    ? 'must lead to a public address'
    : null;
};

type Addresses = (hostname: string) => Promise<readonly string[]>;

/**
 * Resolves names without the system's thread pool: a name server that does not answer would
 * otherwise hold up everybody's lookups.
 */
const askNameServers =
  (resolver: Resolver): Addresses =>
  async (hostname) => {
    const answers = await Promise.allSettled([
      resolver.resolve4(hostname),
      resolver.resolve6(hostname),
    ]);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  };

/**
 * A developer's machine knows names that no name server has: `localhost`, and those of its hosts
 * file.
 */
const askSystem: Addresses = async (hostname) =>
  (await systemLookup(hostname, { all: true })).map(({ address }) => address);

/**
 * Every address of a name must be one that may be reached, so that nothing depends on which of them
 * is taken.
 */
const guardedLookup = (ask: Addresses, mayReach: MayReach): LookupFunction => {
  const resolve = async (hostname: string): Promise<{ address: string; family: number }[]> => {
    const addresses = await ask(hostname);
    if (addresses.length === 0) throw new RefusedTarget('the name has no address');
    if (!addresses.every(mayReach))
      throw new RefusedTarget('the name leads to an address that is not public');
    return addresses.map((address) => ({ address, family: isIP(address) }));
  };
  const answer = callbackify(resolve);
  return (hostname, options, callback) => {
    answer(hostname, (error, addresses) => {
      if (error) return callback(error, []);
      const [first] = addresses;
      if (options.all || !first) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
};

/** What is wrong with a connection before it is tried. */
const refusalOf = (
  { protocol, hostname }: Pick<buildConnector.Options, 'protocol' | 'hostname'>,
  rules: TargetRules,
): RefusedTarget | null => {
  const host = withoutBrackets(hostname);
  if (protocol !== 'https:' && !rules.privateTargets)
    return new RefusedTarget('only https is allowed');
  // A literal address never passes the lookup.
  return isIP(host) !== 0 && !mayReachWith(rules)(host)
    ? new RefusedTarget('the address is not public')
    : null;
};

/** The rules are those of the moment at which a connection is made. */
const guardedConnector = (
  ask: Addresses,
  privateTargets: () => boolean,
): buildConnector.connector => {
  const mayReach: MayReach = (address) =>
    mayReachWith({ privateTargets: privateTargets() })(address);
  const connect = buildConnector({
    allowH2: false,
    timeout: webhookDeadline_ms,
    lookup: guardedLookup(ask, mayReach),
  });
  return (options, callback) => {
    const refusal = refusalOf(options, { privateTargets: privateTargets() });
    if (refusal) {
      process.nextTick(callback, refusal, null);
      return;
    }
    connect(options, (...result) => {
      const [error, socket] = result;
      if (error === null && !mayReach(socket.remoteAddress ?? '')) {
        socket.destroy();
        callback(new RefusedTarget('the address is not public'), null);
      } else callback(...result);
    });
  };
};

export interface TargetOptions extends TargetSwitch {
  /** `address:port` of name servers to ask instead of the system's. */
  readonly nameServers?: readonly string[];
}

/**
 * The connections to receivers: kept alive, bounded, and only to where webhooks may go. Its owner
 * closes it.
 */
export const openTargets = ({ privateTargets, nameServers }: TargetOptions): Dispatcher => {
  const resolver = new Resolver({ timeout: 3_000, tries: 2 });
  if (nameServers) resolver.setServers(nameServers);
  const askServers = askNameServers(resolver);
  const connect = guardedConnector(
    (hostname) => (privateTargets() ? askSystem(hostname) : askServers(hostname)),
    privateTargets,
  );
  const agent = new Agent({
    connect,
    allowH2: false,
    connections: webhookSocketsPerOrigin_max,
    pipelining: 1,
    keepAliveTimeout: 4_000,
  });
  // A connection that is kept was allowed when it was made: the switch may have been turned since.
  return agent.compose((dispatch) => (options, handler) => {
    const refusal = refusalOf(new URL(String(options.origin)), {
      privateTargets: privateTargets(),
    });
    if (refusal) throw refusal;
    return dispatch(options, handler);
  });
};
