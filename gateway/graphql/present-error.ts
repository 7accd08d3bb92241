/**
 * What a client of the graph sees of an error: a code from a closed list, and words only when they
 * were meant for it (decision D-03).
 */
import type { GraphQLFormattedError } from 'graphql';
import { refusalCodes } from '../../subgraphs/kernel/rules/refusal.ts';

/**
 * Codes whose messages were written for the caller: the contract's words, and one that clients with
 * persisted queries (APQ) look for.
 */
const shownCodes: ReadonlySet<unknown> = new Set([
  ...refusalCodes,
  'forbidden',
  'payload_too_large',
  'query_too_complex',
  'rate_limited',
  'unavailable',
  'unsupported_media_type',
  'PERSISTED_QUERY_NOT_FOUND',
]);

/**
 * Apollo's and GraphQL's own words for a request that is the caller's mistake: it reads the
 * contract's instead.
 */
const badRequests: ReadonlySet<unknown> = new Set([
  'BAD_REQUEST',
  'BAD_USER_INPUT',
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
]);

/** What Apollo says of a persisted query that is the client's mistake, without a code. */
const mistakenQueries: ReadonlySet<string> = new Set([
  'provided sha does not match query',
  'Unsupported persisted query version',
]);

const codeOf = (message: string, code: unknown): unknown =>
  badRequests.has(code) || mistakenQueries.has(message) ? 'bad_request' : code;

/** Whether an error was meant for the client, so that it keeps its words. */
export const isForClients = ({
  message,
  extensions,
}: Pick<GraphQLFormattedError, 'message' | 'extensions'>): boolean =>
  extensions?.['exceeded'] !== undefined || shownCodes.has(codeOf(message, extensions?.['code']));

/**
 * The error as a client may see it. Whatever is not meant for clients becomes `internal_error`
 * without detail.
 */
export const presentError = ({
  message,
  locations,
  path,
  extensions,
}: GraphQLFormattedError): GraphQLFormattedError => {
  // What is over a limit is found while validating, and Apollo gives it the code of what is not
  // valid.
  const over = extensions?.['exceeded'];
  const code = over ? 'query_too_complex' : codeOf(message, extensions?.['code']);
  const where = { ...(locations ? { locations } : {}), ...(path ? { path } : {}) };
  if (shownCodes.has(code))
    return { message, ...where, extensions: { code, ...(over ? { exceeded: over } : {}) } };
  return { message: 'internal error', ...where, extensions: { code: 'internal_error' } };
};
