/**
 * Long-lived connections outlive the check of their key or token: it is checked again when its
 * merchant's keys changed, and now and then, and a token is lost when it expires.
 */
import { isRefused, refused, type Refused } from '../../subgraphs/kernel/rules/refusal.ts';
import type { Authenticator } from './authenticate.ts';
import { emptyBody } from './check-caller.ts';
import { heldKey_ms, type KeyHolders } from './key-holders.ts';

/** The longest that a timer can wait; a later end is waited for in turns. */
const timer_max_ms = 2_147_483_647;
const expired = refused('unauthorized', 'The token has expired.');
const nowSigned = refused('signature_required', 'The shop requires signatures now: connect again.');

interface Watched {
  /** Whose keys to listen for; null for a token. */
  readonly merchantId: string | null;
  readonly check: () => Promise<void>;
}

/** Opens the watch over the keys of connections. */
export const openKeyWatch = (
  { ofHeader, checkRequest }: Pick<Authenticator, 'ofHeader' | 'checkRequest'>,
  holders: KeyHolders,
): { readonly watch: Authenticator['watch']; readonly close: () => void } => {
  const connections = new Set<Watched>();
  holders.onChange((changed) => {
    for (const { merchantId, check } of connections) if (merchantId === changed) void check();
  });
  // The bus may lose a message; equal keys are asked about once.
  const again = setInterval(() => {
    for (const { check } of connections) void check();
  }, heldKey_ms);
  again.unref();

  const watch: Authenticator['watch'] = (
    connection,
    { principal, holder: before, expiresAt_ms },
    lost,
  ) => {
    const { request, authorization } = connection;
    if (principal.kind !== 'key' && expiresAt_ms === undefined) return () => {};
    const lose = (refusal: Refused): void => {
      if (!connections.delete(watched)) return;
      stopTimer();
      lost(refusal);
    };
    const check = async (): Promise<void> => {
      // When nobody can be asked, the connection stays until somebody can say that it must not.
      const answer = await ofHeader(authorization, request).catch(() => null);
      if (answer === null) return;
      if (isRefused(answer)) return lose(answer);
      const { holder } = answer;
      // What was let in without the demand for signatures may do what is not allowed with it.
      const refusal =
        holder &&
        (checkRequest(holder, { ...connection, body: emptyBody }) ??
          (holder.requireSignature && !before?.requireSignature ? nowSigned : null));
      if (refusal) lose(refusal);
    };
    const watched: Watched = {
      merchantId: principal.kind === 'key' ? principal.merchantId : null,
      check,
    };
    connections.add(watched);
    const stopTimer =
      expiresAt_ms === undefined ? () => {} : atMoment(expiresAt_ms, () => lose(expired));
    return () => {
      connections.delete(watched);
      stopTimer();
    };
  };
  return { watch, close: () => clearInterval(again) };
};

/** Calls back at a moment of the wall clock; gives the way to call that off. */
const atMoment = (moment_ms: number, arrived: () => void): (() => void) => {
  const wait = (): NodeJS.Timeout => {
    const left_ms = moment_ms - Date.now();
    const next = (): void => {
      if (Date.now() >= moment_ms) arrived();
      else timer = wait();
    };
    return setTimeout(next, Math.min(Math.max(left_ms, 0) + 1, timer_max_ms)).unref();
  };
  let timer = wait();
  return () => clearTimeout(timer);
};
