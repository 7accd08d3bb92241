/**
 * Commission rates as operators set them. Decision D-36: platform, merchant, shop; per method;
 * dated, never retroactive.
 */
import { randomUUID } from 'node:crypto';
import {
  behindCursor,
  newestFirst,
  readPage,
  type Page,
  type PageQuery,
} from '../../kernel/database/page.ts';
import { columns, run, type Runner, type Statement } from '../../kernel/database/statement.ts';
import { settableMethods, type SettableMethod } from '../../kernel/ledger/rate.ts';
import { isRefused, refused, type Refused } from '../../kernel/rules/refusal.ts';
import type { Acting } from '../audit.ts';
import { beginning, changePolicy, missing, type PolicyParts } from './change-policy.ts';

/** A rate of some level. `createdAt`, by which it is paged, is its beginning. */
export interface RateRow {
  readonly id: string;
  readonly merchantId: string | null;
  readonly shopId: string | null;
  readonly method: SettableMethod;
  readonly rateBps: number;
  readonly since: Temporal.Instant;
  readonly createdAt: Temporal.Instant;
}

const rateColumns = `${columns(['id', 'merchantId', 'shopId', 'method', 'rateBps', 'since'])}, since as "createdAt"`;
const before: Statement = {
  name: 'rate.before',
  text: `select ${rateColumns} from rate where merchant_id is not distinct from $1::uuid and shop_id is not distinct from $2::uuid and method = $3 and since <= $4
    order by since desc limit 1`,
};
const remove: Statement = { name: 'rate.replace', text: 'delete from rate where id = $1' };
const insert: Statement = {
  name: 'rate.insert',
  text: `insert into rate (id, merchant_id, shop_id, method, rate_bps, since) values ($1, $2, $3, $4, $5, $6) returning ${rateColumns}`,
};

export interface RateInput {
  readonly merchantId?: string | null | undefined;
  readonly shopId?: string | null | undefined;
  readonly method: string;
  readonly rateBps: number;
  readonly since?: Temporal.Instant | null | undefined;
}

const mistakeIn = ({ merchantId, shopId, method, rateBps }: RateInput): string | null => {
  if (shopId && !merchantId) return 'merchantId: a shop’s rate names its merchant, too';
  if (!settableMethods.some((known) => known === method))
    return `method: expected one of ${settableMethods.join(', ')}, got ${method}`;
  return rateBps >= 0 && rateBps <= 10_000
    ? null
    : `rateBps: expected an integer from 0 to 10,000, got ${rateBps}`;
};

/**
 * Sets a rate at the level that is named. Refuses with `not_found` or, for a wrong value or a
 * moment that is past, `bad_request`.
 */
export const setRate = async (
  parts: PolicyParts,
  acting: Acting,
  input: RateInput,
): Promise<RateRow | Refused> => {
  const mistake = mistakeIn(input);
  if (mistake) return refused('bad_request', mistake);
  const now = acting.now();
  const since = beginning(input.since, now);
  if (isRefused(since)) return since;
  const { merchantId = null, shopId = null, method, rateBps } = input;
  const id = randomUUID();
  return changePolicy(
    parts,
    acting,
    { action: 'rate.set', merchantId, subject: { kind: 'rate', id } },
    async (client) => {
      const gone = merchantId === null ? null : await missing(client, merchantId, shopId);
      if (gone) return gone;
      const [last] = await run<RateRow>(client, before, [merchantId, shopId, method, since]);
      if (last && Temporal.Instant.compare(last.since, since) === 0) {
        if (last.since.epochMilliseconds <= now.epochMilliseconds)
          return refused(
            'bad_request',
            'since: a rate of this level begins at this moment already',
          );
        await run(client, remove, [last.id]);
      }
      const [rate] = await run<RateRow>(client, insert, [
        id,
        merchantId,
        shopId,
        method,
        rateBps,
        since,
      ]);
      if (!rate) throw new Error('an insert gave no row');
      return {
        before: last ? { rateBps: last.rateBps, since: last.since } : null,
        after: { shopId, method, rateBps, since },
        result: rate,
      };
    },
  );
};

const history: Statement = {
  name: 'rate.history',
  text: `select ${rateColumns} from rate where ${behindCursor('since', 'id')} and merchant_id is not distinct from $4::uuid
    and ($5::uuid is null or shop_id = $5) and ($6::text is null or method = $6) ${newestFirst('since', 'id')}`,
};

/**
 * Rates as they were set, latest beginning first: the platform's (`merchantId` null), a merchant's
 * own and its shops', or one shop's.
 */
export const listRates = (
  runner: Runner,
  {
    merchantId,
    shopId,
    method,
    ...page
  }: PageQuery & {
    readonly merchantId: string | null;
    readonly shopId: string | null;
    readonly method: string | null;
  },
): Promise<Page<RateRow> | Refused> =>
  readPage(runner, history, [merchantId, shopId, method], page);
