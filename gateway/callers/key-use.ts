/**
 * When keys were last used: gathered in memory, told to the merchants subgraph every few seconds,
 * and of one key at most once in a minute.
 */
import { Lru } from '../../subgraphs/kernel/service/lru.ts';
import type { Logger } from '../../subgraphs/kernel/service/tracing/telemetry.ts';

export const keyUseTold_ms = 60_000;
export const keyUseGather_ms = 5_000;
/** How long a process that ends waits for its last word to be heard. */
const keyUseClose_ms = 1_000;
const rememberedKeys_max = 10_000;

/** A key that has been used. */
export interface UsedKey {
  readonly merchantId: string;
  readonly keyId: string;
}

export interface KeyUse {
  /** A request came with this key and was let in. Costs the request next to nothing. */
  note(key: UsedKey): void;
  /** Tells what has not been told. Never rejects. */
  close(): Promise<void>;
}

export interface KeyUseParts {
  readonly tell: (used: readonly UsedKey[]) => Promise<void>;
  readonly log: Pick<Logger, 'warn'>;
  /** Milliseconds on a clock that only goes forward. */
  readonly now_ms: () => number;
}

/** Opens the gathering. What could not be told is told with the key's next use. */
export const openKeyUse = ({ tell, log, now_ms }: KeyUseParts): KeyUse => {
  const told_ms = new Lru<string, number>(rememberedKeys_max);
  const gathered = new Map<string, UsedKey>();
  const tellAll = async (): Promise<void> => {
    if (gathered.size === 0) return;
    const used = [...gathered.values()];
    gathered.clear();
    try {
      await tell(used);
    } catch (error) {
      for (const { keyId } of used) told_ms.delete(keyId);
      log.warn({ err: error, keys: used.length }, 'the last use of keys could not be noted');
    }
  };
  const timer = setInterval(() => void tellAll(), keyUseGather_ms).unref();
  return {
    note: ({ merchantId, keyId }) => {
      const last_ms = told_ms.get(keyId);
      if (last_ms !== undefined && now_ms() - last_ms < keyUseTold_ms) return;
      told_ms.set(keyId, now_ms());
      gathered.set(keyId, { merchantId, keyId });
    },
    close: async () => {
      clearInterval(timer);
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const patience = setTimeout(resolve, keyUseClose_ms);
      await Promise.race([tellAll(), late]);
      clearTimeout(patience);
    },
  };
};
