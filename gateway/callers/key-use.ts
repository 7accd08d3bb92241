/**
 * Records when keys were last used: collected in memory, reported to the merchants subgraph every
 * few seconds, and at most once a minute for each key.
 */
import { LRUCache } from 'lru-cache';
import type { Logger } from '../../subgraphs/kernel/service/tracing/telemetry.ts';

export const keyUseInterval_ms = 60_000;
export const keyUseFlush_ms = 5_000;
/** How long a closing process waits for its last report. */
const keyUseClose_ms = 1_000;
const rememberedKeys_max = 10_000;

/** A key that has been used. */
export interface UsedKey {
  readonly merchantId: string;
  readonly keyId: string;
}

export interface KeyUse {
  /** Records a request that was admitted with this key. Costs the request next to nothing. */
  record(key: UsedKey): void;
  /** Reports what is still pending. Never rejects. */
  close(): Promise<void>;
}

export interface KeyUseParts {
  readonly report: (used: readonly UsedKey[]) => Promise<void>;
  readonly log: Pick<Logger, 'warn'>;
  /** A monotonic clock in milliseconds. */
  readonly now_ms: () => number;
}

/** Opens the recorder. After a failed report, a key is reported with its next use. */
export const openKeyUse = ({ report, log, now_ms }: KeyUseParts): KeyUse => {
  const reportedAt_ms = new LRUCache<string, number>({ max: rememberedKeys_max });
  const pending = new Map<string, UsedKey>();
  const flush = async (): Promise<void> => {
    if (pending.size === 0) return;
    const used = [...pending.values()];
    pending.clear();
    try {
      await report(used);
    } catch (error) {
      for (const { keyId } of used) reportedAt_ms.delete(keyId);
      log.warn({ err: error, keys: used.length }, 'the last use of keys could not be noted');
    }
  };
  const timer = setInterval(() => void flush(), keyUseFlush_ms).unref();
  return {
    record: ({ merchantId, keyId }) => {
      const last_ms = reportedAt_ms.get(keyId);
      if (last_ms !== undefined && now_ms() - last_ms < keyUseInterval_ms) return;
      reportedAt_ms.set(keyId, now_ms());
      pending.set(keyId, { merchantId, keyId });
    },
    close: async () => {
      clearInterval(timer);
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timeout = setTimeout(resolve, keyUseClose_ms);
      await Promise.race([flush(), late]);
      clearTimeout(timeout);
    },
  };
};
