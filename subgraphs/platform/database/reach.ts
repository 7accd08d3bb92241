/**
 * The rows of lists that a caller reaches. A key reaches its shop and its mode; an operator a
 * merchant's.
 */
import type { Mode } from '../../rules/mode.ts';
import { merchantOf } from '../access/access.ts';
import type { Principal } from '../access/principal.ts';
import { run, type Runner, type Statement } from './statement.ts';

/** The owner of the rows, and their modes. */
export interface Reach {
  readonly merchantId: string;
  readonly shopIds: readonly string[];
  readonly modes: readonly Mode[];
}

const shopsOf: Statement = {
  name: 'shop.of_merchant',
  text: `select id from shop where merchant_id = $1 order by created_at, id`,
};

/** The shops of a merchant, oldest first. */
export const shopIdsOf = async (runner: Runner, merchantId: string): Promise<string[]> => {
  const shops = await run<{ id: string }>(runner, shopsOf, [merchantId]);
  return shops.map(({ id }) => id);
};

/**
 * The rows that the caller may read. `includeTest` adds test rows to a live key's.
 */
export const reachOf = async (
  runner: Runner,
  principal: Principal,
  named: string | null | undefined,
  includeTest = false,
): Promise<Reach> => {
  const merchantId = merchantOf(principal, named);
  if (principal.kind === 'key') {
    const modes =
      principal.mode === 'live' && includeTest ? (['live', 'test'] as const) : [principal.mode];
    return { merchantId, shopIds: [principal.shopId], modes };
  }
  return {
    merchantId,
    shopIds: await shopIdsOf(runner, merchantId),
    modes: includeTest ? ['live', 'test'] : ['live'],
  };
};
