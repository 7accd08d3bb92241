/** Events of the log as the public JSON has them (additions, section 4). */
import type { GetLoggedEventQuery, LoggedEventFieldsFragment } from './generated/operations.ts';

/** An event as its webhook has it. */
export const loggedEventJson = ({ id, event, createdAt, data }: LoggedEventFieldsFragment) => ({
  id,
  event: event.replace('_', '.'),
  created_at: createdAt,
  data,
});

/** An event with what became of its webhooks. */
export const deliveredEventJson = (event: NonNullable<GetLoggedEventQuery['loggedEvent']>) => ({
  ...loggedEventJson(event),
  deliveries: event.deliveries.map(({ url, status, attemptLog }) => ({
    url,
    status,
    attempts: attemptLog.map(({ at, durationMs, status: answered, error }) => ({
      at,
      duration_ms: durationMs,
      status: answered,
      error,
    })),
  })),
});
