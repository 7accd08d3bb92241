/**
 * The lists of the cabinet that grow: merchants, and webhook deliveries; and what hangs on them: a
 * shop's endpoints, a delivery's attempts.
 */
import { raw } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { isUuid } from '../kernel/rules/uuid.ts';
import { findPage, given } from '../kernel/database/find-page.ts';
import { spanOf } from '../kernel/database/keyset.ts';
import {
  behindCursor,
  newestFirst,
  readPage,
  type Page,
  type PageQuery,
} from '../kernel/database/page.ts';
import {
  columns,
  propertyNames,
  run,
  type Runner,
  type Statement,
} from '../kernel/database/statement.ts';
import type { WebhookEvent } from '../kernel/rules/event.ts';
import { isRefused, refused, type Refused } from '../kernel/rules/refusal.ts';
import {
  MerchantEntity,
  WebhookAttemptEntity,
  WebhookDeliveryEntity,
  WebhookEndpointEntity,
  type Merchant,
  type WebhookAttempt,
  type WebhookDelivery,
  type WebhookEndpoint,
} from './entities.ts';

interface RowKey {
  readonly merchantId: string;
  readonly id: string;
}

/**
 * A page of merchants, newest first: those whose name holds `name`, whatever its case; only
 * `merchantId` when it is given.
 */
export const listMerchants = (
  em: EntityManager,
  {
    merchantId,
    name = null,
    ...page
  }: PageQuery & { readonly merchantId: string | null; readonly name?: string | null | undefined },
): Promise<Page<Merchant> | Refused> =>
  findPage(
    em,
    {
      entity: MerchantEntity,
      at: 'createdAt',
      where: {
        ...given({ id: merchantId }),
        ...(name === null ? {} : { [raw('strpos(lower(name), lower(?))', [name])]: { $gt: 0 } }),
      },
      bound: ['merchant.page', [merchantId, name]],
    },
    page,
  );

export interface DeliveriesQuery extends PageQuery {
  readonly merchantId: string;
  readonly shopId?: string | null | undefined;
  readonly endpointId?: string | null | undefined;
  readonly status?: WebhookDelivery['status'] | null | undefined;
  readonly event?: WebhookEvent | null | undefined;
  /** UTC days of the events, inclusive (decision D-12). */
  readonly from?: string | null | undefined;
  readonly to?: string | null | undefined;
}

/**
 * The status is written into the statement, so that the few that failed are found by the index over
 * them.
 */
const deliveriesPage = (status: string, condition: string): Statement => ({
  name: `delivery.page_${status}`,
  text: `select ${columns(propertyNames(WebhookDeliveryEntity))} from webhook_delivery
    where merchant_id = $4 and ($5::uuid is null or shop_id = $5) and ($6::uuid is null or endpoint_id = $6) and ($7::text is null or webhook_event = $7)
      and created_at >= coalesce($8::timestamptz, '-infinity') and created_at < coalesce($9::timestamptz, 'infinity') ${condition}
      and ${behindCursor('created_at', 'id')} ${newestFirst('created_at', 'id')}`,
});

const deliveriesByStatus = {
  any: deliveriesPage('any', ''),
  pending: deliveriesPage('pending', "and status = 'pending'"),
  delivered: deliveriesPage('delivered', "and status = 'delivered'"),
  failed: deliveriesPage('failed', "and status = 'failed'"),
} as const;

/**
 * A page of a merchant's webhook deliveries, newest event first. `bad_request` for a wrong size,
 * cursor, day or id.
 */
export const listDeliveries = async (
  runner: Runner,
  query: DeliveriesQuery,
): Promise<Page<WebhookDelivery> | Refused> => {
  const { merchantId, shopId = null, endpointId = null, event = null } = query;
  for (const [field, id] of Object.entries({ merchantId, shopId, endpointId })) {
    if (id !== null && !isUuid(id)) return refused('bad_request', `${field}: expected a UUID`);
  }
  const span = spanOf(query.from, query.to);
  if (isRefused(span)) return span;
  return readPage(
    runner,
    deliveriesByStatus[query.status ?? 'any'],
    [merchantId, shopId, endpointId, event, span.since, span.until],
    query,
  );
};

const endpointsByShop: Statement = {
  name: 'endpoint.by_shop',
  text: `select ${columns(propertyNames(WebhookEndpointEntity))} from webhook_endpoint
    where (merchant_id, shop_id) in (select * from unnest($1::uuid[], $2::uuid[])) order by created_at, id`,
};

/** The endpoints of each shop, oldest first. */
export const findEndpoints = async (
  runner: Runner,
  shops: readonly RowKey[],
): Promise<WebhookEndpoint[][]> => {
  const rows = await run<WebhookEndpoint>(runner, endpointsByShop, [
    shops.map(({ merchantId }) => merchantId),
    shops.map(({ id }) => id),
  ]);
  const byShop = Map.groupBy(rows, ({ shopId }) => shopId);
  return shops.map(({ id }) => byShop.get(id) ?? []);
};

/** So many attempts of a delivery are shown. Without a resend there are nine at most. */
const attemptsShown_max = 100;

const attemptsByDelivery: Statement = {
  name: 'attempt.by_delivery',
  text: `select last.* from unnest($1::uuid[], $2::uuid[]) as delivery(merchant_id, id) cross join lateral (
      select ${columns(propertyNames(WebhookAttemptEntity), 'attempt')} from webhook_attempt as attempt
      where attempt.merchant_id = delivery.merchant_id and attempt.delivery_id = delivery.id order by number desc limit ${attemptsShown_max}
    ) as last order by last.number`,
};

/** The attempts of each delivery, first to last. */
export const findAttempts = async (
  runner: Runner,
  deliveries: readonly RowKey[],
): Promise<WebhookAttempt[][]> => {
  const keys = [deliveries.map(({ merchantId }) => merchantId), deliveries.map(({ id }) => id)];
  const rows = await run<WebhookAttempt>(runner, attemptsByDelivery, keys);
  const byDelivery = Map.groupBy(rows, ({ deliveryId }) => deliveryId);
  return deliveries.map(({ id }) => byDelivery.get(id) ?? []);
};
