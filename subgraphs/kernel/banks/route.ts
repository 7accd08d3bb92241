/**
 * Which bank serves an operation. Contract "Modes": test keys reach the simulator, live keys a real acquirer. In live mode the shop's routes decide
 * among the connectors of this installation; without one that fits it is `route_not_configured`.
 */
import { run, type Runner, type Statement } from '../database/statement.ts';
import { buyerMethods, type BuyerMethod } from '../rules/buyer.ts';
import { refused, type Refused } from '../rules/refusal.ts';
import type { Mode } from '../rules/mode.ts';
import type { BankOperation, RouteMethod } from '../rules/route.ts';
import type { Bank } from './bank.ts';
import type { Simulator } from './simulator.ts';
import { tracedBank } from './traced-bank.ts';

interface ShopInMode {
  readonly merchantId: string;
  readonly shopId: string;
  readonly mode: Mode;
}

/** What is to be served. */
export interface Errand extends ShopInMode {
  readonly operation: BankOperation;
  readonly method: RouteMethod;
}

export interface Banks {
  readonly simulator: Simulator;
  /** The bank that a new operation goes to, or `route_not_configured`. */
  route(errand: Errand): Promise<Bank | Refused>;
  /** The methods by which a buyer can pay a shop now; none without a route. */
  offered(shop: ShopInMode): Promise<readonly BuyerMethod[]>;
  /** The bank that has an operation already, whatever the routes say by now; `route_not_configured` when this installation has no such connector. */
  holding(operation: { readonly mode: Mode; readonly connector: string | null }): Bank | Refused;
}

const routesOf: Statement = {
  name: 'bank_routes_of_shop',
  text: `select method, connector from bank_route where merchant_id = $1 and shop_id = $2 and mode = $3 and operation = $4 and active order by priority, id`,
};

const unrouted = refused('route_not_configured', 'no acquirer is configured for this shop, method and operation');

/** The banks of this installation: the simulator for test mode, and connectors to real acquirers for live mode. */
export const openBanks = (simulated: Simulator, pool: Runner, connectors: readonly Bank[] = []): Banks => {
  const simulator = tracedBank(simulated);
  const byName = new Map(connectors.map((bank) => [bank.connector, tracedBank(bank)]));
  /** The banks behind a shop's routes, the preferred first. */
  const routes = async ({ merchantId, shopId, mode }: ShopInMode, operation: BankOperation) => {
    const found = await run<{ method: RouteMethod; connector: string }>(pool, routesOf, [merchantId, shopId, mode, operation]);
    return found.flatMap(({ method, connector }) => {
      const bank = byName.get(connector);
      return bank ? [{ method, bank }] : [];
    });
  };
  return {
    simulator,
    route: async ({ operation, method, ...shop }) => {
      if (shop.mode === 'test') return simulator;
      const found = (await routes(shop, operation)).find((route) => route.method === method);
      return found?.bank ?? unrouted;
    },
    offered: async (shop) => {
      if (shop.mode === 'test') return simulator.methods;
      const open = await routes(shop, 'payment');
      return buyerMethods.filter((method) => open.some((route) => route.method === method && route.bank.methods.includes(method)));
    },
    holding: ({ mode, connector }) => (mode === 'test' ? simulator : (byName.get(connector ?? '') ?? unrouted)),
  };
};
