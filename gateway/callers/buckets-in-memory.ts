/** Token buckets of one process, for an installation without Redis. */
import { LRUCache } from 'lru-cache';
import { takeResult, token_us, type Buckets } from './token-bucket.ts';

/** The least recently used buckets are dropped, which refills them. */
const buckets_max = 100_000;

/** Opens the buckets. `now_us` is a monotonic clock in microseconds. */
export const openBucketsInMemory = (
  now_us: () => number = () => performance.now() * 1_000,
): Buckets => {
  // Bounded by size: `max` would take the room of all of them at once.
  const fullAt = new LRUCache<string, number>({ maxSize: buckets_max, sizeCalculation: () => 1 });
  return {
    take: (name, limit, tokens = 1) => {
      const now = now_us();
      const token = token_us(limit);
      const capacity = token * limit.burst;
      // A bucket is never more than empty, even after its limit has changed.
      const debt = Math.min(Math.max((fullAt.get(name) ?? now) - now, 0), capacity);
      const price = token * tokens;
      const granted = debt + price <= capacity;
      const owed = granted ? debt + price : debt;
      fullAt.set(name, now + owed);
      return takeResult(granted, owed, limit, tokens);
    },
    close: () => {},
  };
};
