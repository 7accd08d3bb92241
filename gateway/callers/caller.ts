/**
 * Who calls, as the rooms around the gateway see it (a merchant's key, a person, the operator); and
 * a cache of the holders of API keys. A change of keys empties it at once in every process, through
 * the bus topic `keys`.
 */
import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { FindApiKeyHolderQuery } from '../../schema/generated/asked-of-merchants.ts';
import type { Principal, Call } from '../../subgraphs/platform/access/principal.ts';
import type { Bus } from '../../subgraphs/platform/bus/bus.ts';
import type { Refusal } from '../../subgraphs/rules/refusal.ts';
import { randomUUID } from 'node:crypto';

export const knownKey_ms = 30_000;
const knownKeys_max = 10_000;
export const unknownKey_ms = 1_000;
/** Separate from the known keys, so that guessing does not evict them. */
const unknownKeys_max = 1_000;

/** Whom a key belongs to, as the merchants subgraph has it. */
export type ApiKeyHolder = Readonly<NonNullable<FindApiKeyHolderQuery['apiKeyHolder']>>;

/** A caller whose bearer was accepted. */
export interface Authenticated {
  readonly principal: Principal;
  /** Present for a merchant's key. */
  readonly holder?: ApiKeyHolder;
  /** Present for a person: the name that the rate limit counts under. */
  readonly person?: string;
  /** Present for a person at the console, by cookie: the id of the session. */
  readonly session?: string;
  /** When the bearer expires, in milliseconds since 1970; absent when it never does. */
  readonly expiresAt_ms?: number;
}

/** The header `Authorization`: one value, one for each time that it was sent, or none. */
export type Authorization = string | readonly string[] | undefined;

/** Finds out whom a header speaks for: see `Authenticator.ofHeader`. */
export type AuthenticateHeader = (
  authorization: Authorization,
  request: IncomingMessage,
) => Promise<Authenticated | Refusal>;

/**
 * Reads a bearer of one form; null when the bearer has another form. Rejects when a service that
 * the answer depends on is unavailable.
 */
export type BearerReader = (bearer: string) => Promise<Authenticated | Refusal> | null;

/** A long-lived connection, with the credentials of its first request. */
export interface WatchedConnection {
  readonly request: IncomingMessage;
  readonly authorization: Authorization;
  readonly signatures: readonly string[];
  /**
   * When it began, in milliseconds since 1970. Its signature is judged by that time, however long
   * the connection lasts.
   */
  readonly arrivedAt_ms: number;
}

interface KeyHoldersDeps {
  /**
   * Looks up the key with this digest in the merchants subgraph; null when it is unknown or
   * revoked.
   */
  readonly find: (digest: string) => Promise<ApiKeyHolder | null>;
  readonly bus: Bus;
  /** A monotonic clock in milliseconds. */
  readonly now_ms?: () => number;
}

/** Opens the cache. Concurrent lookups of one key are a single lookup. */
export const openKeyHolders = ({ find, bus, now_ms = () => performance.now() }: KeyHoldersDeps) => {
  const known = new LRUCache<string, { readonly holder: ApiKeyHolder; readonly until_ms: number }>({
    max: knownKeys_max,
  });
  const unknown = new LRUCache<string, number>({ max: unknownKeys_max });
  const pending = new Map<string, Promise<ApiKeyHolder | null>>();
  /** Of each lookup in flight, the merchants that have changed since it began. */
  const changedSince = new Set<Set<string>>();
  const listeners = new Set<(merchantId: string) => void>();

  const unsubscribe = bus.subscribe('keys', ({ merchantId }) => {
    const changedKeys = [...known.keys()].filter(
      (digest) => known.peek(digest)?.holder.merchantId === merchantId,
    );
    for (const digest of changedKeys) known.delete(digest);
    unknown.clear();
    // A lookup in flight may have been answered before the change: its result is not cached if it is
    // of this merchant, and no new caller joins it.
    for (const changed of changedSince) changed.add(merchantId);
    pending.clear();
    for (const changed of listeners) changed(merchantId);
  });

  const keep = (digest: string, holder: ApiKeyHolder | null): void => {
    const left_ms = Math.min(knownKey_ms, holder?.expiresInMs ?? knownKey_ms);
    if (holder) known.set(digest, { holder, until_ms: now_ms() + left_ms });
    else {
      known.delete(digest);
      unknown.set(digest, now_ms() + unknownKey_ms);
    }
  };

  const findOnce = (digest: string): Promise<ApiKeyHolder | null> => {
    const changed = new Set<string>();
    changedSince.add(changed);
    const answer = find(digest).then((holder) => {
      if (holder ? !changed.has(holder.merchantId) : changed.size === 0) keep(digest, holder);
      return holder;
    });
    pending.set(digest, answer);
    const forget = (): void => {
      changedSince.delete(changed);
      if (pending.get(digest) === answer) pending.delete(digest);
    };
    answer.then(forget, forget);
    return answer;
  };

  return {
    /**
     * The holder of the key with this SHA-256 (hex); null when there is none. Rejects when the
     * lookup fails.
     */
    find: async (digest: string): Promise<ApiKeyHolder | null> => {
      const cached = known.get(digest);
      if (cached && cached.until_ms > now_ms()) return cached.holder;
      if ((unknown.get(digest) ?? 0) > now_ms()) return null;
      return pending.get(digest) ?? findOnce(digest);
    },
    /** Whether this key was valid at its last lookup, and has not been revoked since. */
    isKnown: (digest: string): boolean => known.get(digest) !== undefined,
    /** Calls `changed` with a merchant whose keys may have changed; gives the end of that. */
    onChange: (changed: (merchantId: string) => void): (() => void) => {
      listeners.add(changed);
      return () => void listeners.delete(changed);
    },
    close: unsubscribe,
  };
};
export type KeyHolders = ReturnType<typeof openKeyHolders>;

/* What the edge asks the subgraphs on its own behalf. */

export const edgeCall = (name: string, requestId: string = randomUUID()): Call => ({
  principal: { kind: 'edge', name },
  requestId,
  isInLane: false,
});

interface Answer<Data> {
  readonly data?: Data | null;
  readonly errors?: readonly Error[];
}

/** The data of an answer without errors; throws the first error otherwise. */
export const dataOf = <Data>({ data, errors }: Answer<Data>): Data => {
  const [error] = errors ?? [];
  if (error) throw error;
  if (!data) throw new Error('an answer without data');
  return data;
};
