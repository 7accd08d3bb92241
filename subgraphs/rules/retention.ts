/**
 * How long rows are kept that go by their age (docs/operations.md#retention). Idempotency keys have a promised time
 * (docs/contract.md#how-long-keys-are-kept), resuming a stream needs a day of events, and retries
 * of webhooks need four days. Money is never removed.
 */

/** Unless the installation sets another (RETENTION_EVENTS_DAYS). */
export const eventsKeptDefault_days = 90;
export const eventsKept_min_days = 7;
export const keysKept_days = 30;
/** Longer than a webhook is tried. */
export const tracesKept_days = 8;
/** A year and a month: what an auditor of the year before still asks for. */
export const registriesKept_days = 400;
export const alertsKept_days = 400;
/** As long as books of account are kept. */
export const differencesKept_days = 1_830;
/** Longer than a card is held, a link is open or a shop of test mode is tried. */
export const testOperationsKept_days = 400;
/** Longer than what was set aside waits for its next try. */
export const deadLettersKept_days = 2;
/** The hours that operators may look back over. */
export const bankHealthKept_days = 2;
export const requestsKept_days = 7;
