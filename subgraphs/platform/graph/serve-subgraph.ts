/**
 * The HTTP side of a subgraph, for other processes of this service alone: nothing runs without a
 * principal header.
 */
import type { Server, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import * as v from 'valibot';
import { GraphQLError, parse, type ExecutionResult } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { SubgraphName } from '../../../schema/sources.ts';
import { laneHeader, measuredInLane } from '../access/lane.ts';
import {
  principalHeader,
  requestIdHeader,
  principalReader,
  type PrincipalKeys,
} from '../access/principal.ts';
import { type Logger, requestIdOf, continued, type SpanStart } from '../tracing/telemetry.ts';
import { AnswerMeter, answerSize_max } from '../access/answer-meter.ts';
import { fields } from '../bus/process-messages.ts';
import type { PreparedDocument, SubgraphExecutor } from './subgraph.ts';

/*
 * Concurrent operations in one request to a subgraph, as both sides write and read them.
 * The request is lines of JSON: first what its operations share, then an operation in each line.
 * The answer is a line for each operation, in the order of completion: a slow one does not delay
 * the others. Each operation has its caller's signature, and an invalid one is refused
 * individually.
 */

/** Below the address of a subgraph. */
export const batchPath = '/batch';
export const linesType = 'application/x-ndjson';

/** Operations in one request. */
export const batchOperations_max = 64;
/** Variables of an operation that shares a request; one with more has its own request. */
export const sharedVariables_max_characters = 4_096;

const position = v.pipe(v.number(), v.integer(), v.minValue(0));

/** The first line: operations refer to its entries by position. */
const batchHeadSchema = v.object({
  documents: v.array(v.string()),
  principals: v.array(v.string()),
});

type BatchHead = v.InferOutput<typeof batchHeadSchema>;

const batchOperationSchema = v.object({
  document: position,
  principal: position,
  requestId: v.string(),
  traceparent: v.optional(v.string()),
  variables: v.optional(fields, {}),
});

type BatchOperation = v.InferOutput<typeof batchOperationSchema>;

/** One answer: that of a separate request, with the place of its operation. */
export const batchAnswerSchema = v.object({
  operation: position,
  status: v.number(),
  answer: v.unknown(),
});

/* One operation from another process of the service, in its own request or in a batch. */

const preparedDocuments = 1_000;

interface RunDeps {
  readonly executor: SubgraphExecutor;
  readonly keys: PrincipalKeys;
}

/** An operation as it was sent, before any parsing. */
interface SentOperation {
  /** The document and its variables. */
  readonly asked: unknown;
  readonly principal: unknown;
  readonly requestId: string | string[] | undefined;
  readonly lane: unknown;
}

/** Its answer: an HTTP status and a body. */
interface OperationAnswer {
  readonly status: number;
  readonly answer: ExecutionResult;
}

const failure = (status: number, message: string, code: string): OperationAnswer => ({
  status,
  answer: { errors: [new GraphQLError(message, { extensions: { code } })] },
});

/**
 * Runs operations on a subgraph: 401 without a valid principal header, 400 if the body is not a
 * document with variables, else 200 with the result. Rejects when the subgraph breaks.
 */
const operationRunner = ({
  executor,
  keys,
}: RunDeps): ((sent: SentOperation) => Promise<OperationAnswer>) => {
  const readPrincipal = principalReader(keys);
  const prepared = new LRUCache<string, PreparedDocument>({ max: preparedDocuments });
  const prepare = (query: string): PreparedDocument => {
    const known = prepared.get(query);
    if (known) return known;
    const run = executor.prepare(parse(query, { noLocation: true }));
    prepared.set(query, run);
    return run;
  };
  return async ({ asked, principal: header, requestId, lane }) => {
    const principal = await readPrincipal(header);
    if (!principal)
      return failure(401, 'this address is for the service itself', 'UNAUTHENTICATED');
    const { success, output } = v.safeParse(askedSchema, asked);
    if (!success) return failure(400, 'expected {query, variables}', 'BAD_REQUEST');
    const { query, variables } = output;
    const call = {
      principal,
      requestId: requestIdOf(requestId),
      isInLane: lane !== undefined,
      ...(lane === measuredInLane ? { meter: new AnswerMeter(answerSize_max) } : {}),
    };
    try {
      return { status: 200, answer: await prepare(query)(variables, call) };
    } catch (error) {
      if (error instanceof GraphQLError) return failure(400, error.message, 'GRAPHQL_PARSE_FAILED');
      throw error;
    }
  };
};

const askedSchema = v.object({ query: v.string(), variables: v.optional(fields, {}) });

/* Several operations of the same moment in one request. */

interface ServedBatches {
  readonly path: string;
  readonly run: (sent: SentOperation) => Promise<OperationAnswer>;
  readonly log: Logger;
}

/**
 * Serves batches at the path. Each operation is run, traced and answered by itself; 400 when the
 * request as a whole is no batch.
 */
const serveBatches = (app: FastifyInstance, { path, run, log }: ServedBatches): void => {
  const start: SpanStart = { kind: 'server', name: `POST ${path}` };
  const notRead = failure(400, 'expected an operation of a batch', 'BAD_REQUEST');
  const answerTo = async (
    { documents, principals }: BatchHead,
    operation: BatchOperation | null,
  ): Promise<OperationAnswer> => {
    const query = operation && documents[operation.document];
    if (!operation || query === undefined) return notRead;
    const { requestId, variables, traceparent } = operation;
    const principal = principals[operation.principal];
    try {
      return await continued(traceparent, start, () =>
        run({ asked: { query, variables }, principal, requestId, lane: undefined }),
      );
    } catch (thrown) {
      log.error({ err: thrown, requestId }, 'an operation failed');
      return failure(500, 'internal error', 'INTERNAL_SERVER_ERROR');
    }
  };
  void app.register(async (scope) => {
    const readLine = openLineReader(scope);
    scope.addContentTypeParser(linesType, { parseAs: 'string' }, (_request, body, done) =>
      done(null, body),
    );
    scope.post<{ Body: string }>(path, { config: { traced: false } }, (request, reply) => {
      const [first = '', ...lines] = request.body.split('\n');
      const head = readLine(batchHeadSchema, request, first);
      if (!head || lines.length === 0 || lines.length > batchOperations_max)
        return void reply.code(400).send(failure(400, 'expected a batch', 'BAD_REQUEST').answer);
      const add = openAnswer(reply.hijack().raw, lines.length, app.server);
      for (const [place, line] of lines.entries())
        void answerTo(head, readLine(batchOperationSchema, request, line)).then((answer) =>
          add(place, answer),
        );
    });
  });
};

/** The framework's own parser, which refuses what could reach a prototype. */
const openLineReader = (scope: FastifyInstance) => {
  const parseJson = scope.getDefaultJsonParser('error', 'error');
  return <Output>(
    schema: v.GenericSchema<unknown, Output>,
    request: FastifyRequest,
    line: string,
  ): Output | null => {
    let read: Output | null = null;
    // It calls back at once.
    void parseJson(request, line, (error, value) => {
      const { success, output } = v.safeParse(schema, value);
      if (!error && success) read = output;
    });
    return read;
  };
};

/**
 * Opens the answer to a batch; gives what adds a line to it. Lines that are ready in the same turn
 * are written together.
 */
const openAnswer = (response: ServerResponse, operations: number, server: Server) => {
  let missing = operations;
  let text = '';
  response.statusCode = 200;
  response.setHeader('content-type', linesType);
  // A proxy between the processes must not gather what is sent line by line.
  response.setHeader('x-accel-buffering', 'no');
  // A caller that has disconnected gets no answer.
  response.on('error', () => {});
  // A server that has begun to close since the head was sent does not wait for idle connections.
  const leave = (): void => {
    if (!server.listening) response.req.socket.destroySoon();
  };
  const flush = (): void => {
    const ready = text;
    text = '';
    if (response.destroyed) return;
    if (missing > 0) response.write(ready);
    // Alone and whole it has a length, and needs no chunks.
    else response.end(ready, leave);
  };
  return (operation: number, { status, answer }: OperationAnswer): void => {
    if (text === '') setImmediate(flush);
    text += `${JSON.stringify({ operation, status, answer })}\n`;
    missing -= 1;
  };
};

/** A batch of payouts is up to 1 MiB; a list of representations in addition to it is not. */
const bodyLimit_bytes = 4 * 1_048_576;

interface ServedSubgraph extends RunDeps {
  readonly name: SubgraphName;
  readonly log: Logger;
}

/** Path of a subgraph's endpoint below the address of its process. */
export const subgraphPath = (name: SubgraphName): string => `/subgraphs/${name}`;

/**
 * Serves `POST /subgraphs/<name>`: 401 without a valid principal header, 400 if the body is not a
 * request, else 200 with the result. Batches of operations are at `/subgraphs/<name>/batch`.
 */
export const serveSubgraph = (
  app: FastifyInstance,
  { name, log, ...parts }: ServedSubgraph,
): void => {
  const run = operationRunner(parts);
  const path = subgraphPath(name);
  app.post(path, { bodyLimit: bodyLimit_bytes }, async ({ headers, body }, reply) => {
    const { status, answer } = await run({
      asked: body,
      principal: headers[principalHeader],
      requestId: headers[requestIdHeader],
      lane: headers[laneHeader],
    });
    return reply.code(status).send(answer);
  });
  serveBatches(app, { path: `${path}${batchPath}`, run, log });
};
