/**
 * GraphQL resolvers for the request log: a key reads its own shop's, a person that of a named shop.
 */
import { raw, type FilterQuery, type InferEntity } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { LRUCache } from 'lru-cache';
import type {
  MutationResolvers,
  QueryResolvers,
  Resolvers,
  ApiRequestNote,
  QueryapiRequestsArgs,
} from '../../../schema/generated/merchants.ts';
import { rfc3339 } from '../../../schema/scalars.ts';
import { orThrow } from '../../platform/access/access.ts';
import { findPage, given, spanOf, type Page } from '../../platform/database/keyset.ts';
import type { OnDatabase } from '../../platform/database/orm.ts';
import { emOn } from '../../platform/database/orm-connections.ts';
import { eachMerchant } from '../../platform/database/sql-file.ts';
import {
  newRowId,
  asRow,
  run,
  type Runner,
  type Statement,
} from '../../platform/database/statement.ts';
import type { OfShop } from '../../platform/graph/entities.ts';
import { isRefusal, refuse, type Refusal, textMistake } from '../../rules/refusal.ts';
import { requestsKept_days } from '../../rules/retention.ts';
import { ApiRequestEntity, type ApiRequest } from '../entities.ts';
import { shopOf } from '../event-log/resolvers.ts';

/* Reads the request log of a shop in one mode: the last seven days. */

type RequestsQuery = Partial<Omit<QueryapiRequestsArgs, 'merchantId' | 'shopId' | 'mode'>>;

const find_max_chars = 128;

/** The log of a shop, as far as it is kept. */
const logOf = ({ merchantId, shopId, mode }: OfShop, now: Temporal.Instant) => ({
  merchantId,
  shopId,
  mode,
  createdAt: { $gte: now.subtract({ hours: 24 * requestsKept_days }) },
});

const isIn = (column: string, text: string) => ({
  [raw(`strpos(${column}, ?)`, [text])]: { $gt: 0 },
});

/** The requests that a text names. */
const naming = (text: string): FilterQuery<InferEntity<typeof ApiRequestEntity>> => ({
  $or: [
    { requestId: text },
    { idempotencyKey: text },
    { code: text },
    isIn('path', text),
    { [raw('starts_with(key_prefix, ?)', [text])]: true },
    { status: { $lt: 300 }, ...isIn('response_body', text) },
  ],
});

/** A page of requests, newest first. `bad_request` for a wrong size, cursor, day or text. */
const findRequests = async (
  em: EntityManager,
  shop: OfShop,
  { first, after, status = null, from, to, find = null }: RequestsQuery,
  now: Temporal.Instant,
): Promise<Page<ApiRequest> | Refusal> => {
  const { merchantId, shopId, mode } = shop;
  const mistake = textMistake('find', find, 1, find_max_chars);
  if (mistake) return refuse('bad_request', mistake);
  const span = spanOf(from, to);
  if (isRefusal(span)) return span;
  const days = given({ $gte: span.since, $lt: span.until });
  const narrower = [
    ...(span.since || span.until ? [{ createdAt: days }] : []),
    ...(status ? [{ status: { $in: status } }] : []),
    ...(find === null ? [] : [naming(find)]),
  ];
  const where = { ...logOf(shop, now), $and: narrower };
  const bound = [merchantId, shopId, mode, status, from, to, find];
  const list = { entity: ApiRequestEntity, at: 'createdAt', where, bound } as const;
  return findPage(em, list, { first, after });
};

/** The newest request of an `X-Request-Id`, or of those of one moment; null when there is none. */
const findRequest = (
  em: EntityManager,
  shop: OfShop,
  { id, at }: { readonly id: string; readonly at?: Temporal.Instant | null | undefined },
  now: Temporal.Instant,
): Promise<ApiRequest | null> =>
  em.findOne(
    ApiRequestEntity,
    { ...logOf(shop, now), requestId: id, ...(at ? { $and: [{ createdAt: at }] } : {}) },
    { orderBy: { createdAt: 'desc', id: 'desc' }, disableIdentityMap: true },
  );

export const requestQueries = ({ database }: OnDatabase<'emOf'>) =>
  ({
    apiRequests: async (_, { merchantId, shopId, mode, ...query }, context) =>
      orThrow(
        await findRequests(
          database.emOf(context),
          shopOf(context.principal, { merchantId, shopId, mode }),
          query,
          Temporal.Now.instant(),
        ),
      ),
    apiRequest: (_, { id, at, ...named }, context) =>
      findRequest(
        database.emOf(context),
        shopOf(context.principal, named),
        { id, at },
        Temporal.Now.instant(),
      ),
  }) satisfies QueryResolvers;

// Stores the request log. The edge sends batches about once a second, so no call waits for its row;
// a killed process loses its last second.

/** Requests kept for each merchant, so that none can fill the disk. The oldest are removed. */
const requestsOfMerchant_max = 20_000;
/** New requests of a merchant between checks of the limit. */
const looked_rows = 1_000;
const merchants_max = 10_000;

const insert: Statement = {
  name: 'api_request.insert',
  text: `insert into api_request select * from jsonb_populate_recordset(null::api_request, $2::jsonb) as row where row.merchant_id = $1`,
};

/** Removes the oldest requests of a merchant, all but so many. */
const trim = async (runner: Runner, merchantId: string, kept: number): Promise<void> => {
  const em = emOn(runner);
  const order = { orderBy: { createdAt: 'desc', id: 'desc' }, offset: kept, limit: 1 } as const;
  for (const { createdAt, id } of await em.find(ApiRequestEntity, { merchantId }, order)) {
    const isOld = raw('(created_at, id) <= (?::timestamptz, ?::uuid)', [rfc3339(createdAt), id]);
    await em.nativeDelete(ApiRequestEntity, { merchantId, [isOld]: [] });
  }
};

const rowOf = ({ at: createdAt, durationMs: duration_ms, ...note }: ApiRequestNote): object =>
  asRow({ ...note, id: newRowId(), createdAt, duration_ms });

/**
 * Opens the writer, which returns the number of rows stored and keeps `kept_max` for each merchant.
 */
export const openRequestStore = (runner: Runner, kept_max: number = requestsOfMerchant_max) => {
  const written = new LRUCache<string, number>({ max: merchants_max });
  return async (notes: readonly ApiRequestNote[]): Promise<number> => {
    await eachMerchant(notes, async (own, merchantId) => {
      await run(runner, insert, [merchantId, JSON.stringify(own.map(rowOf))]);
      const sum = (written.get(merchantId) ?? 0) + own.length;
      written.set(merchantId, sum < looked_rows ? sum : 0);
      if (sum >= looked_rows) await trim(runner, merchantId, kept_max);
      return [];
    });
    return notes.length;
  };
};

/** Requests from the edge. */
export const requestMutations = ({ database: { pool } }: OnDatabase<'pool'>) => {
  const store = openRequestStore(pool);
  return {
    apiRequestsNote: (_, { requests }) => store(requests),
  } satisfies MutationResolvers;
};

export const requestFields = {
  ApiRequest: {
    id: ({ requestId }) => requestId,
    at: ({ createdAt }) => createdAt,
    durationMs: ({ duration_ms }) => duration_ms,
  },
} satisfies Resolvers;
