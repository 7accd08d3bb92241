/**
 * Authenticates requests (docs/contract.md#authentication). The first reader that knows the form of
 * a bearer token reads it: the operator's token, a merchant's key, a token of the OIDC issuer.
 * caller.ts makes the further checks of a key.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Bus } from '../../subgraphs/platform/bus/bus.ts';
import { refuse, type Refusal, isRefusal } from '../../subgraphs/rules/refusal.ts';
import { openBuffer, type Logger } from '../../subgraphs/platform/tracing/telemetry.ts';
import {
  scopes,
  type KeyPrincipal,
  type Scope,
} from '../../subgraphs/platform/access/principal.ts';
import { type AddressOf, headerValues } from '../../subgraphs/platform/access/caller-address.ts';
import {
  type ApiKeyHolder,
  type Authenticated,
  type AuthenticateHeader,
  type Authorization,
  type BearerReader,
  type WatchedConnection,
  openKeyHolders,
  type KeyHolders,
  knownKey_ms,
  dataOf,
  edgeCall,
  openCheckAddress,
  openCheckRequest,
  type CheckRequest,
  emptyBody,
} from './caller.ts';
import type { Supergraph } from '../supergraph.ts';
import type { Keys } from '../../subgraphs/platform/access/keys.ts';

/*
 * Long-lived connections outlive the check of their key or token. It is repeated when the
 * merchant's keys change, and periodically; a token is also lost when it expires.
 */

/** The longest delay that a timer takes; a later time is waited for in several steps. */
const timer_max_ms = 2_147_483_647;
const tokenExpired = refuse('unauthorized', 'The token has expired.');
const signatureNowRequired = refuse(
  'signature_required',
  'The shop requires signatures now: connect again.',
);

interface Watched {
  /** The merchant whose key changes concern the connection; null for a token. */
  readonly merchantId: string | null;
  readonly check: () => Promise<void>;
}

/**
 * Watches the key or token of a connection. `lost` is called once when it is no longer valid,
 * `renewed` with the present caller when its rights may have changed. The returned function ends
 * the watch.
 */
type WatchKey = (
  connection: WatchedConnection,
  caller: Authenticated,
  lost: (refusal: Refusal) => void,
  renewed?: (caller: Authenticated) => void,
) => () => void;

/** Opens the watch over the keys and tokens of connections. */
const openKeyWatch = (
  { ofHeader, checkRequest }: Pick<Authenticator, 'ofHeader' | 'checkRequest'>,
  holders: Pick<KeyHolders<ApiKeyHolder>, 'onChange'>,
): { readonly watch: WatchKey; readonly close: () => void } => {
  const connections = new Set<Watched>();
  holders.onChange((changed) => {
    for (const { merchantId, check } of connections) if (merchantId === changed) void check();
  });
  // The bus may lose a message. Equal keys are looked up once.
  const timer = setInterval(() => {
    for (const { check } of connections) void check();
  }, knownKey_ms);
  timer.unref();

  const watch: WatchKey = (connection, caller, lost, renewed = () => {}) => {
    const { principal, holder: before, expiresAt_ms } = caller;
    const { request, authorization } = connection;
    if (principal.kind !== 'key' && expiresAt_ms === undefined) return () => {};
    const lose = (refusal: Refusal): void => {
      if (!connections.delete(watched)) return;
      stopTimer();
      lost(refusal);
    };
    const check = async (): Promise<void> => {
      // While the lookup fails, the connection stays: it is closed only by a definite refusal.
      const answer = await ofHeader(authorization, request).catch(() => null);
      if (answer === null) return;
      if (isRefusal(answer)) return lose(answer);
      const { holder } = answer;
      // A connection from before the requirement may do what now needs a signature.
      const refusal =
        holder &&
        (checkRequest(holder, { ...connection, body: emptyBody }) ??
          (holder.requireSignature && !before?.requireSignature ? signatureNowRequired : null));
      if (refusal) lose(refusal);
      else if (connections.has(watched)) renewed(answer);
    };
    const watched: Watched = {
      merchantId: principal.kind === 'key' ? principal.merchantId : null,
      check,
    };
    connections.add(watched);
    const stopTimer =
      expiresAt_ms === undefined ? () => {} : atTime(expiresAt_ms, () => lose(tokenExpired));
    return () => {
      connections.delete(watched);
      stopTimer();
    };
  };
  return { watch, close: () => clearInterval(timer) };
};

/** Calls back at a time of the wall clock. The returned function cancels the call. */
const atTime = (time_ms: number, reached: () => void): (() => void) => {
  const wait = (): NodeJS.Timeout => {
    const left_ms = time_ms - Date.now();
    const next = (): void => {
      if (Date.now() >= time_ms) reached();
      else timer = wait();
    };
    return setTimeout(next, Math.min(Math.max(left_ms, 0) + 1, timer_max_ms)).unref();
  };
  let timer = wait();
  return () => clearTimeout(timer);
};

/*
 * Records when keys were last used: reported to the merchants subgraph about once a second, and at
 * most once a minute for each key.
 */

export const keyUseInterval_ms = 60_000;
/** Keys of one report. */
const reportedKeys_max = 1_000;
/** How long a closing process waits for its last report. */
const keyUseClose_ms = 1_000;
const rememberedKeys_max = 10_000;

export interface UsedKey {
  readonly merchantId: string;
  readonly keyId: string;
}

interface KeyUseDeps {
  readonly report: (used: readonly UsedKey[]) => Promise<void>;
  readonly log: Pick<Logger, 'warn'>;
  /** A monotonic clock in milliseconds. */
  readonly now_ms: () => number;
}

/** Opens the recorder. After a failed report, a key is reported with its next use. */
export const openKeyUse = ({ report, log, now_ms }: KeyUseDeps) => {
  const reportedAt_ms = new LRUCache<string, number>({ max: rememberedKeys_max });
  const uses = openBuffer<UsedKey>({
    batch_max: reportedKeys_max,
    write: (used) =>
      report(used).catch((error: unknown) => {
        for (const { keyId } of used) reportedAt_ms.delete(keyId);
        throw error;
      }),
    drop: (keys, error) =>
      log.warn({ err: error, keys }, 'could not store when keys were last used'),
  });
  return {
    /** Records a request that was admitted with this key. Costs the request next to nothing. */
    record: ({ merchantId, keyId }: UsedKey): void => {
      const last_ms = reportedAt_ms.get(keyId);
      if (last_ms !== undefined && now_ms() - last_ms < keyUseInterval_ms) return;
      reportedAt_ms.set(keyId, now_ms());
      uses.add({ merchantId, keyId });
    },
    /** Reports what is still pending. Never rejects. */
    close: (): Promise<void> =>
      Promise.race([uses.close(), delay(keyUseClose_ms, undefined, { ref: false })]),
  };
};

export interface Authenticator {
  /**
   * Finds the caller behind the header `Authorization`. Refuses with `unauthorized`, with one
   * message for every reason; a key from an address that its shop does not allow with
   * `ip_not_allowed`; a good token without a role with `scope_required`. Rejects when the merchants
   * subgraph or the issuer is unavailable. A key must also pass `checkRequest` once the body has
   * arrived.
   */
  readonly ofHeader: AuthenticateHeader;
  /** Refuses a key's request whose signature is wrong, or a live one without live mode. */
  readonly checkRequest: CheckRequest;
  /**
   * Watches the key or token behind a long-lived connection. `lost` is called at once when the key
   * is revoked, when its shop's protection changes against the connection, or when the token
   * expires; within a minute when the message of that change was lost. Bearers that never end are
   * not watched.
   */
  readonly watch: WatchKey;
  /**
   * Whether the request's credentials have been good in this process: the operator's token, a key
   * that it has cached, a token that it has verified and that is in time, a session that is live.
   * Makes no call.
   */
  readonly isKnown: (authorization: Authorization, request: IncomingMessage) => boolean;
  readonly close: () => Promise<void>;
}

interface AuthenticatorDeps {
  readonly supergraph: Pick<Supergraph, 'operation'>;
  readonly bus: Bus;
  /** Unseals the shops' signing secrets. */
  readonly vaultKey: Keys;
  readonly addressOf: AddressOf;
  readonly log: Logger;
  /** The bootstrap operator's token; null when there is none. */
  readonly operatorToken: string | null;
  /** Readers of other bearers: those of an OIDC issuer. */
  readonly otherReaders?: readonly BearerReader[];
  /** A monotonic clock in milliseconds. */
  readonly now_ms?: () => number;
}

/** Tokens of the issuer that were good lately, by their digests. */
const verifiedTokens_max = 10_000;

/** A bearer reader that also gets the bearer's digest. */
type DigestReader = (bearer: string, digest: string) => ReturnType<BearerReader>;

/** One message for every reason, so that nothing can be probed. */
const unauthorized = refuse('unauthorized', 'The API key is missing or not valid.');

/**
 * The values of the header `Authorization`, one for each time that it was sent. Node's `headers`
 * keeps only the first.
 */
export const authorizationOf = (request: Pick<IncomingMessage, 'rawHeaders'>): readonly string[] =>
  headerValues(request, 'authorization');

/** Reads a bearer by the first reader of its form, and keeps when a token expires that was good. */
const openBearers =
  (readers: readonly DigestReader[], verified: LRUCache<string, number>) =>
  async (bearer: string): Promise<Authenticated | Refusal | null> => {
    const digest = digestOf(bearer);
    for (const read of readers) {
      const reading = read(bearer, digest);
      if (!reading) continue;
      const answer = await reading;
      if ('expiresAt_ms' in answer && answer.expiresAt_ms !== undefined)
        verified.set(digest, answer.expiresAt_ms);
      return answer;
    }
    return null;
  };

export const openAuthenticator = (deps: AuthenticatorDeps): Authenticator => {
  const {
    supergraph,
    bus,
    operatorToken,
    otherReaders = [],
    log,
    now_ms = () => performance.now(),
  } = deps;
  const holders = openKeyHolders({ find: findHolder(supergraph), bus, now_ms });
  const keyUse = openKeyUse({ report: reportKeyUse(supergraph), log, now_ms });
  const checkAddress = openCheckAddress(deps.addressOf);
  const checkRequest = openCheckRequest(deps.vaultKey);
  const readOperator = readOperatorToken(operatorToken);
  const readers: readonly DigestReader[] = [
    readOperator,
    readMerchantKey(holders),
    ...otherReaders,
  ];

  const verified = new LRUCache<string, number>({ max: verifiedTokens_max });
  const ofBearer = openBearers(readers, verified);
  const ofHeader: Authenticator['ofHeader'] = async (authorization, request) => {
    const bearer = bearerOf(authorization);
    const caller = bearer === null ? null : await ofBearer(bearer);
    if (caller === null) return unauthorized;
    if (!('holder' in caller) || !caller.holder) return caller;
    const addressRefusal = checkAddress(caller.holder, request);
    if (addressRefusal) return addressRefusal;
    keyUse.record(caller.holder);
    return caller;
  };

  const keyWatch = openKeyWatch({ ofHeader, checkRequest }, holders);
  return {
    ofHeader,
    checkRequest,
    watch: keyWatch.watch,
    isKnown: (authorization) => {
      const bearer = bearerOf(authorization);
      if (bearer === null) return false;
      const digest = digestOf(bearer);
      const isVerified = (verified.get(digest) ?? 0) > Date.now();
      return isVerified || readOperator(bearer, digest) !== null || holders.isKnown(digest);
    },
    close: async () => {
      keyWatch.close();
      holders.close();
      await keyUse.close();
    },
  };
};

/** The bearer of the header. Null when there is none, more than one, or another scheme. */
const bearerOf = (authorization: Authorization): string | null => {
  const values = typeof authorization === 'string' ? [authorization] : (authorization ?? []);
  const [value] = values;
  if (value === undefined || values.length > 1) return null;
  return /^bearer +([\x21-\x7e]{1,8000}) *$/i.exec(value)?.[1] ?? null;
};

const digestOf = (text: string): string => hash('sha256', text);

const readOperatorToken = (operatorToken: string | null): DigestReader => {
  if (operatorToken === null) return () => null;
  const expected = Buffer.from(digestOf(operatorToken));
  const operator: Authenticated = {
    principal: { kind: 'operator', subject: 'operator-token', role: 'admin', merchantId: null },
  };
  return (_bearer, digest) =>
    timingSafeEqual(Buffer.from(digest), expected) ? Promise.resolve(operator) : null;
};

const keyForm = /^sk_(test|live)_[A-Za-z0-9]{6}_[A-Za-z0-9_-]{1,256}$/;

const readMerchantKey =
  (holders: KeyHolders<KnownHolder>): DigestReader =>
  (bearer, digest) =>
    keyForm.test(bearer) ? admitHolder(holders, digest) : null;

const admitHolder = async (
  holders: KeyHolders<KnownHolder>,
  digest: string,
): Promise<Authenticated | Refusal> => {
  const holder = await holders.find(digest);
  return holder ? { principal: holder.principal, holder } : unauthorized;
};

/** A cached holder, with the principal that its requests have. */
interface KnownHolder extends ApiKeyHolder {
  readonly principal: KeyPrincipal;
}

const principalOf = (holder: ApiKeyHolder): KeyPrincipal => {
  const { keyId, merchantId, shopId, mode } = holder;
  const granted = holder.scopes.filter((scope): scope is Scope =>
    scopes.some((known) => known === scope),
  );
  const principal = { kind: 'key', keyId, merchantId, shopId, mode, scopes: granted } as const;
  // Most shops have no cash register: their principals say nothing of it.
  return holder.receiptsRequired ? { ...principal, receiptsRequired: true } : principal;
};

const reportKeyUse = (
  supergraph: Pick<Supergraph, 'operation'>,
): ((used: readonly UsedKey[]) => Promise<void>) => {
  const operation = supergraph.operation('NoteApiKeyUse');
  return async (used) => void dataOf(await operation.run({ used: [...used] }, edgeCall('gateway')));
};

const findHolder = (
  supergraph: Pick<Supergraph, 'operation'>,
): ((digest: string) => Promise<KnownHolder | null>) => {
  const operation = supergraph.operation('FindApiKeyHolder');
  return async (digest) => {
    const { apiKeyHolder: holder } = dataOf(await operation.run({ digest }, edgeCall('gateway')));
    return holder && { ...holder, principal: principalOf(holder) };
  };
};
