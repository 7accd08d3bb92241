/**
 * Operators set routes to banks: the connector for an operation and method of a shop in live mode.
 */
import type { MutationbankRouteSetArgs } from '../../../schema/generated/merchants.ts';
import { randomUUID } from 'node:crypto';
import { BankRouteEntity, type BankRoute } from '../../acquirers/entities.ts';
import { refuse, type Refusal } from '../../rules/refusal.ts';
import { methodsOf } from '../../rules/banks.ts';
import { changeEntities, changing, type Acting } from '../../platform/database/audit.ts';
import { ShopEntity } from '../../platform/database/entities.ts';
import type { PolicyDeps } from './change-policy.ts';

const priority_max = 1_000;

type RouteInput = Required<MutationbankRouteSetArgs>;

const mistakeIn = ({ mode, operation, method, connector, priority }: RouteInput): string | null => {
  if (mode === 'test')
    return 'mode: in test mode the simulator serves everything; routes are for live mode';
  if (!methodsOf[operation].includes(method))
    return `method: ${operation} goes by one of ${methodsOf[operation].join(', ')}, got ${method}`;
  if (!/^[a-z][a-z0-9_-]{1,39}$/.test(connector))
    return 'connector: expected the name of a connector, such as yookassa';
  return priority >= 0 && priority <= priority_max
    ? null
    : `priority: expected an integer from 0 to ${priority_max}, got ${priority}`;
};

/**
 * Sets a route, or changes the one with the same connector. Refuses with `not_found`, or an invalid
 * route with `bad_request`.
 */
export const setRoute = async (
  { database }: PolicyDeps,
  acting: Acting,
  input: RouteInput,
): Promise<BankRoute | Refusal> => {
  const mistake = mistakeIn(input);
  if (mistake) return refuse('bad_request', mistake);
  const { merchantId, shopId, mode, operation, method, connector, priority, active } = input;
  const id = randomUUID();
  // The shop is locked, so that concurrent calls create one route.
  const set = changing(ShopEntity, { merchantId, id: shopId }, 'shop', async (_, em) => {
    const once = { merchantId, shopId, mode, operation, method, connector };
    const route = await em.findOne(BankRouteEntity, once);
    return route
      ? em.assign(route, { priority, active })
      : em.create(BankRouteEntity, { ...once, id, priority, active, createdAt: acting.now() });
  });
  return changeEntities(database, acting, { action: 'bank_route.set', merchantId, id }, set);
};
