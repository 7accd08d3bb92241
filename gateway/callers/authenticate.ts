/**
 * Who sent a request. Contract "Authentication" 1 to 6; decisions D-01, D-09 and D-40a. What a key
 * must come with beside itself is check-caller.ts. A bearer is read by the first reader that knows
 * its form: the operator's token, a merchant's key, a token of the OIDC issuer.
 */
import { hash, randomUUID, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Bus } from '../../subgraphs/kernel/rules/event.ts';
import { refused, type Refused } from '../../subgraphs/kernel/rules/refusal.ts';
import type { Logger } from '../../subgraphs/kernel/service/tracing/telemetry.ts';
import {
  scopes,
  type Call,
  type Principal,
  type Scope,
} from '../../subgraphs/kernel/service/access/principal.ts';
import type { FindApiKeyHolderQuery } from '../../schema/generated/asked-of-merchants.ts';
import type { AddressOf } from './caller-address.ts';
import { onceFor, openCheckAddress, openCheckRequest, type CheckRequest } from './check-caller.ts';
import { headerValues } from './header-values.ts';
import { openKeyHolders, type KeyHolders } from './key-holders.ts';
import { openKeyUse, type UsedKey } from './key-use.ts';
import { openKeyWatch } from './key-watch.ts';
import type { Supergraph } from '../supergraph.ts';
import type { Keys } from '../../subgraphs/kernel/service/access/keys.ts';

/** Who a key speaks for, as the merchants subgraph says. */
export type ApiKeyHolder = Readonly<NonNullable<FindApiKeyHolderQuery['apiKeyHolder']>>;

export interface Authenticated {
  readonly principal: Principal;
  /** Present for a merchant's key. */
  readonly holder?: ApiKeyHolder;
  /** Present for a person: whose rate it is. */
  readonly person?: string;
  /**
   * When the bearer is no longer good, in milliseconds since 1970; absent when it does not end by
   * itself.
   */
  readonly expiresAt_ms?: number;
}

export interface Authenticator {
  /**
   * Who the header `Authorization` speaks for. Refuses with `unauthorized`, in the same words for
   * whatever is wrong with it, a key from an address that its shop does not allow with
   * `ip_not_allowed`, or a good token without a role with `scope_required`. Rejects when the
   * merchants subgraph or the issuer cannot be asked. A key has then to stand `checkRequest`, once
   * the body is there.
   */
  ofHeader(
    authorization: string | readonly string[] | undefined,
    request: IncomingMessage,
  ): Promise<Authenticated | Refused>;
  /**
   * What of a key's request is wrong: its signature, or that it is a live one without live mode.
   */
  readonly checkRequest: CheckRequest;
  /**
   * Watches the key or token behind a long-lived connection: `lost` is called once when the header
   * is no longer good, at once after the key was revoked, its shop's protection changed against the
   * connection, or the token has expired or, when the message of that was lost, within a minute.
   * Returns the way out. Bearers that never end are not watched.
   */
  watch(
    connection: WatchedConnection,
    caller: Authenticated,
    lost: (refusal: Refused) => void,
  ): () => void;
  /**
   * Whether the header holds the operator's token or a key that is known here: nobody need be
   * asked.
   */
  holds(authorization: string | readonly string[] | undefined): boolean;
  close(): Promise<void>;
}

/** A long-lived connection, by what it showed of itself when it began. */
export interface WatchedConnection {
  readonly request: IncomingMessage;
  readonly authorization: string | readonly string[] | undefined;
  readonly signatures: readonly string[];
  /**
   * When it began, in milliseconds since 1970: its signature is judged by that moment however long
   * it lasts.
   */
  readonly arrivedAt_ms: number;
}

export interface AuthenticatorParts {
  readonly supergraph: Pick<Supergraph, 'operation'>;
  readonly bus: Bus;
  /** Opens the shops' sealed signing secrets. */
  readonly vaultKey: Keys;
  readonly addressOf: AddressOf;
  readonly log: Logger;
  /** The bootstrap operator's token; null: there is none. */
  readonly operatorToken: string | null;
  /** Reads other bearers than operator token and keys: those of an OIDC issuer. */
  readonly otherReaders?: readonly BearerReader[];
  /** Milliseconds on a clock that only goes forward. */
  readonly now_ms?: () => number;
}

/**
 * Reads a bearer of its own form; null when the form is another's. Rejects when whoever must be
 * asked does not answer.
 */
export type BearerReader = (bearer: string) => Promise<Authenticated | Refused> | null;
/** The same of a bearer whose digest is known. */
type DigestReader = (bearer: string, digest: string) => ReturnType<BearerReader>;

/** One message for all (decision D-01), so that nothing can be probed. */
const unauthorized = refused('unauthorized', 'The API key is missing or not valid.');

/**
 * The values of the header `Authorization`, one for each time that it was sent: Node's `headers`
 * would hide all but the first.
 */
export const authorizationOf = (request: Pick<IncomingMessage, 'rawHeaders'>): readonly string[] =>
  headerValues(request, 'authorization');

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
  const holders = openKeyHolders({ ask: askMerchants(supergraph), bus, now_ms });
  const keyUse = openKeyUse({ tell: tellMerchants(supergraph), log, now_ms });
  const checkAddress = openCheckAddress(parts.addressOf);
  const checkRequest = openCheckRequest(parts.vaultKey);
  const readOperator = readOperatorToken(operatorToken);
  const readers: readonly DigestReader[] = [
    readOperator,
    readMerchantKey(holders),
    ...otherReaders,
  ];

  const ofBearer = (bearer: string): ReturnType<BearerReader> => {
    const digest = digestOf(bearer);
    for (const read of readers) {
      const answer = read(bearer, digest);
      if (answer) return answer;
    }
    return null;
  };
  const ofHeader: Authenticator['ofHeader'] = async (authorization, request) => {
    const bearer = bearerOf(authorization);
    const caller = bearer === null ? null : await ofBearer(bearer);
    if (caller === null) return unauthorized;
    if (!('holder' in caller) || !caller.holder) return caller;
    const elsewhere = checkAddress(caller.holder, request);
    if (elsewhere) return elsewhere;
    keyUse.note(caller.holder);
    return caller;
  };

  const watched = openKeyWatch({ ofHeader, checkRequest }, holders);
  return {
    ofHeader,
    checkRequest,
    watch: watched.watch,
    holds: (authorization) => {
      const bearer = bearerOf(authorization);
      if (bearer === null) return false;
      const digest = digestOf(bearer);
      return readOperator(bearer, digest) !== null || holders.holds(digest);
    },
    close: async () => {
      watched.close();
      holders.close();
      await keyUse.close();
    },
  };
};

/**
 * The one bearer of the header; null when there is none, more than one (decision D-40a), or another
 * scheme.
 */
const bearerOf = (authorization: string | readonly string[] | undefined): string | null => {
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

/** Made once for a holder, which is remembered and has many requests. */
const authenticatedAs = onceFor<Authenticated>((holder) => {
  const { keyId, merchantId, shopId, mode } = holder;
  const granted = holder.scopes.filter((scope): scope is Scope =>
    scopes.some((known) => known === scope),
  );
  return { principal: { kind: 'key', keyId, merchantId, shopId, mode, scopes: granted }, holder };
});

const asGateway = (): Call => ({
  principal: { kind: 'edge', name: 'gateway' },
  requestId: randomUUID(),
});

const tellMerchants = (
  supergraph: Pick<Supergraph, 'operation'>,
): ((used: readonly UsedKey[]) => Promise<void>) => {
  const operation = supergraph.operation('NoteApiKeyUse');
  return async (used) => {
    const { errors } = await operation.run({ used: [...used] }, asGateway());
    const [error] = errors ?? [];
    if (error) throw error;
  };
};

const askMerchants = (
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
