/**
 * A list as callers request it: without a filter it is a merchant's registry, which REST also
 * reads; with a filter, or for all merchants, it is a filtered list.
 */
import { modes as allModes, type Mode } from '../../rules/mode.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import { asCame } from '../../rules/texts.ts';
import { isUuid } from '../../rules/ids.ts';
import type { Principal } from '../access/principal.ts';
import { listTotal, readList, type ListedPage } from './filtered-list.ts';
import type { ListedTable, ListQuery, RowFilter, WideReach } from './list-statements.ts';
import {
  recordable,
  spanOf,
  type Page,
  type PageQuery,
  type Position,
  type Span,
} from './keyset.ts';
import { reachOf } from './reach.ts';
import { distinct, type RegistryQuery } from './registry.ts';
import type { Reach } from './reach.ts';
import type { Runner } from './statement.ts';

type Given<Value> = Value | null | undefined;

/** What every filter of a list has; null or absent matches all. */
interface CommonFilter {
  readonly shopId?: Given<readonly string[]>;
  readonly mode?: Given<readonly Mode[]>;
  readonly amountFrom?: Given<bigint>;
  readonly amountTo?: Given<bigint>;
  /** From this moment on, and before that one; combined with `from` and `to`, both apply. */
  readonly since?: Given<Temporal.Instant>;
  readonly until?: Given<Temporal.Instant>;
}

/** The request. */
export interface ListRequest extends PageQuery {
  readonly merchantId?: Given<string>;
  /** The modes for people who name none; absent: live. */
  readonly modes?: readonly Mode[];
  /** Adds test rows for a live key, and for people who name no modes. */
  readonly includeTest?: boolean;
  readonly from?: Given<string>;
  readonly to?: Given<string>;
  /** Values of the registry's filter columns. */
  readonly columns: Readonly<Record<string, Given<readonly string[]>>>;
  readonly filter?: Given<CommonFilter>;
  /** Conditions of the list's own filter fields; a value of null or undefined is none. */
  readonly rows?: readonly RowFilter[];
}

/** A row has one of these values; `column` is with its table. */
export const oneOf = (column: string, values: Given<readonly string[]>): RowFilter => ({
  sql: (parameter) => `${column} = any (${parameter}::text[])`,
  value: values,
});

/** A row has this value; an index orders a merchant's rows by it, behind `indexedBy`. */
export const exactly = (
  column: string,
  value: Given<string>,
  { type = 'text', indexedBy = [] }: Pick<RowFilter, 'indexedBy'> & { type?: 'text' | 'uuid' } = {},
): RowFilter => ({ sql: (parameter) => `${column} = ${parameter}::${type}`, value, indexedBy });

/** A row belongs to this payment; `bad_request` for an invalid id. */
export const ofPaymentId = (column: string, id: Given<string>): RowFilter | Refusal =>
  typeof id === 'string' && !isUuid(id)
    ? refuse('bad_request', `payment_id: expected a UUID, got ${asCame(id)}`)
    : exactly(column, id?.toLowerCase(), { type: 'uuid' });

/** The later of two moments; either may be missing. */
export const later = (one: Temporal.Instant | null, other: Given<Temporal.Instant>) =>
  one && other ? (Temporal.Instant.compare(one, other) > 0 ? one : other) : (one ?? other ?? null);
/** The earlier of two moments. */
export const earlier = (one: Temporal.Instant | null, other: Given<Temporal.Instant>) =>
  one && other ? (Temporal.Instant.compare(one, other) < 0 ? one : other) : (one ?? other ?? null);

const mistakeIn = ({ shopId, since, until, amountFrom, amountTo }: CommonFilter): string | null => {
  const wrong = shopId?.find((id) => !isUuid(id));
  if (wrong !== undefined) return 'filter.shopId: expected UUIDs';
  if (since && until && Temporal.Instant.compare(since, until) > 0)
    return 'filter.since: expected a moment not after filter.until';
  return (amountFrom ?? 0n) > (amountTo ?? amountFrom ?? 0n)
    ? 'filter.amountFrom: expected no more than filter.amountTo'
    : null;
};

/** The rows that a caller reads for these names; a key never reads beyond its own shop and mode. */
const reachWithin = async (
  runner: Runner,
  principal: Principal,
  { merchantId, modes = ['live'], includeTest = false, filter }: ListRequest,
): Promise<WideReach> => {
  const isEverybody = principal.kind === 'operator' && principal.merchantId === null && !merchantId;
  const named: WideReach = isEverybody
    ? { merchantId: null, shopIds: [], modes: [] }
    : await reachOf(runner, principal, merchantId, includeTest);
  const own = principal.kind === 'key' ? named.modes : includeTest ? allModes : modes;
  const reached = filter?.mode
    ? (principal.kind === 'key' ? named.modes : allModes).filter((mode) =>
        filter.mode?.includes(mode),
      )
    : own;
  const shops = filter?.shopId?.map((id) => id.toLowerCase());
  const shopIds = shops ? named.shopIds.filter((id) => shops.includes(id)) : named.shopIds;
  return { merchantId: named.merchantId, shopIds, modes: reached };
};

const rowsOf = (listed: ListedTable, reach: WideReach, request: ListRequest): RowFilter[] => {
  const { shopId, amountFrom, amountTo } = request.filter ?? {};
  const name = listed.table.name;
  const isShopInIndex = reach.merchantId !== null && (listed.by ?? ['shop']).includes('shop');
  const amount = listed.amount ?? `${name}.amount`;
  const filters: RowFilter[] = [
    {
      sql: (parameter) => `${name}.shop_id = any (${parameter}::uuid[])`,
      value: isShopInIndex ? null : shopId,
    },
    { sql: (parameter) => `${amount} >= ${parameter}::int8`, value: amountFrom },
    { sql: (parameter) => `${amount} <= ${parameter}::int8`, value: amountTo },
    ...(request.rows ?? []),
  ];
  return filters.filter(({ value }) => value !== null && value !== undefined);
};

const queryOf = async (
  runner: Runner,
  principal: Principal,
  listed: ListedTable,
  request: ListRequest,
): Promise<ListQuery | Refusal> => {
  const { filter, from, to, first, after, last, before } = request;
  const mistake = mistakeIn(filter ?? {});
  if (mistake) return refuse('bad_request', mistake);
  const days = spanOf(from, to);
  if (isRefusal(days)) return days;
  const span: Span = {
    since: later(days.since, filter?.since && recordable(filter.since)),
    until: earlier(days.until, filter?.until && recordable(filter.until)),
  };
  const reach = await reachWithin(runner, principal, request);
  const columns = Object.fromEntries(
    Object.entries(request.columns).map(([name, values]) => [name, values && distinct(values)]),
  );
  const rows = rowsOf(listed, reach, request);
  const values = rows.map(({ sql, value }) => [
    sql('', () => null),
    typeof value === 'bigint' ? String(value) : value,
  ]);
  const asked = [span.since, span.until, columns, values].map((part) => part ?? null);
  return { page: { first, after, last, before }, reach, span, columns, rows, asked };
};

/** Reads the pages of a registry, as `registry` makes it. */
type ReadRegistry<Row> = (
  runner: Runner,
  reach: Reach,
  query: RegistryQuery,
) => Promise<Page<Row> | Refusal>;

/**
 * A list for every caller. `bad_request` for a wrong filter, day, size or cursor, and for a person
 * who must name a merchant and does not.
 */
export const openList =
  <Row extends Position>(listed: ListedTable, readRegistry: ReadRegistry<Row> | null) =>
  async (
    runner: Runner,
    principal: Principal,
    request: ListRequest,
  ): Promise<ListedPage<Row> | Refusal> => {
    const query = await queryOf(runner, principal, listed, request);
    if (isRefusal(query)) return query;
    const { reach } = query;
    const { merchantId } = reach;
    // A registry supports only its own columns and days.
    if (request.filter || query.rows.length > 0 || merchantId === null || !readRegistry)
      return readList<Row>(runner, listed, query);
    const { from, to } = request;
    const asked = { ...query.page, from, to, filters: query.columns };
    const page = await readRegistry(runner, { ...reach, merchantId }, asked);
    return isRefusal(page) ? page : { ...page, total: () => listTotal(runner, listed, query) };
  };
