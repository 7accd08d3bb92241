/**
 * Long-lived connections outlive the check of their key or token. It is repeated when the
 * merchant's keys change, and periodically; a token is also lost when it expires.
 */
import { isRefused, refused, type Refused } from '../../subgraphs/kernel/rules/refusal.ts';
import type { Authenticated, AuthenticateHeader, WatchedConnection } from './caller.ts';
import { emptyBody, type CheckRequest } from './check-caller.ts';
import { knownKey_ms, type KeyHolders } from './key-holders.ts';

/** The longest delay that a timer takes; a later time is waited for in several steps. */
const timer_max_ms = 2_147_483_647;
const tokenExpired = refused('unauthorized', 'The token has expired.');
const signatureNowRequired = refused(
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
export type WatchKey = (
  connection: WatchedConnection,
  caller: Authenticated,
  lost: (refusal: Refused) => void,
  renewed?: (caller: Authenticated) => void,
) => () => void;

export interface KeyWatchParts {
  readonly ofHeader: AuthenticateHeader;
  readonly checkRequest: CheckRequest;
}

/** Opens the watch over the keys and tokens of connections. */
export const openKeyWatch = (
  { ofHeader, checkRequest }: KeyWatchParts,
  holders: KeyHolders,
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
    const lose = (refusal: Refused): void => {
      if (!connections.delete(watched)) return;
      stopTimer();
      lost(refusal);
    };
    const check = async (): Promise<void> => {
      // While the lookup fails, the connection stays: it is closed only by a definite refusal.
      const answer = await ofHeader(authorization, request).catch(() => null);
      if (answer === null) return;
      if (isRefused(answer)) return lose(answer);
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
