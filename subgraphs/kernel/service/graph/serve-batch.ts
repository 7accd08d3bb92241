/** Several operations of the same moment in one request (`operation-batch`). */
import type { Server, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { safeParse, type GenericSchema } from 'valibot';
import type { Logger } from '../tracing/telemetry.ts';
import { continued, type SpanStart } from '../tracing/tracing.ts';
import {
  batchHeadSchema,
  batchOperations_max,
  batchOperationSchema,
  linesType,
  type BatchHead,
  type BatchOperation,
} from './operation-batch.ts';
import { failure, type OperationAnswer, type SentOperation } from './run-operation.ts';

export interface ServedBatches {
  readonly path: string;
  readonly run: (sent: SentOperation) => Promise<OperationAnswer>;
  readonly log: Logger;
}

/**
 * Serves batches at the path. Each operation is run, traced and answered by itself; 400 when the
 * request as a whole is no batch.
 */
export const serveBatches = (app: FastifyInstance, { path, run, log }: ServedBatches): void => {
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
        run({ asked: { query, variables }, principal, requestId, isInLane: false }),
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
      const answers = new AnswerLines(reply.hijack().raw, lines.length, app.server);
      for (const [place, line] of lines.entries())
        void answerTo(head, readLine(batchOperationSchema, request, line)).then((answer) =>
          answers.add(place, answer),
        );
    });
  });
};

/** The framework's own parser, which refuses what could reach a prototype. */
const openLineReader = (scope: FastifyInstance) => {
  const parse = scope.getDefaultJsonParser('error', 'error');
  return <Output>(
    schema: GenericSchema<unknown, Output>,
    request: FastifyRequest,
    line: string,
  ): Output | null => {
    let read: Output | null = null;
    // It calls back at once.
    void parse(request, line, (error, value) => {
      const { success, output } = safeParse(schema, value);
      if (!error && success) read = output;
    });
    return read;
  };
};

/** The answer to a batch. Lines that are ready in the same turn are written together. */
class AnswerLines {
  readonly #response: ServerResponse;
  readonly #server: Server;
  #missing: number;
  #text = '';

  constructor(response: ServerResponse, operations: number, server: Server) {
    this.#response = response;
    this.#server = server;
    this.#missing = operations;
    response.statusCode = 200;
    response.setHeader('content-type', linesType);
    // A proxy between the processes must not gather what is sent line by line.
    response.setHeader('x-accel-buffering', 'no');
    // A caller that has disconnected gets no answer.
    response.on('error', () => {});
  }

  add(operation: number, { status, answer }: OperationAnswer): void {
    if (this.#text === '') setImmediate(() => this.#flush());
    this.#text += `${JSON.stringify({ operation, status, answer })}\n`;
    this.#missing -= 1;
  }

  #flush(): void {
    const text = this.#text;
    this.#text = '';
    if (this.#response.destroyed) return;
    if (this.#missing > 0) this.#response.write(text);
    // Alone and whole it has a length, and needs no chunks.
    else this.#response.end(text, () => this.#leave());
  }

  /**
   * A server that has begun to close since the head was sent does not wait for idle connections.
   */
  #leave(): void {
    if (!this.#server.listening) this.#response.req.socket.destroySoon();
  }
}
