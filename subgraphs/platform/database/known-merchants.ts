/**
 * Whether merchants exist. A merchant that was found is never looked up again: merchants are not
 * deleted.
 */
import { LRUCache } from 'lru-cache';
import { isUuid } from '../../rules/ids.ts';
import { MerchantEntity } from './entities.ts';
import { emOn } from './orm-connections.ts';
import type { Runner } from './statement.ts';

const remembered = 10_000;

/** A look over this database; what is no UUID is no merchant. */
export const openKnownMerchants = (
  runner: Runner,
): ((ids: readonly string[]) => Promise<boolean>) => {
  const known = new LRUCache<string, true>({ max: remembered });
  return async (ids) => {
    const unknown = [...new Set(ids.map((id) => id.toLowerCase()))].filter((id) => !known.get(id));
    if (unknown.length === 0) return true;
    if (!unknown.every(isUuid)) return false;
    const rows = await emOn(runner).find(
      MerchantEntity,
      { id: { $in: unknown } },
      { fields: ['id'] },
    );
    for (const { id } of rows) known.set(id, true);
    return rows.length === unknown.length;
  };
};
