/** A state machine is one table; nothing else decides a status. */

/** Where a trigger leads from a status; undefined when the table has no such move. */
export const movesBy =
  <Status extends string, Trigger extends string>(
    moves: Record<Status, Partial<Record<Trigger, Status>>>,
  ) =>
  (from: Status, trigger: Trigger): Status | undefined =>
    moves[from][trigger];
