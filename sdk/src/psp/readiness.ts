/**
 * `psp doctor --live`: what a shop has still to do before it takes real money. In test mode: what
 * its program has not met yet. In live mode: what is not set.
 */
import type { PaymentClient } from '../client.ts';
import type { WebhookEventName } from '../schemas.ts';
import type { Context } from './command.ts';
import { findAll, readLastDeliveries, type Check, type Finding } from './doctor.ts';
import { askGraph, operatorGraphOf } from './operator-graph.ts';

/** What a shop's program should have met in test mode, and how it is made to happen. */
const rehearsed = ['payment.succeeded', 'payment.failed', 'payment.refunded'] as const;

const haveHappened = async (client: PaymentClient): Promise<readonly Finding[]> =>
  Promise.all(
    rehearsed.map(async (event) => {
      const [found] = await client.eventLog.list({ event: [event] }).first(1);
      return {
        what: event,
        ok: found !== undefined,
        says: found ? `met on ${found.created_at.slice(0, 10)}` : `try psp trigger ${event}`,
      };
    }),
  );

/** Whether the last events of these kinds have reached an endpoint. */
const haveArrived = async (
  client: PaymentClient,
  events: readonly WebhookEventName[],
): Promise<Finding> => {
  const what = 'delivered webhooks';
  const { deliveries } = await readLastDeliveries(client, 7, events);
  const lost = deliveries.filter(({ status }) => status === 'failed');
  if (lost.length > 0)
    return { what, ok: false, says: `${lost.length} were given up: ${lost[0]?.url ?? ''}` };
  const taken = deliveries.filter(({ status }) => status === 'delivered');
  return taken.length > 0
    ? { what, ok: true, says: `${taken.length} of the last were taken` }
    : { what, ok: false, says: 'none was: add an endpoint, or read the event log' };
};

interface ShopState {
  readonly requireSignature: boolean;
  readonly merchant: { readonly liveEnabled: boolean };
}

/** What is set for the shop, by its own key; null where the graph does not answer. */
const readShop = async ({ send }: Context, ids: ShopIds): Promise<ShopState | null> => {
  const query =
    'query ($m: ID!, $s: ID!) { shop(merchantId: $m, id: $s) { requireSignature merchant { liveEnabled } } }';
  const variables = { m: ids.merchant_id, s: ids.shop_id };
  const call = { method: 'POST', path: '/graphql', body: { query, variables } } as const;
  const answer = await send()(call, (response) => response.json());
  // The query selects no more than this.
  return (answer as { readonly data?: { readonly shop: ShopState | null } }).data?.shop ?? null;
};

interface ShopIds {
  readonly merchant_id: string;
  readonly shop_id: string;
}

const checkShop = async (context: Context, client: PaymentClient): Promise<readonly Finding[]> => {
  const [payment] = await client.payments.list({ limit: 1 }).first(1);
  const shop = payment ? await readShop(context, payment) : null;
  if (!shop) return [{ what: 'shop', ok: false, says: 'it has no payment yet to be found by' }];
  return [
    {
      what: 'signed requests',
      ok: shop.requireSignature,
      says: shop.requireSignature ? 'demanded' : 'not demanded: the key alone is enough',
    },
    {
      what: 'live mode',
      ok: shop.merchant.liveEnabled,
      says: shop.merchant.liveEnabled ? 'enabled' : 'not enabled: ask the operator',
    },
  ];
};

interface BankRoute {
  readonly operation: string;
  readonly method: string;
  readonly active: boolean;
}

/** Which acquirers' routes live mode has. Keys do not see them: a person's token is needed. */
const checkLiveRoutes = async (
  context: Context,
  client: PaymentClient,
): Promise<readonly Finding[]> => {
  const found = (ok: boolean, says: string) => [{ what: 'live routes', ok, says }];
  if (!context.env['PSP_OPERATOR_TOKEN'])
    return found(false, 'only people see them: set PSP_OPERATOR_TOKEN to a token of your own');
  const [payment] = await client.payments.list({ limit: 1 }).first(1);
  if (!payment) return found(false, 'the shop has no payment yet to be found by');
  const { bankRoutes } = await askGraph<{ bankRoutes: { nodes: readonly BankRoute[] } }>(
    operatorGraphOf(context, 'reading routes'),
    'the routes',
    {
      query: `query ($m: ID, $s: ID) { bankRoutes(merchantId: $m, shopId: $s, first: 200) {
        nodes { operation method active } } }`,
      variables: { m: payment.merchant_id, s: payment.shop_id },
    },
    context.stopped,
  );
  const routes = bankRoutes.nodes.filter(({ active }) => active);
  const served = [...new Set(routes.map(({ operation, method }) => `${operation} by ${method}`))];
  const takesPayments = routes.some(({ operation }) => operation === 'payment');
  const lacking = takesPayments ? '' : 'no acquirer takes payments: ask the operator';
  return found(takesPayments, [lacking, served.join(', ')].filter(Boolean).join('; it has '));
};

const checkRates = async (client: PaymentClient): Promise<Finding> => {
  const { rates } = await client.rates.list();
  const methods = [...new Set(rates.map(({ method }) => method))];
  const says = methods.length > 0 ? methods.join(', ') : 'none has a rate: ask the operator';
  return { what: 'methods', ok: methods.length > 0, says };
};

/** The list; what the key may not read is named and counts as open. */
export const checkReadiness = async (context: Context): Promise<readonly Finding[]> => {
  const client = context.client();
  const isLive = context.settings.apiKey?.startsWith('sk_live_') ?? false;
  const checks: readonly Check[] = [
    ['events', async () => (isLive ? [] : haveHappened(client))],
    ['webhooks', async () => (isLive ? [] : [await haveArrived(client, rehearsed)])],
    ['shop', () => checkShop(context, client)],
    ['live routes', () => checkLiveRoutes(context, client)],
    ['methods', async () => [await checkRates(client)]],
  ];
  return findAll(checks);
};
