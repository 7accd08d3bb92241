/** What an error is: its code, and whether it means that the database is away. */

/**
 * PostgreSQL's classes and codes: 08 connection, 57P01 to 57P03 shutting down and starting, 53300
 * no connection left, 25006 a standby that was the primary before. PgBouncer speaks of lost servers
 * as 08P01 and 08006.
 */
const lostStates = /^(08|57P0[123]$|53300$|25006$)/;
const lostSockets: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
/** Messages of the package `pg`, which has no codes for them. */
const lostWords =
  /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect|Query read timeout)/;

/** The code that Node, PostgreSQL or a bank's connection gives an error; '' without one. */
export const errorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/**
 * True for every error that reports a lost, refused or ending connection. The statement may have
 * taken effect.
 */
export const isDatabaseLost = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  const code = errorCode(error);
  return (
    lostStates.test(code) ||
    lostSockets.has(code) ||
    lostWords.test(error.message) ||
    isDatabaseLost(error.cause)
  );
};
