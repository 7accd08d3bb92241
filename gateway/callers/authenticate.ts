/**
 * Authenticates requests (docs/contract.md#authentication). The first reader that knows the form of
 * a bearer token reads it: the operator's token, a merchant's key, a token of the OIDC issuer.
 * check-caller.ts makes the further checks of a key.
 */
import { hash, randomUUID, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { Bus } from '../../subgraphs/kernel/service/bus.ts';
import { refused, type Refused } from '../../subgraphs/kernel/rules/refusal.ts';
import type { Logger } from '../../subgraphs/kernel/service/tracing/telemetry.ts';
import { scopes, type Call, type Scope } from '../../subgraphs/kernel/service/access/principal.ts';
import type { AddressOf } from './caller-address.ts';
import type {
  ApiKeyHolder,
  Authenticated,
  AuthenticateHeader,
  Authorization,
  BearerReader,
} from './caller.ts';
import { openCheckAddress, openCheckRequest, type CheckRequest } from './check-caller.ts';
import { headerValues } from './header-values.ts';
import { rememberByHolder } from './remember-by-holder.ts';
import { openKeyHolders, type KeyHolders } from './key-holders.ts';
import { openKeyUse, type UsedKey } from './key-use.ts';
import { openKeyWatch, type WatchKey } from './key-watch.ts';
import type { Supergraph } from '../supergraph.ts';
import type { Keys } from '../../subgraphs/kernel/service/access/keys.ts';

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

export interface AuthenticatorParts {
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
const unauthorized = refused('unauthorized', 'The API key is missing or not valid.');

/**
 * The values of the header `Authorization`, one for each time that it was sent. Node's `headers`
 * keeps only the first.
 */
export const authorizationOf = (request: Pick<IncomingMessage, 'rawHeaders'>): readonly string[] =>
  headerValues(request, 'authorization');

/** Reads a bearer by the first reader of its form, and keeps when a token expires that was good. */
const openBearers =
  (readers: readonly DigestReader[], verified: LRUCache<string, number>) =>
  async (bearer: string): Promise<Authenticated | Refused | null> => {
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

/** Opens the authenticator. */
export const openAuthenticator = (parts: AuthenticatorParts): Authenticator => {
  const {
    supergraph,
    bus,
    operatorToken,
    otherReaders = [],
    log,
    now_ms = () => performance.now(),
  } = parts;
  const holders = openKeyHolders({ find: findHolder(supergraph), bus, now_ms });
  const keyUse = openKeyUse({ report: reportKeyUse(supergraph), log, now_ms });
  const checkAddress = openCheckAddress(parts.addressOf);
  const checkRequest = openCheckRequest(parts.vaultKey);
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

/** SHA-256 in hex. */
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
  (holders: KeyHolders): DigestReader =>
  (bearer, digest) =>
    keyForm.test(bearer) ? admitHolder(holders, digest) : null;

const admitHolder = async (
  holders: KeyHolders,
  digest: string,
): Promise<Authenticated | Refused> => {
  const holder = await holders.find(digest);
  return holder ? authenticatedAs(holder) : unauthorized;
};

/** Made once for each cached holder, which serves many requests. */
const authenticatedAs = rememberByHolder<Authenticated>((holder) => {
  const { keyId, merchantId, shopId, mode } = holder;
  const granted = holder.scopes.filter((scope): scope is Scope =>
    scopes.some((known) => known === scope),
  );
  const principal = { kind: 'key', keyId, merchantId, shopId, mode, scopes: granted } as const;
  // Most shops have no cash register: their principals say nothing of it.
  return {
    principal: holder.receiptsRequired ? { ...principal, receiptsRequired: true } : principal,
    holder,
  };
});

const asGateway = (): Call => ({
  principal: { kind: 'edge', name: 'gateway' },
  requestId: randomUUID(),
  isInLane: false,
});

const reportKeyUse = (
  supergraph: Pick<Supergraph, 'operation'>,
): ((used: readonly UsedKey[]) => Promise<void>) => {
  const operation = supergraph.operation('NoteApiKeyUse');
  return async (used) => {
    const { errors } = await operation.run({ used: [...used] }, asGateway());
    const [error] = errors ?? [];
    if (error) throw error;
  };
};

const findHolder = (
  supergraph: Pick<Supergraph, 'operation'>,
): ((digest: string) => Promise<ApiKeyHolder | null>) => {
  const operation = supergraph.operation('FindApiKeyHolder');
  return async (digest) => {
    const { data, errors } = await operation.run({ digest }, asGateway());
    const [error] = errors ?? [];
    if (error) throw error;
    return data?.apiKeyHolder ?? null;
  };
};
