/**
 * Who the API keys speak for, remembered for a short while. Revoking empties at once, in every
 * process: bus topic `keys`.
 */
import type { Bus } from '../../subgraphs/kernel/rules/event.ts';
import { Lru } from '../../subgraphs/kernel/service/lru.ts';
import type { ApiKeyHolder } from './authenticate.ts';

export const heldKey_ms = 30_000;
const heldKeys_max = 10_000;
export const unknownKey_ms = 1_000;
/** Apart from the known keys, so that guessing does not push those out. */
const unknownKeys_max = 1_000;

export interface KeyHoldersParts {
  /**
   * Asks the merchants subgraph for the key with this digest; null when it is unknown or revoked.
   */
  readonly ask: (digest: string) => Promise<ApiKeyHolder | null>;
  readonly bus: Bus;
  /** Milliseconds on a clock that only goes forward. */
  readonly now_ms?: () => number;
}

export interface KeyHolders {
  /**
   * The holder of the key with this SHA-256 (hex); null when there is none. Rejects when nobody
   * could be asked.
   */
  find(digest: string): Promise<ApiKeyHolder | null>;
  /**
   * Whether this key was good when it was last asked about, however long ago, and has not been
   * revoked since.
   */
  holds(digest: string): boolean;
  /**
   * Calls `changed` with a merchant whose keys may have changed, after they have been forgotten
   * here. Returns the way out.
   */
  onChange(changed: (merchantId: string) => void): () => void;
  close(): void;
}

/** Opens the memory of key holders. Equal questions asked at the same time are one. */
export const openKeyHolders = ({
  ask,
  bus,
  now_ms = () => performance.now(),
}: KeyHoldersParts): KeyHolders => {
  const held = new Lru<string, { readonly holder: ApiKeyHolder; readonly until_ms: number }>(
    heldKeys_max,
  );
  const unknown = new Lru<string, number>(unknownKeys_max);
  const asking = new Map<string, Promise<ApiKeyHolder | null>>();
  const listeners = new Set<(merchantId: string) => void>();

  const unsubscribe = bus.subscribe('keys', ({ merchantId }) => {
    held.deleteWhere(({ holder }) => holder.merchantId === merchantId);
    unknown.deleteWhere(() => true);
    // What is being asked may have been answered before the change: its answer is not kept, and
    // nobody joins it.
    asking.clear();
    for (const changed of listeners) changed(merchantId);
  });

  const keep = (digest: string, holder: ApiKeyHolder | null): void => {
    if (holder) held.set(digest, { holder, until_ms: now_ms() + heldKey_ms });
    else {
      held.delete(digest);
      unknown.set(digest, now_ms() + unknownKey_ms);
    }
  };

  const askOnce = (digest: string): Promise<ApiKeyHolder | null> => {
    const answer = ask(digest).then((holder) => {
      if (asking.get(digest) === answer) keep(digest, holder);
      return holder;
    });
    asking.set(digest, answer);
    const forget = (): void => {
      if (asking.get(digest) === answer) asking.delete(digest);
    };
    answer.then(forget, forget);
    return answer;
  };

  return {
    find: async (digest) => {
      const known = held.get(digest);
      if (known && known.until_ms > now_ms()) return known.holder;
      if ((unknown.get(digest) ?? 0) > now_ms()) return null;
      return asking.get(digest) ?? askOnce(digest);
    },
    holds: (digest) => held.get(digest) !== undefined,
    onChange: (changed) => {
      listeners.add(changed);
      return () => void listeners.delete(changed);
    },
    close: unsubscribe,
  };
};
