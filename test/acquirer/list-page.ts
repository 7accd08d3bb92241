/** A page of the acquirer's lists. */
import type { ApiResponse } from './exchange.ts';

const pageDefault = 10;

interface Listed {
  readonly id: string;
  readonly createdAt: Date;
}

/** One page, the newest first, as the acquirer lists. */
export const listOf = <Item extends Listed>(
  items: Iterable<Item>,
  query: URLSearchParams,
  fits: (item: Item) => boolean,
  view: (item: Item) => object,
): ApiResponse => {
  const from = query.get('created_at.gte');
  const until = query.get('created_at.lte');
  const within = ({ createdAt }: Item): boolean =>
    (!from || createdAt >= new Date(from)) && (!until || createdAt <= new Date(until));
  const fitting = [...items].filter((item) => within(item) && fits(item)).toReversed();
  const start = Number(query.get('cursor') ?? 0);
  const stop = start + Number(query.get('limit') ?? pageDefault);
  const next = stop < fitting.length ? { next_cursor: String(stop) } : {};
  return {
    status: 200,
    body: { type: 'list', items: fitting.slice(start, stop).map(view), ...next },
  };
};
