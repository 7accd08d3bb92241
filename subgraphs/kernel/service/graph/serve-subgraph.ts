/**
 * The HTTP side of a subgraph, for other processes of this service alone: nothing runs without a
 * principal header.
 */
import type { FastifyInstance } from 'fastify';
import { GraphQLError, parse, type ExecutionResult } from 'graphql';
import { LRUCache } from 'lru-cache';
import { object, optional, safeParse, string } from 'valibot';
import type { SubgraphName } from '../../../../schema/sources.ts';
import { AnswerMeter, answerRoomHeader, readAnswerRoom, withUsed } from './answer-meter.ts';
import { liveEventHeader } from './event-loads.ts';
import {
  principalHeader,
  principalReader,
  requestIdHeader,
  type PrincipalKeys,
} from '../access/principal-header.ts';
import { fields } from '../read-as.ts';
import type { PreparedDocument, SubgraphExecutor } from './subgraph.ts';
import { requestIdOf } from '../tracing/telemetry.ts';

const preparedDocuments = 1_000;
/** A batch of payouts is up to 1 MiB; a list of representations beside it is not. */
const bodyLimit_bytes = 4 * 1_048_576;

export interface ServedSubgraph {
  readonly name: SubgraphName;
  readonly executor: SubgraphExecutor;
  readonly keys: PrincipalKeys;
}

/** Path of a subgraph's endpoint below the address of its process. */
export const subgraphPath = (name: SubgraphName): string => `/subgraphs/${name}`;

/**
 * Serves `POST /subgraphs/<name>`: 401 without a valid principal header, 400 on a body that is no
 * request, else 200 with the result.
 */
export const serveSubgraph = (
  app: FastifyInstance,
  { name, executor, keys }: ServedSubgraph,
): void => {
  const readPrincipal = principalReader(keys);
  const prepared = new LRUCache<string, PreparedDocument>({ max: preparedDocuments });
  const prepare = (query: string): PreparedDocument => {
    const known = prepared.get(query);
    if (known) return known;
    const run = executor.prepare(parse(query, { noLocation: true }));
    prepared.set(query, run);
    return run;
  };
  app.post(subgraphPath(name), { bodyLimit: bodyLimit_bytes }, async (request, reply) => {
    const principal = await readPrincipal(request.headers[principalHeader]);
    if (!principal)
      return reply
        .code(401)
        .send(failure('this address is for processes of the service', 'UNAUTHENTICATED'));
    const { success, output: asked } = safeParse(askedSchema, request.body);
    if (!success)
      return reply.code(400).send(failure('expected {query, variables}', 'BAD_REQUEST'));
    try {
      const liveEvent = request.headers[liveEventHeader];
      const call = {
        principal,
        requestId: requestIdOf(request.headers[requestIdHeader]),
        ...(typeof liveEvent === 'string' ? { liveEvent } : {}),
      };
      const room = readAnswerRoom(request.headers[answerRoomHeader]);
      if (!room) return await prepare(asked.query)(asked.variables, call);
      const meter = new AnswerMeter(room);
      return withUsed(await prepare(asked.query)(asked.variables, { ...call, meter }), meter, room);
    } catch (error) {
      if (error instanceof GraphQLError)
        return reply.code(400).send(failure(error.message, 'GRAPHQL_PARSE_FAILED'));
      throw error;
    }
  });
};

const failure = (message: string, code: string): ExecutionResult => ({
  errors: [new GraphQLError(message, { extensions: { code } })],
});

const askedSchema = object({ query: string(), variables: optional(fields, {}) });
