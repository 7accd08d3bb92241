/**
 * A subgraph in another process, over HTTP with keep-alive connections. If the process dies during
 * a request, the request is sent once more if it is safe: a query, or a repeatable call. Any other
 * may have taken effect.
 */
import {
  GraphQLError,
  OperationTypeNode,
  getOperationAST,
  print,
  type ExecutionResult,
} from 'graphql';
import { Pool } from 'undici';
import {
  array,
  check,
  fallback,
  nullish,
  number,
  object,
  optional,
  pipe,
  string,
  transform,
  union,
} from 'valibot';
import {
  type Call,
  principalHeader,
  principalSigner,
  requestIdHeader,
  type PrincipalKeys,
} from '../subgraphs/platform/access/principal.ts';
import {
  batchPath,
  sharedVariables_max_characters,
  fields,
  readAs,
} from '../subgraphs/platform/graph/process-messages.ts';
import { laneHeader, measuredInLane } from '../subgraphs/platform/access/lane.ts';
import type { SubgraphExecutor } from '../subgraphs/platform/graph/subgraph.ts';
import type { Logger } from '../subgraphs/platform/tracing/telemetry.ts';
import { currentSpan, spanned, type SpanStart } from '../subgraphs/platform/tracing/tracing.ts';
import { codedError } from './graphql/errors.ts';
import {
  AnsweredOtherwise,
  isLost,
  shareRequests,
  type SharedOperation,
} from './share-requests.ts';

const connectTimeout_ms = 2_000;
/** Longer than a bank may take within a call (10 s). */
const defaultAnswerTimeout_ms = 20_000;
const connections = 64;

export interface RemoteExecutor extends SubgraphExecutor {
  /** Waits for calls in flight and closes the connections. */
  close(): Promise<void>;
}

/**
 * Opens an executor over a subgraph's endpoint, `http://host:port/subgraphs/<name>`. A subgraph
 * that is unreachable or answers something else becomes a GraphQL error with the code
 * `unavailable`; the cause is logged with the request id.
 */
export const remoteExecutor = (
  url: string,
  keys: PrincipalKeys,
  log: Logger,
  answerTimeout_ms = defaultAnswerTimeout_ms,
): RemoteExecutor => {
  const { origin, pathname: path } = new URL(url);
  const pool = new Pool(origin, {
    connections,
    connect: { timeout: connectTimeout_ms },
    headersTimeout: answerTimeout_ms,
    bodyTimeout: answerTimeout_ms,
  });
  const sign = principalSigner(keys);
  const send = openSender(pool, path, answerTimeout_ms);
  const start: SpanStart = { kind: 'client', name: `POST ${path}` };
  const run = (query: string, variables: string, call: Call): Promise<ExecutionResult> =>
    spanned(start, async () => {
      const operation = {
        query,
        variables,
        principal: await sign(call.principal),
        requestId: call.requestId,
        // Sent even when the trace is not kept, so that the subgraph does not keep it either.
        traceparent: currentSpan()?.traceparent,
      };
      const result = readAs(resultSchema, await send(operation, call), url);
      call.meter?.endWith(result.errors);
      return result;
    });
  return {
    prepare: (document) => {
      const query = JSON.stringify(print(document));
      const reads = getOperationAST(document)?.operation === OperationTypeNode.QUERY;
      return async (variables, call) => {
        const text = JSON.stringify(variables);
        const again = (thrown: unknown): Promise<ExecutionResult> =>
          (reads || call.mayRepeat === true) && isLost(thrown)
            ? run(query, text, call)
            : Promise.reject(thrown);
        try {
          return await run(query, text, call).catch(again);
        } catch (thrown) {
          log.error(
            { err: thrown, subgraph: url, requestId: call.requestId },
            'a subgraph did not answer',
          );
          return unavailable();
        }
      };
    },
    close: () => pool.close(),
  };
};

const unavailable = (): ExecutionResult => ({
  data: null,
  errors: [codedError('unavailable', 'a part of the service did not answer')],
});

/**
 * Sends operations in shared requests. An operation in the lane, whose answer may be large or late,
 * and one with large variables have a request of their own.
 */
const openSender = (
  pool: Pool,
  path: string,
  answerTimeout_ms: number,
): ((operation: SharedOperation, call: Call) => Promise<unknown>) => {
  const ask = async (body: string, headers: Readonly<Record<string, string>>): Promise<unknown> => {
    const answer = await pool.request({ method: 'POST', path, headers, body });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new AnsweredOtherwise(answer.statusCode);
    return JSON.parse(text);
  };
  const share = shareRequests({
    dispatcher: pool,
    path: `${path}${batchPath}`,
    inFlight_max: connections,
    answerTimeout_ms,
    alone: (operation) => ask(bodyOf(operation), headersOf(operation)),
  });
  return (operation, { isInLane, meter }) =>
    isInLane || operation.variables.length > sharedVariables_max_characters
      ? ask(bodyOf(operation), {
          ...headersOf(operation),
          ...(isInLane ? { [laneHeader]: meter ? measuredInLane : '' } : {}),
        })
      : share(operation);
};

const bodyOf = ({ query, variables }: SharedOperation): string =>
  `{"query":${query},"variables":${variables}}`;

const headersOf = (operation: SharedOperation): Record<string, string> => ({
  'content-type': 'application/json',
  [principalHeader]: operation.principal,
  [requestIdHeader]: operation.requestId,
  ...(operation.traceparent === undefined ? {} : { traceparent: operation.traceparent }),
});

const errorSchema = pipe(
  object({
    message: fallback(string(), 'the subgraph failed'),
    path: fallback(optional(array(union([string(), number()]))), undefined),
    extensions: fallback(optional(fields), undefined),
  }),
  transform(({ message, ...rest }) => new GraphQLError(message, rest)),
);

/** A result. Its data has been shaped by the subgraph's own schema. */
const resultSchema = pipe(
  object({ data: nullish(fields), errors: optional(array(errorSchema)) }),
  check(({ data, errors }) => data !== undefined || errors !== undefined),
  transform(({ data = null, errors }) => (errors ? { data, errors } : { data })),
);
