/**
 * The growing lists of the cabinet: merchants and webhook deliveries, with a shop's endpoints and a
 * delivery's attempts.
 */
import { raw, type FilterQuery, type InferEntity } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { cabinetName_max_chars } from '../../schema/limits.ts';
import type {
  QuerymerchantsArgs,
  QuerywebhookDeliveriesArgs,
} from '../../schema/generated/merchants.ts';
import type { RowKey } from '../platform/database/batch-calls.ts';
import { isUuid } from '../rules/ids.ts';
import type { DeliveryPage } from './rows.ts';
import { findPage, given, spanOf, type Span, type Page } from '../platform/database/keyset.ts';
import { listTotal, readList, earlier, later, oneOf } from '../platform/database/lists.ts';
import type { ListedTable, ListQuery } from '../platform/database/list-statements.ts';
import { runByMerchant } from '../platform/database/sharding.ts';
import {
  columns,
  propertyNames,
  type Runner,
  type Statement,
} from '../platform/database/statement.ts';
import { modes } from '../rules/mode.ts';
import { isRefusal, refuse, type Refusal } from '../rules/refusal.ts';
import { MerchantEntity, type Merchant } from '../platform/database/entities.ts';
import {
  WebhookAttemptEntity,
  WebhookDeliveryEntity,
  WebhookEndpointEntity,
  type WebhookAttempt,
  type WebhookDelivery,
  type WebhookEndpoint,
} from './entities.ts';

/** SQL: a text with one spelling of each letter. */
const folded = (text: string): string => `lower(translate(normalize(${text}), 'ёЁ', 'еЕ'))`;

/** An id has so few letters that a shorter part of one is in many. */
const idPart = /^[0-9a-f-]{4,36}$/i;

/** The merchants whose name contains the text, or whose id does. */
const containing = (text: string): FilterQuery<InferEntity<typeof MerchantEntity>> => {
  const isIn = (column: string, part: string) => ({
    [raw(`strpos(${column}, ${folded('?')})`, [part])]: { $gt: 0 },
  });
  const named = isIn(folded('name'), text);
  return idPart.test(text) ? { $or: [named, isIn('id::text', text)] } : named;
};

/**
 * A page of merchants, newest first, whose name or id contains `name`; case is ignored and ё equals
 * е. `merchantId` selects one, `ids` those. `bad_request` for a wrong size or cursor, and for a
 * `name` that is longer than a name may be.
 */
export const listMerchants = (
  em: EntityManager,
  {
    merchantId,
    name: text = null,
    ids = null,
    ...page
  }: Partial<QuerymerchantsArgs> & { readonly merchantId: string | null },
): Promise<Page<Merchant> | Refusal> => {
  if (text !== null && text.length > cabinetName_max_chars)
    return Promise.resolve(
      refuse('bad_request', `name: at most ${cabinetName_max_chars} characters`),
    );
  const narrower = [
    ...(ids === null ? [] : [{ id: { $in: ids.filter(isUuid) } }]),
    ...(text === null || text.trim() === '' ? [] : [containing(text.trim())]),
  ];
  return findPage(
    em,
    {
      entity: MerchantEntity,
      at: 'createdAt',
      where: { ...given({ id: merchantId }), $and: narrower },
      bound: [merchantId, text, ids],
    },
    page,
  );
};

interface DeliveriesQuery extends Partial<Omit<QuerywebhookDeliveriesArgs, 'merchantId'>> {
  /** Null: all merchants, failed deliveries only. */
  readonly merchantId: string | null;
}

const deliveryTable: ListedTable = {
  table: { name: 'webhook_delivery', filters: {} },
  columns: columns(propertyNames(WebhookDeliveryEntity)),
  by: ['mode'],
  ofAll: "webhook_delivery.status = 'failed'",
};

/** The same query for a total, and for a list of all merchants. */
const wideQuery = (query: DeliveriesQuery, span: Span): ListQuery => {
  const { merchantId, mode, shopId, endpointId, event, status, ...more } = query;
  const { subjectId, first, after, last, before } = more;
  const text = (column: string, value: string | null | undefined) =>
    value === null || value === undefined
      ? []
      : [oneOf(`webhook_delivery.${column}::text`, [value])];
  return {
    page: { first, after, last, before },
    reach: { merchantId, shopIds: [], modes: mode ? [mode] : modes },
    span,
    columns: {},
    rows: [
      ...text('shop_id', shopId?.toLowerCase()),
      ...text('endpoint_id', endpointId?.toLowerCase()),
      ...text('subject_id', subjectId?.toLowerCase()),
      ...text('webhook_event', event),
      ...text('status', merchantId === null ? null : status),
    ],
    asked: [mode, shopId, endpointId, event, span.since, span.until, subjectId].map(
      (part) => part ?? null,
    ),
  };
};

/**
 * A page of webhook deliveries, newest event first: of one merchant, or the failed ones of all.
 * `bad_request` for a wrong size, cursor, day or id, and for another status over all merchants.
 */
export const listDeliveries = async (
  em: EntityManager,
  runner: Runner,
  query: DeliveriesQuery,
): Promise<DeliveryPage | Refusal> => {
  const { merchantId, shopId = null, endpointId = null, event = null, status = null } = query;
  const { mode = null, subjectId = null } = query;
  for (const [field, id] of Object.entries({ merchantId, shopId, endpointId, subjectId })) {
    if (id !== null && !isUuid(id)) return refuse('bad_request', `${field}: expected a UUID`);
  }
  const span = spanOf(query.from, query.to);
  if (isRefusal(span)) return span;
  const since = later(span.since, query.since);
  const until = earlier(span.until, query.until);
  const wide = wideQuery(query, { since, until });
  if (merchantId === null && (status ?? 'failed') !== 'failed')
    return refuse('bad_request', 'status: without merchantId, only failed deliveries are listed');
  if (merchantId === null) return readList<WebhookDelivery>(runner, deliveryTable, wide);
  const days = given({ $gte: since, $lt: until });
  const where = {
    merchantId,
    ...given({ mode, shopId, endpointId, subjectId, webhookEvent: event, status }),
    ...(since || until ? { createdAt: days } : {}),
  };
  const list = { entity: WebhookDeliveryEntity, at: 'createdAt', where } as const;
  const page = await findPage(em, list, query);
  if (isRefusal(page)) return page;
  return { ...page, total: () => listTotal(runner, deliveryTable, wide) };
};

/** The endpoints of each shop, oldest first. */
export const findEndpoints = async (
  em: EntityManager,
  shops: readonly RowKey[],
): Promise<WebhookEndpoint[][]> => {
  const rows = await em.find(
    WebhookEndpointEntity,
    {
      merchantId: { $in: [...new Set(shops.map(({ merchantId }) => merchantId))] },
      shopId: { $in: shops.map(({ id }) => id) },
    },
    { orderBy: { createdAt: 'asc', id: 'asc' }, disableIdentityMap: true },
  );
  const byShop = Map.groupBy(rows, ({ merchantId, shopId }) => `${merchantId}/${shopId}`);
  return shops.map(({ merchantId, id }) => byShop.get(`${merchantId}/${id}`) ?? []);
};

/** Attempts shown of a delivery. Without a resend there are at most nine. */
const attemptsShown_max = 100;

const attemptsByDelivery: Statement = {
  name: 'attempt.by_delivery',
  text: `select last.* from unnest($2::uuid[]) as delivery(id) cross join lateral (
      select ${columns(propertyNames(WebhookAttemptEntity), 'attempt')} from webhook_attempt as attempt
      where attempt.merchant_id = $1 and attempt.delivery_id = delivery.id order by number desc limit ${attemptsShown_max}
    ) as last order by last.number`,
};

/** The attempts of each delivery, first to last. */
export const findAttempts = async (
  runner: Runner,
  deliveries: readonly RowKey[],
): Promise<WebhookAttempt[][]> => {
  const rows = await runByMerchant<WebhookAttempt, RowKey>(
    runner,
    attemptsByDelivery,
    deliveries,
    (own) => [own.map(({ id }) => id)],
  );
  const byDelivery = Map.groupBy(rows, ({ deliveryId }) => deliveryId);
  return deliveries.map(({ id }) => byDelivery.get(id) ?? []);
};
