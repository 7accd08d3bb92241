/**
 * `psp doctor --live`: what a shop has still to do before it takes real money. In test mode: what
 * its program has not met yet. In live mode: what is not set.
 */
import type { PaymentClient } from '../client.ts';
import { ApiError } from '../errors.ts';
import type { WebhookEventName } from '../schemas.ts';
import type { Context } from './command.ts';
import type { Finding } from './doctor.ts';

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

const looked = 20;
const day_ms = 86_400_000;
/** A shop under a load test has more; its last ones are enough to judge by. */
const read_max = 10_000;

/** Whether the last events of these kinds have reached an endpoint. */
const haveArrived = async (
  client: PaymentClient,
  events: readonly WebhookEventName[],
): Promise<Finding> => {
  const what = 'delivered webhooks';
  const from = new Date(Date.now() - 7 * day_ms).toISOString().slice(0, 10);
  const ids: string[] = [];
  let count = 0;
  for await (const page of client.eventLog.list({ event: [...events], from, limit: 200 }).pages()) {
    ids.push(...page.items.map(({ id }) => id));
    ids.splice(0, Math.max(0, ids.length - looked));
    count += page.items.length;
    if (count >= read_max) break;
  }
  const logged = await Promise.all(ids.map((id) => client.eventLog.get(id)));
  const deliveries = logged.flatMap((event) => event.deliveries);
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
  const checks: readonly (readonly [string, () => Promise<readonly Finding[]>])[] = [
    ['events', async () => (isLive ? [] : haveHappened(client))],
    ['webhooks', async () => (isLive ? [] : [await haveArrived(client, rehearsed)])],
    ['shop', () => checkShop(context, client)],
    ['methods', async () => [await checkRates(client)]],
  ];
  const found = checks.map(([what, check]) =>
    check().catch((error: unknown) => {
      if (error instanceof ApiError)
        return [{ what, ok: false, says: `${error.code}: ${error.message}` }];
      throw error;
    }),
  );
  return (await Promise.all(found)).flat();
};
