/**
 * Errors as clients of the graph see them: a code from a closed list, and a message only when it
 * was meant for them.
 */
import { type GraphQLFormattedError, GraphQLError } from 'graphql';
import { refusalCodes, withoutSensitive } from '../../subgraphs/rules/refusal.ts';

/**
 * Codes whose messages are written for callers: those of docs/contract.md#errors, and one that
 * clients with persisted queries (APQ) expect.
 */
const shownCodes: ReadonlySet<unknown> = new Set([
  ...refusalCodes,
  'console_outdated',
  'forbidden',
  'payload_too_large',
  'query_too_complex',
  'rate_limited',
  'unavailable',
  'unsupported_media_type',
  'PERSISTED_QUERY_NOT_FOUND',
]);

/** Codes of Apollo and GraphQL for a client's mistake, and the code that replaces each. */
const badRequests: ReadonlySet<unknown> = new Set([
  'BAD_REQUEST',
  'BAD_USER_INPUT',
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
]);

/** Apollo's messages for mistaken persisted queries, which have no code. */
const mistakenQueries: ReadonlySet<string> = new Set([
  'provided sha does not match query',
  'Unsupported persisted query version',
]);

const codeOf = (message: string, code: unknown): unknown =>
  badRequests.has(code) || mistakenQueries.has(message) ? 'bad_request' : code;

/** Whether an error is meant for the client and keeps its message. */
export const isForClients = ({
  message,
  extensions,
}: Pick<GraphQLFormattedError, 'message' | 'extensions'>): boolean =>
  extensions?.['exceeded'] !== undefined || shownCodes.has(codeOf(message, extensions?.['code']));

/** The error as a client may see it. Any other error becomes `internal_error` without detail. */
export const presentError = ({
  message,
  locations,
  path,
  extensions,
}: GraphQLFormattedError): GraphQLFormattedError => {
  // Limits are checked by validation, whose errors get Apollo's code for invalid documents.
  const over = extensions?.['exceeded'];
  const code = over ? 'query_too_complex' : codeOf(message, extensions?.['code']);
  const where = { ...(locations ? { locations } : {}), ...(path ? { path } : {}) };
  if (shownCodes.has(code)) {
    // GraphQL's own rules quote the document, in which a card number may be misplaced.
    const shown = code === 'bad_request' ? withoutSensitive(message) : message;
    return { message: shown, ...where, extensions: { code, ...(over ? { exceeded: over } : {}) } };
  }
  return { message: 'internal error', ...where, extensions: { code: 'internal_error' } };
};

/**
 * An error of a document as its caller sees it: a code, and a message for a person. `status` is that
 * of the answer over HTTP, where it is not 200.
 */
export const codedError = (code: string, message: string, status?: number): GraphQLError =>
  new GraphQLError(message, {
    extensions: { code, ...(status === undefined ? {} : { http: { status } }) },
  });

/** What was thrown, as an error of the answer: one that is not meant for clients says nothing. */
export const errorOf = (thrown: unknown): GraphQLError =>
  thrown instanceof GraphQLError
    ? thrown
    : new GraphQLError('internal error', {
        originalError: thrown instanceof Error ? thrown : null,
      });
