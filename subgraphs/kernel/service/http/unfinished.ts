/**
 * Requests whose body has not come whole. Whoever sends a head and then nothing costs no key and no
 * work, so such requests have limits of their own, and take no place of those that are answered.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Counter } from 'prom-client';
import { metrics } from '../tracing/telemetry.ts';
import { answerParserError } from './http-errors.ts';

/**
 * The network of a request's caller as far as it cannot choose it: an IPv4 address, the /64 of an
 * IPv6 address.
 */
export type CallerNetwork = (request: IncomingMessage) => string;

/** Of one network. A proxy that TRUSTED_PROXIES does not name is one for all behind it. */
const unfinishedOfNetwork_max = 100;
/** Of the process: with the largest bodies they hold 125 MB. */
const unfinished_max = 500;

const cutOff = new Counter({
  name: 'unfinished_requests_cut_total',
  help: 'Requests that gave way to others because their body had not come.',
  registers: [metrics],
});

export interface Unfinished {
  /** How many there are now, with those that were cut and are not closed yet. */
  readonly count: () => number;
  /** Counts the request, if it has a body to wait for, until that has come. */
  readonly add: (request: FastifyRequest, reply: FastifyReply) => void;
}

/** Whether the request is not answered before its body has come. */
const hasBody = ({ method, headers }: IncomingMessage): boolean =>
  method !== 'GET' &&
  method !== 'HEAD' &&
  (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0);

const isWhole = (request: IncomingMessage): boolean => request.complete;

/** Ends a request as Node does when one took too long to arrive. */
const cut = ({ socket }: IncomingMessage): void => {
  cutOff.inc();
  const code = 'ERR_HTTP_REQUEST_TIMEOUT';
  answerParserError(Object.assign(new Error('the request gave way to others'), { code }), socket);
  // What such a caller goes on sending is not kept.
  socket.destroySoon();
};

/**
 * Opens the count. Beyond a limit the oldest request gives way to the new one: of its own network,
 * or of the one that has most of the process's. One that arrives at its own pace is
 * therefore served whatever the others leave lying.
 */
export const openUnfinished = (networkOf: CallerNetwork): Unfinished => {
  const byNetwork = new Map<string, Set<IncomingMessage>>();
  /** Cut, while their connections are not closed yet. */
  const closing = new Set<IncomingMessage>();
  let size = 0;
  const drop = (network: string, request: IncomingMessage): void => {
    const its = byNetwork.get(network);
    if (!its?.delete(request)) return;
    size -= 1;
    if (its.size === 0) byNetwork.delete(network);
  };
  const dropWhole = (network: string): void => {
    for (const request of byNetwork.get(network) ?? [])
      if (isWhole(request)) drop(network, request);
  };
  const cutOldest = (network: string): void => {
    const [oldest] = byNetwork.get(network) ?? [];
    if (!oldest) return;
    drop(network, oldest);
    closing.add(oldest);
    cut(oldest);
  };
  const dropAllWhole = (): number => {
    for (const network of byNetwork.keys()) dropWhole(network);
    return size;
  };
  const makeRoom = (network: string): void => {
    if ((byNetwork.get(network)?.size ?? 0) >= unfinishedOfNetwork_max) dropWhole(network);
    if ((byNetwork.get(network)?.size ?? 0) >= unfinishedOfNetwork_max) cutOldest(network);
    if (size < unfinished_max || dropAllWhole() < unfinished_max) return;
    const [fullest] = [...byNetwork].reduce((most, one) =>
      one[1].size > most[1].size ? one : most,
    );
    cutOldest(fullest);
  };
  return {
    count: () => dropAllWhole() + closing.size,
    add: ({ raw }, reply) => {
      if (!hasBody(raw)) return;
      const network = networkOf(raw);
      makeRoom(network);
      const its = byNetwork.get(network) ?? new Set();
      byNetwork.set(network, its.add(raw));
      size += 1;
      reply.raw.once('close', () => {
        drop(network, raw);
        closing.delete(raw);
      });
    },
  };
};
