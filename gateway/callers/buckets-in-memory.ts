/** Token buckets of one process, for an installation without Redis. */
import { Lru } from '../../subgraphs/kernel/service/lru.ts';
import { takenOf, token_us, type Buckets } from './token-bucket.ts';

/** The buckets that were not used for longest are forgotten, which fills them. */
const buckets_max = 100_000;

/** Opens the buckets. `now_us` is a clock that only goes forward, in microseconds. */
export const openBucketsInMemory = (
  now_us: () => number = () => performance.now() * 1_000,
): Buckets => {
  const fullAt = new Lru<string, number>(buckets_max);
  return {
    take: (name, limit, tokens = 1) => {
      const now = now_us();
      const token = token_us(limit);
      const most = token * limit.burst;
      // Never more than empty, even when the limit was another before.
      const debt = Math.min(Math.max((fullAt.get(name) ?? now) - now, 0), most);
      const price = token * tokens;
      const granted = debt + price <= most;
      const owed = granted ? debt + price : debt;
      fullAt.set(name, now + owed);
      return takenOf(granted, owed, limit, tokens);
    },
    close: () => {},
  };
};
