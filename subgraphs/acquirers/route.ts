/**
 * Chooses the banks that may serve an operation, the preferred one first
 * (docs/contract.md#test-and-live).
 *
 * Test mode always uses the simulator. In live mode the routes of a shop name connectors, and each
 * connector declares what it can do. Without a route, or without an account for the merchant at the
 * routed bank, the answer is `route_not_configured`. If no routed bank can do it, the answer is
 * `method_unsupported`.
 *
 * The next bank is tried only if the one before it certainly did not accept the order
 * (`unaccepted`), never if the result is unknown. The row of the operation names its bank before
 * that bank is called.
 */
import { run, type Runner, type Statement } from '../platform/database/statement.ts';
import type { OfShop } from '../platform/graph/entities.ts';
import {
  buyerMethods,
  currenciesOf,
  type BuyerMethod,
  type BankOperation,
  type RouteMethod,
} from '../rules/banks.ts';
import { isRefusal, refuse, type Refusal } from '../rules/refusal.ts';
import type { Mode } from '../rules/mode.ts';
import type { Bank, ChargeOrder, HoldOrder } from './bank.ts';
import type { Simulator } from './simulator/simulator.ts';
import { openCallRecorder, watchedBank } from './calls.ts';
import type { ReadTerms } from './receipt-terms.ts';
import { hasRoom } from '../ledger/balance.ts';

/*
 * What stands between an order and its acquirer. Payments name the owner of a receipt's terms, and
 * the order gets the terms here, just before it is sent; an order without a receipt costs nothing.
 * And there is no order for money that exceeds the bound of the merchant's balance: money that a
 * bank has taken can no longer be refused.
 */

const noRoom = {
  kind: 'declined',
  failureCode: 'limit_exceeded',
  bankCode: 'balance_at_bound',
} as const;

type Ordered = Pick<ChargeOrder, 'merchantId' | 'receiptTermsId'>;

/**
 * The bank behind both. An order that it has or may have is sent again without a look at the
 * balance: the repeated one queries the result of the first.
 */
const orderedBank = (bank: Bank, pool: Runner, readTerms: ReadTerms | null): Bank => {
  const withReceipt = async <Order extends Ordered>(order: Order): Promise<Order> => {
    const { merchantId, receiptTermsId: termsId } = order;
    return readTerms && termsId
      ? { ...order, receipt: await readTerms(merchantId, termsId) }
      : order;
  };
  return {
    ...bank,
    openSession: async (order) =>
      order.reference !== null || (await hasRoom(pool, order))
        ? bank.openSession(await withReceipt(order))
        : noRoom,
    charge: async (order) =>
      !order.isFirst || (await hasRoom(pool, order))
        ? bank.charge(await withReceipt(order))
        : noRoom,
    refund: async (order) => bank.refund(await withReceipt(order)),
    ...(bank.settleHold
      ? {
          settleHold: async (order: HoldOrder) =>
            (await bank.settleHold?.(await withReceipt(order))) ?? { kind: 'unknown' },
        }
      : {}),
  };
};

/** Banks that can serve an operation, the preferred first. */
export type Candidates = readonly [Bank, ...Bank[]];

/** What is to be served. */
interface RoutingRequest extends OfShop {
  readonly operation: BankOperation;
  readonly method: RouteMethod;
  readonly currency: string;
  /** Present: the bank must hold the money, and capture it later. */
  readonly holds?: boolean;
}

/** What a bank must be able to do. */
type Capability = Pick<RoutingRequest, 'operation' | 'method' | 'currency' | 'holds'>;

export interface Banks {
  readonly simulator: Simulator;
  /**
   * The banks that can serve a new operation, the preferred first: at least one, or
   * `live_not_enabled`, `route_not_configured` or `method_unsupported`.
   */
  candidates(request: RoutingRequest): Promise<Candidates | Refusal>;
  /** The preferred one of them. */
  route(request: RoutingRequest): Promise<Bank | Refusal>;
  /** `live_not_enabled` when a merchant may start nothing new in live mode; else null. */
  liveModeRefusal(merchant: Pick<OfShop, 'merchantId' | 'mode'>): Promise<Refusal | null>;
  /**
   * The methods that a buyer can use to pay a shop in a currency now; none without a route.
   * `holds`: those that can hold money.
   */
  offered(
    shop: OfShop & Pick<RoutingRequest, 'currency' | 'holds'>,
  ): Promise<readonly BuyerMethod[]>;
  /**
   * The bank that already has an operation, whatever the current routes; `route_not_configured`
   * when this installation has no such connector.
   */
  bankOf(operation: { readonly mode: Mode; readonly connector: string | null }): Bank | Refusal;
}

interface Route {
  readonly method: RouteMethod | null;
  readonly connector: string | null;
}

/** No row while live mode is off for the merchant; at least one otherwise, whatever the shop. */
const routesOf: Statement = {
  name: 'bank_route.of_shop',
  text: `select route.method, route.connector from merchant left join bank_route route on route.merchant_id = merchant.id
      and route.shop_id = $2 and route.mode = $3 and route.operation = $4 and route.active
    where merchant.id = $1 and merchant.live_enabled order by route.priority, route.id`,
};

const unrouted = refuse(
  'route_not_configured',
  'no acquirer is configured for this shop, method and operation',
);

const notEnabled = refuse('live_not_enabled', 'live mode is not enabled for this merchant');

const has = (capabilities: readonly RouteMethod[], method: RouteMethod): boolean =>
  capabilities.includes(method);

const takesCurrency = (bank: Bank, method: RouteMethod, currency: string): boolean => {
  const own = buyerMethods.find((one) => one === method);
  const currencies = (own && currenciesOf[own]) ?? bank.currencies;
  return currencies === null || currencies.includes(currency);
};

const canServe = (
  bank: Bank,
  { operation, method, currency, holds = false }: Capability,
): boolean => {
  const { methods, savable, payoutWays, holds: holdable = [] } = bank;
  switch (operation) {
    case 'payment':
    case 'refund':
      return (
        has(methods, method) &&
        takesCurrency(bank, method, currency) &&
        (!holds || has(holdable, method))
      );
    case 'recurrent':
      return has(savable, method);
    case 'payout':
      return has(payoutWays, method);
  }
};

const doing: Readonly<Record<BankOperation, string>> = {
  payment: 'take',
  refund: 'refund by',
  recurrent: 'save',
  payout: 'make payouts by',
};

const unsupported = (
  banks: readonly Bank[],
  { operation, method, currency, holds }: Capability,
): Refusal => {
  const takesIt =
    operation !== 'payment' || banks.some((bank) => takesCurrency(bank, method, currency));
  const names = [...new Set(banks.map(({ bankName }) => bankName))].join(', ');
  return refuse(
    'method_unsupported',
    `${names} ${banks.length === 1 ? 'does' : 'do'} not ${holds ? 'hold money by' : doing[operation]} ${method}${takesIt ? '' : ` in ${currency}`}`,
  );
};

/**
 * The routed banks that can do it; a method that none of the banks in the shop's routes can do is
 * unsupported, whether it has a route or not.
 */
const choose = (
  routes: readonly { readonly method: RouteMethod; readonly bank: Bank }[],
  request: Capability,
): Candidates | Refusal => {
  const routed = routes.filter(({ method }) => method === request.method).map(({ bank }) => bank);
  const [first, ...others] = routed.filter((bank) => canServe(bank, request));
  if (first) return [first, ...others];
  if (routed.length > 0) return unsupported(routed, request);
  const known = [...new Set(routes.map(({ bank }) => bank))];
  return known.length > 0 && !known.some((bank) => canServe(bank, request))
    ? unsupported(known, request)
    : unrouted;
};

/** Whether a bank has an account for what is to be served. */
const hasAccount = async (
  bank: Bank,
  { merchantId, operation }: Pick<RoutingRequest, 'merchantId' | 'operation'>,
): Promise<boolean> =>
  (await bank.hasAccount?.(merchantId, operation === 'payout' ? 'payouts' : 'payments')) ?? true;

/** Those with an account for it: a payout without one would wait forever, its money reserved. */
const withAccount = async (
  banks: Candidates,
  request: Pick<RoutingRequest, 'merchantId' | 'operation'>,
): Promise<Candidates | Refusal> => {
  const ready = await Promise.all(banks.map((bank) => hasAccount(bank, request)));
  const [first, ...others] = banks.filter((_, place) => ready[place]);
  if (first) return [first, ...others];
  const names = banks.map(({ bankName }) => bankName).join(', ');
  return refuse(
    'route_not_configured',
    `no account at ${names} is configured for ${request.operation === 'payout' ? 'payouts' : 'payments'} of this merchant`,
  );
};

/**
 * The banks of this installation: the simulator for test mode, and connectors to real acquirers for
 * live mode, whose orders get their receipts by `readTerms`. `recorder` notes their
 * calls.
 */
export const openBanks = (
  simulated: Simulator,
  pool: Runner,
  connectors: readonly Bank[] = [],
  readTerms: ReadTerms | null = null,
  recorder = openCallRecorder(pool),
): Banks => {
  const simulator = watchedBank(simulated, 'test', recorder);
  const called = connectors.map((bank) => watchedBank(bank, 'live', recorder));
  const ordered = called.map((bank) => orderedBank(bank, pool, readTerms));
  const byName = new Map(ordered.map((bank) => [bank.connector, bank]));
  /** The banks behind a shop's routes, the preferred first; null when live mode is off. */
  const routes = async ({ merchantId, shopId, mode }: OfShop, operation: BankOperation) => {
    const found = await run<Route>(pool, routesOf, [merchantId, shopId, mode, operation]);
    if (found.length === 0) return null;
    return found.flatMap(({ method, connector }) => {
      const bank = byName.get(connector ?? '');
      return bank && method ? [{ method, bank }] : [];
    });
  };
  const candidates: Banks['candidates'] = async (request) => {
    const { operation, method, ...shop } = request;
    const open =
      shop.mode === 'test' ? [{ method, bank: simulator }] : await routes(shop, operation);
    if (!open) return notEnabled;
    const chosen = choose(open, request);
    return isRefusal(chosen)
      ? chosen
      : withAccount(chosen, { operation, merchantId: shop.merchantId });
  };
  return {
    simulator,
    candidates,
    route: async (request) => {
      const found = await candidates(request);
      return isRefusal(found) ? found : found[0];
    },
    liveModeRefusal: async ({ merchantId, mode }) =>
      mode === 'test' || (await run(pool, routesOf, [merchantId, null, null, null])).length > 0
        ? null
        : notEnabled,
    offered: async ({ holds = false, currency, ...shop }) => {
      const serves = (bank: Bank, method: BuyerMethod): boolean =>
        canServe(bank, { operation: 'payment', method, currency, holds });
      if (shop.mode === 'test')
        return simulator.methods.filter((method) => serves(simulator, method));
      const open = (await routes(shop, 'payment')) ?? [];
      const request = { merchantId: shop.merchantId, operation: 'payment' } as const;
      const banks = [...new Set(open.map(({ bank }) => bank))];
      const ready = await Promise.all(banks.map((bank) => hasAccount(bank, request)));
      const offers = (route: (typeof open)[number], method: BuyerMethod): boolean =>
        route.method === method &&
        serves(route.bank, method) &&
        ready[banks.indexOf(route.bank)] === true;
      return buyerMethods.filter((method) => open.some((route) => offers(route, method)));
    },
    bankOf: ({ mode, connector }) =>
      mode === 'test' ? simulator : (byName.get(connector ?? '') ?? unrouted),
  };
};
