/** Who calls, as the rooms around the gateway see it: a merchant's key, a person, the operator. */
import type { IncomingMessage } from 'node:http';
import type { FindApiKeyHolderQuery } from '../../schema/generated/asked-of-merchants.ts';
import type { Refusal } from '../../subgraphs/rules/refusal.ts';
import type { Principal } from '../../subgraphs/platform/access/principal.ts';

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
