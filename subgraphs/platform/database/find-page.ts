/**
 * Pages of entities, newest first, by the ORM's cursors: for lists that grow and are not a shop's
 * registry. Callers receive the cursors of `keyset.ts`, whichever code reads the page.
 */
import type { EntityName, FilterQuery, QueryOrderMap } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { isRefusal, type Refusal } from '../../rules/refusal.ts';
import { pageAt, pageRange, type Page, type PageQuery } from './keyset.ts';

/** An entity that a list orders by the time `At`, and by its id among those of one time. */
type Listed<At extends string> = { readonly id: string } & {
  readonly [Name in At]: Temporal.Instant;
};

interface EntityList<Entity extends object, At extends string> {
  readonly entity: EntityName<Entity>;
  /** The property that holds the time. */
  readonly at: At;
  readonly where: FilterQuery<Entity>;
  /** The name of the list and the values of its filters: a cursor is bound to them. */
  readonly bound: readonly [list: string, filters: readonly unknown[]];
}

/** The filters; null or absent matches all. */
export const given = <Filters extends object>(filters: Filters) =>
  Object.fromEntries(
    Object.entries(filters).filter(([, value]) => value !== null && value !== undefined),
  ) as { [Name in keyof Filters]?: Exclude<Filters[Name], null | undefined> };

/**
 * One page of a list; `bad_request` for a size outside 1 to `limit`, or a wrong cursor. Rows are
 * fresh from the database, whatever the call read before.
 */
export const findPage = async <At extends string, Entity extends Listed<At>>(
  em: EntityManager,
  { entity, at, where, bound }: EntityList<Entity, At>,
  query: PageQuery,
  limit?: number,
): Promise<Page<Entity> | Refusal> => {
  const range = pageRange(query, bound, limit);
  if (isRefusal(range)) return range;
  const { size, backwards, position } = range;
  const cursor = position ? { [at]: position.createdAt, id: position.id } : undefined;
  const found = await em.findByCursor(entity, {
    where,
    orderBy: { [at]: 'desc', id: 'desc' } as QueryOrderMap<Entity>,
    [backwards ? 'last' : 'first']: size,
    ...(cursor && { [backwards ? 'before' : 'after']: cursor }),
    includeCount: false,
    disableIdentityMap: true,
  });
  const placed = (found.items as Entity[]).map((node) => ({
    node,
    position: { createdAt: node[at], id: node.id },
  }));
  return pageAt(placed, range, backwards ? found.hasPrevPage : found.hasNextPage);
};
