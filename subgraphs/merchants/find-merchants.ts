/** Reading the merchants subgraph's rows: by reference, by key digest, by payment. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { ApiKeyHolder } from '../../schema/generated/merchants.ts';
import { batched, loadByKey } from '../platform/database/batch-calls.ts';
import {
  ShopEntity,
  type Shop,
  MerchantEntity,
  type Merchant,
} from '../platform/database/entities.ts';
import { columns, propertyNames, run, type Statement } from '../platform/database/statement.ts';
import { nameOfReference, type EntityReference, type OfShop } from '../platform/graph/entities.ts';
import { rateLimitOf, type StoredRateLimit } from './rules/merchant.ts';
import {
  WebhookDeliveryEntity,
  WebhookEndpointEntity,
  type WebhookDelivery,
  type WebhookEndpoint,
} from './entities.ts';

/** Reads the database, bypassing what the call has read before. */
const readOnly = { disableIdentityMap: true } as const;
const shopColumns = columns(propertyNames(ShopEntity));

export const loadShops = loadByKey<Shop>('shop', shopColumns);
export const loadWebhookEndpoints = loadByKey<WebhookEndpoint>(
  'webhook_endpoint',
  columns(propertyNames(WebhookEndpointEntity)),
);
export const loadWebhookDeliveries = loadByKey<WebhookDelivery>(
  'webhook_delivery',
  columns(propertyNames(WebhookDeliveryEntity)),
);

/** Merchants by id, in the order of the ids; null where there is none. */
export const loadMerchants = async (
  em: EntityManager,
  ids: readonly string[],
): Promise<(Merchant | null)[]> => {
  const rows = await em.find(MerchantEntity, { id: { $in: [...ids] } }, readOnly);
  const found = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => found.get(id) ?? null);
};

/** The shops of each merchant, oldest first. */
export const findShops = async (
  em: EntityManager,
  merchants: readonly Merchant[],
): Promise<Shop[][]> => {
  const rows = await em.find(
    ShopEntity,
    { merchantId: { $in: merchants.map(({ id }) => id) } },
    { ...readOnly, orderBy: { createdAt: 'asc', id: 'asc' } },
  );
  const byMerchant = Map.groupBy(rows, ({ merchantId }) => merchantId);
  return merchants.map(({ id }) => byMerchant.get(id) ?? []);
};

/** A payment's owner, as far as the merchants subgraph needs it. */
export interface PaymentPlace extends OfShop {
  readonly id: string;
}

/** The owners of payments, in the order of the references; null where there is none. */
export const findPaymentPlaces = loadByKey<PaymentPlace>(
  'payment',
  columns(['merchantId', 'id', 'shopId', 'mode']),
  'payment.places',
);

/** The webhook deliveries of each payment or payout, or of each event, oldest first. */
const deliveriesBy =
  (property: 'subjectId' | 'eventId') =>
  async (em: EntityManager, things: readonly EntityReference[]): Promise<WebhookDelivery[][]> => {
    const rows = await em.find(
      WebhookDeliveryEntity,
      {
        merchantId: { $in: [...new Set(things.map(({ merchantId }) => merchantId))] },
        [property]: { $in: things.map(({ id }) => id) },
      },
      { ...readOnly, orderBy: { createdAt: 'asc', id: 'asc' } },
    );
    const byThing = Map.groupBy(rows, (row) =>
      nameOfReference({ merchantId: row.merchantId, id: row[property] }),
    );
    return things.map((thing) => byThing.get(nameOfReference(thing)) ?? []);
  };

export const findDeliveries = deliveriesBy('subjectId');
export const findDeliveriesOfEvents = deliveriesBy('eventId');

const holders: Statement = {
  name: 'api_key.holders',
  text: `select api_key.id as "keyId", api_key.merchant_id as "merchantId", api_key.shop_id as "shopId", api_key.mode, api_key.scopes,
      (extract(epoch from api_key.expires_at - statement_timestamp()) * 1000)::float8 as "expiresInMs", merchant.live_enabled as "liveEnabled",
      shop.require_signature as "requireSignature", shop.require_bound_signature as "requireBoundSignature", shop.signing_secret_sealed as "signingSecretSealed", shop.allow_list as "allowList",
      shop.receipts_required as "receiptsRequired", (api_key.mode = 'test' and test_clock.shop_id is not null) as "hasTestClock",
      merchant.rate_per_second as "ratePerSecond", merchant.rate_burst as "rateBurst", api_key.digest
    from api_key join merchant on merchant.id = api_key.merchant_id join shop on shop.merchant_id = merchant.id and shop.id = api_key.shop_id
      left join test_clock on test_clock.merchant_id = shop.merchant_id and test_clock.shop_id = shop.id
    where api_key.digest = any ($1::text[]) and api_key.revoked_at is null and (api_key.expires_at is null or api_key.expires_at > statement_timestamp())
      and (api_key.requested_by is null or api_key.approved_by is not null)`,
};

type FoundHolder = Omit<ApiKeyHolder, 'rateLimit'> & StoredRateLimit & { readonly digest: string };

/**
 * The merchant and shop of the key with this digest; null when it is unknown, revoked or not
 * approved. Whose a key is says this lookup alone: those of all callers share a statement.
 */
export const findKeyHolder = batched<string, ApiKeyHolder | null>({
  name: holders.name,
  callerOf: () => 'everybody',
  run: async (pool, digests) => {
    const rows = await run<FoundHolder>(pool, holders, [digests]);
    const found = new Map(rows.map((row) => [row.digest, { ...row, rateLimit: rateLimitOf(row) }]));
    return digests.map((digest) => found.get(digest) ?? null);
  },
});
