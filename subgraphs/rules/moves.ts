/** A state machine is one table; nothing else decides a status. */

/** From each status, the triggers that are allowed and where they lead. */
export type Moves<Status extends string, Trigger extends string> = Record<
  Status,
  Partial<Record<Trigger, Status>>
>;

/** Where `trigger` leads from `from`; undefined when the table has no such move. */
export const move = <Status extends string, Trigger extends string>(
  moves: Moves<Status, Trigger>,
  from: Status,
  trigger: Trigger,
): Status | undefined => moves[from][trigger];
