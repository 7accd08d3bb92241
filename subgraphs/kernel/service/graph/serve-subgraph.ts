/**
 * The HTTP side of a subgraph, for other processes of this service alone: nothing runs without a
 * principal header.
 */
import type { FastifyInstance } from 'fastify';
import type { SubgraphName } from '../../../../schema/sources.ts';
import { laneHeader } from '../access/lane-of.ts';
import { principalHeader, requestIdHeader } from '../access/principal-header.ts';
import type { Logger } from '../tracing/telemetry.ts';
import { answerRoomHeader } from './answer-meter.ts';
import { liveEventHeader } from './event-loads.ts';
import { batchPath } from './operation-batch.ts';
import { operationRunner, type RunParts } from './run-operation.ts';
import { serveBatches } from './serve-batch.ts';

/** A batch of payouts is up to 1 MiB; a list of representations in addition to it is not. */
const bodyLimit_bytes = 4 * 1_048_576;

export interface ServedSubgraph extends RunParts {
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
      isInLane: headers[laneHeader] !== undefined,
      liveEvent: headers[liveEventHeader],
      answerRoom: headers[answerRoomHeader],
    });
    return reply.code(status).send(answer);
  });
  serveBatches(app, { path: `${path}${batchPath}`, run, log });
};
