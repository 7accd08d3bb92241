/**
 * Errors of abandoned fields. When one item of a list fails at once, graphql-js answers and
 * abandons the promises of the items before it. A later failure of one of them is an unhandled
 * rejection, on which Node would end the process: any caller's query could end it.
 */
import type { Logger } from '../tracing/telemetry.ts';

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
