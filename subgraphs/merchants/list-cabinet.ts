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
import { readList, earlier, exactly, later, oneOf } from '../platform/database/lists.ts';
import type { ListedTable, ListQuery } from '../platform/database/list-statements.ts';
import { runByMerchant } from '../platform/database/sql-file.ts';
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

/** Of one merchant; an index orders them by time, whatever their shop and mode. */
const ofMerchant: ListedTable = {
  table: { name: 'webhook_delivery', filters: {} },
  columns: columns(propertyNames(WebhookDeliveryEntity)),
  by: [],
};
const failedOfMerchant: ListedTable = {
  ...ofMerchant,
  table: { ...ofMerchant.table, always: "webhook_delivery.status = 'failed'" },
};
const failedOfAll: ListedTable = { ...failedOfMerchant, by: ['mode'] };

/** What a request asks for; a value of null or undefined matches all. */
const deliveriesQuery = (request: DeliveriesQuery, span: Span): ListQuery => {
  const { merchantId, mode, shopId, endpointId, event, status, subjectId, ...page } = request;
  const is = (column: string, value: string | null | undefined) =>
    oneOf(`webhook_delivery.${column}::text`, value ? [value] : null);
  const rows = [
    exactly('webhook_delivery.subject_id', subjectId, { type: 'uuid' }),
    is('shop_id', shopId?.toLowerCase()),
    is('endpoint_id', endpointId?.toLowerCase()),
    is('webhook_event', event),
    is('status', status === 'failed' ? null : status),
    is('mode', merchantId === null ? null : mode),
  ].filter(({ value }) => value !== null && value !== undefined);
  return {
    page,
    reach: { merchantId, shopIds: [], modes: mode ? [mode] : modes },
    span,
    columns: {},
    rows,
    asked: [mode, shopId, endpointId, event, status, subjectId, span].map((part) => part ?? null),
  };
};

/**
 * A page of webhook deliveries, newest event first: of one merchant, or the failed ones of all.
 * `bad_request` for a wrong size, cursor, day or id, and for another status over all merchants.
 */
export const listDeliveries = async (
  runner: Runner,
  query: DeliveriesQuery,
): Promise<DeliveryPage | Refusal> => {
  const { merchantId, shopId, endpointId, subjectId, status } = query;
  for (const [field, id] of Object.entries({ merchantId, shopId, endpointId, subjectId })) {
    if (typeof id === 'string' && !isUuid(id))
      return refuse('bad_request', `${field}: expected a UUID`);
  }
  const days = spanOf(query.from, query.to);
  if (isRefusal(days)) return days;
  const span = { since: later(days.since, query.since), until: earlier(days.until, query.until) };
  if (merchantId === null && (status ?? 'failed') !== 'failed')
    return refuse('bad_request', 'status: without merchantId, only failed deliveries are listed');
  const ofOne = status === 'failed' ? failedOfMerchant : ofMerchant;
  const listed = merchantId === null ? failedOfAll : ofOne;
  return readList<WebhookDelivery>(runner, listed, deliveriesQuery(query, span));
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
