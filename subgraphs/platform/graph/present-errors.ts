/** The errors that may leave a subgraph: only what a resolver sends deliberately. */
import { DriverException } from '@mikro-orm/core';
import { GraphQLError, type ExecutionResult } from 'graphql';
import type { Call } from '../access/principal.ts';
import { isDatabaseLost } from '../tracing/error-code.ts';
import { internalErrors, type Logger } from '../tracing/telemetry.ts';

/**
 * Passes deliberate errors (a GraphQLError with a code), masks and logs the rest: `unavailable`,
 * which is retryable, when the database is away.
 */
export const presentErrors = (
  result: ExecutionResult,
  call: Call,
  log: Logger,
): ExecutionResult => {
  const refusedInput = !('data' in result);
  const errors = (result.errors ?? []).map((error) =>
    refusedInput ? presentInputError(error) : presentError(error, call, log),
  );
  return { data: result.data ?? null, errors };
};

/**
 * The code of a deliberate error. The ORM wraps what a connection throws, a refusal of the lane
 * among it, in an error with the same properties.
 */
const codeOf = ({ originalError, extensions }: GraphQLError): string | null => {
  const isOurs = originalError instanceof GraphQLError || originalError instanceof DriverException;
  if (originalError && !isOurs) return null;
  // Errors of graphql-jit may have none.
  const code = extensions?.['code'];
  return typeof code === 'string' ? code : null;
};

const presentError = (error: GraphQLError, call: Call, log: Logger): GraphQLError => {
  const path = error.path ? { path: error.path } : {};
  if (codeOf(error) !== null)
    return new GraphQLError(error.message, { ...path, extensions: error.extensions });
  if (isDatabaseLost(error.originalError)) {
    log.error(
      { err: error.originalError, path: error.path, requestId: call.requestId },
      'the database did not answer',
    );
    return new GraphQLError('a part of the service did not answer', {
      ...path,
      extensions: { code: 'unavailable' },
    });
  }
  internalErrors.inc();
  log.error(
    { err: error.originalError ?? error, path: error.path, requestId: call.requestId },
    'a resolver failed',
  );
  return new GraphQLError('internal error', {
    ...path,
    extensions: { code: 'INTERNAL_SERVER_ERROR' },
  });
};

const variableName = /^Variable "\$(\w+)"/;
/** Reasons that quote the schema, and of the caller at most the name of a field. */
const reasonAtEnd =
  /; (Field "[A-Za-z_]\w*" (?:of required type "?[\w![\]]+"? was not provided|is not defined by type "?\w+"?)\.(?: Did you mean "\w+"(?:,? (?:or )?"\w+")*\?)?|Expected (?:non-nullable )?type "?[\w![\]]+"? (?:not to be null|to be an object)\.)$/;

/**
 * An error in a variable, without its value: the executors repeat that, and it may be a card
 * number. Other errors are unchanged.
 */
export const presentInputError = (error: GraphQLError): GraphQLError => {
  const name = variableName.exec(error.message)?.[1];
  if (name === undefined) return error;
  const place = new RegExp(` at "(${name}[\\w.[\\]]*)"`).exec(error.message)?.[1];
  const [, reason] = reasonAtEnd.exec(error.message) ?? [];
  const message = error.message.includes('got invalid value')
    ? `Variable "$${name}" has an invalid value${place === undefined ? '' : ` at "${place}"`}${reason === undefined ? '.' : `: ${reason}`}`
    : error.message;
  return new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT' } });
};

// Errors of abandoned fields. When one item of a list fails at once, graphql-js answers and
// abandons the promises of the items before it. A later failure of one of them is an unhandled
// rejection, on which Node would end the process: any caller's query could end it.

/** Whether it was thrown for one field of an answer. */
const isOfField = (reason: unknown): boolean =>
  reason instanceof Error &&
  reason.name === 'GraphQLError' &&
  'path' in reason &&
  Array.isArray(reason.path);

/**
 * Lets the process outlive errors of forsaken fields, which are logged. Any other rejection that is
 * not handled ends it, as before.
 */
export const outliveForsakenFields = (log: Pick<Logger, 'warn'>): void =>
  void process.on('unhandledRejection', (reason) => {
    if (!isOfField(reason)) throw reason;
    log.warn({ err: reason }, 'a field failed after its operation had ended');
  });
