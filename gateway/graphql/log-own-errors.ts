/**
 * Logs the failures of this process with their causes, before the client gets an internal error. A
 * subgraph logs its own failures, wherever it runs; its errors carry its name.
 */
import { GraphQLError, type ExecutionResult } from 'graphql';
import type { Call } from '../../subgraphs/platform/access/principal.ts';
import type { PreparedDocument } from '../../subgraphs/platform/graph/subgraph.ts';
import { internalErrors, type Logger } from '../../subgraphs/platform/tracing/telemetry.ts';
import type { GatewayExecutor } from './run-documents.ts';
import { isForClients } from './present-error.ts';

const isOwn = (error: Error): boolean =>
  !(error instanceof GraphQLError) ||
  (error.extensions['serviceName'] === undefined && !isForClients(error));

const causeOf = (error: Error): Error =>
  error instanceof GraphQLError ? (error.originalError ?? error) : error;

/** Logs the errors of a result that this process caused; returns the result. */
const logOwnErrors = (
  result: ExecutionResult,
  { requestId }: Call,
  log: Logger,
): ExecutionResult => {
  for (const error of result.errors ?? []) {
    if (!isOwn(error)) continue;
    internalErrors.inc();
    log.error({ err: causeOf(error), path: error.path, requestId }, 'the gateway could not answer');
  }
  return result;
};

/** The executor, with its failures logged. */
export const executeLogged =
  (executor: GatewayExecutor, log: Logger): GatewayExecutor =>
  async (context) =>
    // The gateway passes its context on as `unknown`.
    logOwnErrors(await executor(context), context.context as Call, log);

/** The operation, with its failures logged. */
export const runLogged =
  (run: PreparedDocument, log: Logger): PreparedDocument =>
  async (variables, call) =>
    logOwnErrors(await run(variables, call), call, log);
