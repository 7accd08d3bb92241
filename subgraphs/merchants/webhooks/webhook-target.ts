/**
 * Connections to receivers. Never to loopback, private, link-local, multicast or metadata
 * addresses, checked on the address that is actually connected to. Redirects are not followed, so
 * each connection is the only hop. The development switch allows http, and loopback.
 */
import { lookup as systemLookup, Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import type { Bus } from '../../platform/bus/bus.ts';
import type { Config } from '../../platform/config/config.ts';
import type { Database } from '../../platform/database/orm.ts';
import {
  mayReachWith,
  withoutBrackets,
  type MayReach,
  type TargetRules,
  type TargetSwitch,
} from '../../platform/http/webhook-url.ts';
import { MerchantEntity } from '../../platform/database/entities.ts';
import type { enums } from '../../../schema/generated/enums.ts';
import { errorCode } from '../../platform/tracing/error-code.ts';
import { webhookDeadline_ms, webhookSocketsPerOrigin_max } from './rules.ts';

// Why a webhook was not answered, or not sent: a closed list for people's languages, beside the error
// in words.

export type WebhookFault = (typeof enums.WebhookFault)[number];

/** The target may not be connected to. */
class RefusedTarget extends Error {
  readonly fault: WebhookFault;

  constructor(message: string, fault: 'target_forbidden' | 'name_unknown') {
    super(message);
    this.name = 'RefusedTarget';
    this.fault = fault;
  }
}

const faults: Readonly<Record<string, WebhookFault>> = {
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_lost',
  EPIPE: 'connection_lost',
  UND_ERR_SOCKET: 'connection_lost',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  ENOTFOUND: 'name_unknown',
  EAI_AGAIN: 'name_unknown',
  EPROTO: 'tls',
};

/** Codes of OpenSSL and Node about certificates and handshakes. */
const tlsCode = /^(?:ERR_(?:TLS|SSL)_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

/** What kind of error a request ended with. */
export const faultOf = (error: unknown): WebhookFault => {
  if (error instanceof RefusedTarget) return error.fault;
  if (error instanceof Error && error.name === 'TimeoutError') return 'timeout';
  const code = errorCode(error);
  return faults[code] ?? (tlsCode.test(code) ? 'tls' : 'other');
};

type Addresses = (hostname: string) => Promise<readonly string[]>;

/**
 * Resolves names without libuv's thread pool, where an unresponsive name server would block all
 * lookups.
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

/** The final dot of an absolute name: neither certificates nor a hosts file have it. */
const withoutDot = (hostname: string): string => hostname.replace(/\.$/, '');

/** Names that only a developer's machine knows: `localhost`, and those of its hosts file. */
const askSystem: Addresses = async (hostname) =>
  (await systemLookup(withoutDot(hostname), { all: true })).map(({ address }) => address);

/** Every address of a name must be allowed, so the choice among them does not matter. */
const guardedLookup = (ask: Addresses, mayReach: MayReach): LookupFunction => {
  const resolve = async (hostname: string): Promise<{ address: string; family: number }[]> => {
    const addresses = await ask(hostname);
    if (addresses.length === 0) throw new RefusedTarget('the name has no address', 'name_unknown');
    if (!addresses.every(mayReach))
      throw new RefusedTarget(
        'the name resolves to an address that is not public',
        'target_forbidden',
      );
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
    return new RefusedTarget('only https is allowed', 'target_forbidden');
  // A literal address never passes the lookup.
  return isIP(host) !== 0 && !mayReachWith(rules)(host)
    ? new RefusedTarget('the address is not public', 'target_forbidden')
    : null;
};

/** The rules apply at the moment of connecting. */
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
    const isName = isIP(withoutBrackets(options.hostname)) === 0;
    const named = isName ? { ...options, servername: withoutDot(options.hostname) } : options;
    connect(named, (...result) => {
      const [error, socket] = result;
      if (error === null && !mayReach(socket.remoteAddress ?? '')) {
        socket.destroy();
        callback(new RefusedTarget('the address is not public', 'target_forbidden'), null);
      } else callback(...result);
    });
  };
};

interface TargetOptions extends TargetSwitch {
  /** `address:port` of name servers to ask instead of the system's. */
  readonly nameServers?: readonly string[];
}

/**
 * The connections to receivers: kept alive, bounded, and only to allowed addresses. The owner
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
  // A kept connection was allowed when it was made; the switch may have changed since.
  return agent.compose((dispatch) => (options, handler) => {
    const refusal = refusalOf(new URL(String(options.origin)), {
      privateTargets: privateTargets(),
    });
    if (refusal) throw refusal;
    return dispatch(options, handler);
  });
};

// Whether webhooks may go to http and to loopback: as configured, or by default on a developer's
// machine, where the public address is http on loopback and no merchant has live mode. A reachable
// installation must not call its own machine on a merchant's behalf.

/** A change is announced on the bus, which may lose it. */
const lookAgain_ms = 5_000;

/** Whether an address is http on loopback. */
export const isLocalAddress = (url: string): boolean => {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
};

interface DevelopmentTargetsDeps {
  readonly setting: Config['webhookPrivateTargets'];
  readonly publicUrl: string;
  readonly database: Pick<Database, 'fork'>;
  readonly bus: Pick<Bus, 'subscribe'>;
}

/**
 * Starts the checks, which `close` stops. Until it is known whether a merchant is live, nothing is
 * allowed.
 */
export const openDevelopmentTargets = async ({
  setting,
  publicUrl,
  database,
  bus,
}: DevelopmentTargetsDeps) => {
  if (setting !== 'development' || !isLocalAddress(publicUrl))
    return { areAllowed: () => setting === 'allow', close: () => {} };
  let allowed = false;
  let looks = 0;
  const look = async (): Promise<void> => {
    looks += 1;
    const mine = looks;
    const live = await database
      .fork()
      .findOne(MerchantEntity, { liveEnabled: true }, { fields: ['id'] })
      .catch(() => undefined);
    // The result of an older check is stale.
    if (mine === looks) allowed = live === null;
  };
  await look();
  // Switching live mode publishes that keys have changed.
  const unsubscribe = bus.subscribe('keys', () => void look());
  const again = setInterval(() => void look(), lookAgain_ms).unref();
  return {
    areAllowed: () => allowed,
    close: () => {
      unsubscribe();
      clearInterval(again);
    },
  };
};
