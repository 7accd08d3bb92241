/**
 * Requests with an incomplete body. A sender of a head alone costs no key and no work, so such
 * requests have their own limits and take no place of answered requests.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Counter } from 'prom-client';
import { metrics } from '../tracing/telemetry.ts';
import { answerParserError } from './http-errors.ts';

/**
 * The part of the caller's address that it cannot choose: an IPv4 address, or the /64 of an IPv6
 * address.
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
  // Further data of such a caller is discarded.
  socket.destroySoon();
};

/**
 * Opens the count. Beyond a limit a new request displaces the oldest one: of its own network, or of
 * the network with most of the process's. A request that arrives at a normal pace is therefore
 * served, however many others stay incomplete.
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
