/** How long people stay logged in to the console. */

/** A session ends so long after its login, however busy it was. */
export const sessionLife_h = 12;
/** And so long after its last request. */
export const sessionIdle_min = 60;
/** How long a one-time link can be used. */
export const linkLife_min = 10;
/** How long an invitation can be used. */
export const invitationLife_h = 72;
/** Ended sessions and links are removed so long after their end. */
export const sessionKept_days = 30;

/** A session as it is kept, as far as its end depends on it. */
interface SessionTimes {
  /** Its last request, kept to the minute. */
  readonly seenAt: Temporal.Instant;
  /** Its absolute end. */
  readonly endsAt: Temporal.Instant;
}

/** When a session ends unless it is used: the earlier of its idle and its absolute end. */
export const endOf = ({ seenAt, endsAt }: SessionTimes): Temporal.Instant => {
  const idle = seenAt.add({ minutes: sessionIdle_min });
  return idle.epochMilliseconds < endsAt.epochMilliseconds ? idle : endsAt;
};
