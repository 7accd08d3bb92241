/** Long-lived connections outlive the check of their key: the key is checked again when its merchant's keys changed, and now and then. */
import { isRefused } from '../subgraphs/kernel/rules/refusal.ts';
import type { Authenticator } from './authenticate.ts';
import { heldKey_ms, type KeyHolders } from './key-holders.ts';

interface Watched {
  readonly merchantId: string;
  readonly check: () => Promise<void>;
}

/** Opens the watch over the keys of connections. */
export const openKeyWatch = (
  ofHeader: Authenticator['ofHeader'],
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

  const watch: Authenticator['watch'] = (authorization, principal, lost) => {
    if (principal.kind !== 'key') return () => {};
    const check = async (): Promise<void> => {
      // When nobody can be asked, the connection stays until somebody can say that it must not.
      const answer = await ofHeader(authorization).catch(() => null);
      if (answer === null || !isRefused(answer) || !connections.delete(watched)) return;
      lost(answer);
    };
    const watched: Watched = { merchantId: principal.merchantId, check };
    connections.add(watched);
    return () => void connections.delete(watched);
  };
  return { watch, close: () => clearInterval(again) };
};
