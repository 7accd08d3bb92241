/**
 * The names of lanes. A lane is an endpoint, by its id, or the origin of payments' own addresses of
 * one merchant in one mode: who shares an origin with others waits for none of them.
 */

/** SQL: the lane of an event's own address. An origin has no `#`. */
export const ownLaneOf = (event: string): string => String.raw`concat(
        coalesce(lower(substring(${event}.webhook_url from '^[A-Za-z]+://[^/?#\\]+')), ${event}.webhook_url),
        '#', ${event}.merchant_id, '/', ${event}.mode)`;

/**
 * Who a lane counts for. Own addresses are as many as a merchant likes, so they count for it;
 * endpoints are few, and each counts for itself.
 */
export const ownerOf = (lane: string): string =>
  /#([0-9a-f-]{36})\/[a-z]+$/.exec(lane)?.[1] ?? lane;

/**
 * The lanes by turns of their owners, at most so many of each: nobody's are behind all of
 * another's.
 */
export const byTurns = (lanes: readonly string[], most = lanes.length): readonly string[] => {
  const owned = [...Map.groupBy(lanes, ownerOf).values()];
  const longest = Math.min(most, Math.max(0, ...owned.map(({ length }) => length)));
  return Array.from({ length: longest }, (_, turn) =>
    owned.flatMap((its) => its.slice(turn, turn + 1)),
  ).flat();
};
