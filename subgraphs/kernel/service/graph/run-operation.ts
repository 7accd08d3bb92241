/** One operation from another process of the service, in its own request or in a batch. */
import { GraphQLError, parse, type ExecutionResult } from 'graphql';
import { LRUCache } from 'lru-cache';
import { object, optional, safeParse, string } from 'valibot';
import { principalReader, type PrincipalKeys } from '../access/principal-header.ts';
import { AnswerMeter, readAnswerRoom, withUsed } from './answer-meter.ts';
import { fields } from '../read-as.ts';
import type { PreparedDocument, SubgraphExecutor } from './subgraph.ts';
import { requestIdOf } from '../tracing/telemetry.ts';

const preparedDocuments = 1_000;

export interface RunParts {
  readonly executor: SubgraphExecutor;
  readonly keys: PrincipalKeys;
}

/** An operation as it was sent, before any parsing. */
export interface SentOperation {
  /** The document and its variables. */
  readonly asked: unknown;
  /** The principal header. */
  readonly principal: unknown;
  readonly requestId: string | string[] | undefined;
  readonly isInLane: boolean;
  readonly liveEvent?: unknown;
  readonly answerRoom?: unknown;
}

/** Its answer: an HTTP status and a body. */
export interface OperationAnswer {
  readonly status: number;
  readonly answer: ExecutionResult;
}

export const failure = (status: number, message: string, code: string): OperationAnswer => ({
  status,
  answer: { errors: [new GraphQLError(message, { extensions: { code } })] },
});

/**
 * Runs operations on a subgraph: 401 without a valid principal header, 400 if the body is not a
 * document with variables, else 200 with the result. Rejects when the subgraph breaks.
 */
export const operationRunner = ({
  executor,
  keys,
}: RunParts): ((sent: SentOperation) => Promise<OperationAnswer>) => {
  const readPrincipal = principalReader(keys);
  const prepared = new LRUCache<string, PreparedDocument>({ max: preparedDocuments });
  const prepare = (query: string): PreparedDocument => {
    const known = prepared.get(query);
    if (known) return known;
    const run = executor.prepare(parse(query, { noLocation: true }));
    prepared.set(query, run);
    return run;
  };
  return async ({ asked, principal: header, requestId, isInLane, liveEvent, answerRoom }) => {
    const principal = await readPrincipal(header);
    if (!principal)
      return failure(401, 'this address is for the service itself', 'UNAUTHENTICATED');
    const { success, output } = safeParse(askedSchema, asked);
    if (!success) return failure(400, 'expected {query, variables}', 'BAD_REQUEST');
    const { query, variables } = output;
    const call = {
      principal,
      requestId: requestIdOf(requestId),
      isInLane,
      ...(typeof liveEvent === 'string' ? { liveEvent } : {}),
    };
    try {
      const room = readAnswerRoom(answerRoom);
      if (!room) return { status: 200, answer: await prepare(query)(variables, call) };
      const meter = new AnswerMeter(room);
      const result = await prepare(query)(variables, { ...call, meter });
      return { status: 200, answer: withUsed(result, meter, room) };
    } catch (error) {
      if (error instanceof GraphQLError) return failure(400, error.message, 'GRAPHQL_PARSE_FAILED');
      throw error;
    }
  };
};

const askedSchema = object({ query: string(), variables: optional(fields, {}) });
