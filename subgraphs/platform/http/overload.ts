/**
 * Overload: a process with more work than it can do in time answers at once with 503 and
 * Retry-After, instead of answering every caller too late. It is overloaded when too many requests
 * are in flight, or when several checks in a row find its event loop late. One long pause is no
 * overload, and a request is not in flight before its body has arrived.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Counter } from 'prom-client';
import { errorJson } from '../../../schema/wire.ts';
import { metrics, type Logger } from '../tracing/telemetry.ts';
import { answerParserError } from './http-errors.ts';

/*
 * A draining server answers complete requests and does not wait for incomplete ones: Node stops
 * timing out slow clients once it closes.
 */

/**
 * Once `app` begins to close, cuts after `grace_ms` every connection without a complete request in
 * `inFlight`.
 */
export const cutUnfinished = (
  app: FastifyInstance,
  inFlight: ReadonlySet<ServerResponse>,
  grace_ms: number,
): void => {
  const sockets = new Set<Socket>();
  app.server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const cut = (): void => {
    const asked = new Set(Array.from(inFlight, ({ req }) => (req.complete ? req.socket : null)));
    for (const socket of sockets) if (!asked.has(socket)) socket.destroy();
  };
  app.addHook('preClose', async () => void setTimeout(cut, grace_ms).unref());
};

/*
 * Requests with an incomplete body. A sender of a head alone costs no key and no work, so such
 * requests have their own limits and take no place of answered requests.
 */

/**
 * The part of the caller's address that it cannot choose: an IPv4 address, or the /64 of an IPv6
 * address.
 */
type CallerNetwork = (request: IncomingMessage) => string;

/** Of one network. A proxy that TRUSTED_PROXIES does not name is one for all behind it. */
const unfinishedOfNetwork_max = 100;
/** Of the process: with the largest bodies they hold 125 MB. */
const unfinished_max = 500;

const cutOff = new Counter({
  name: 'unfinished_requests_cut_total',
  help: 'Requests dropped in favour of others because their body had not arrived.',
  registers: [metrics],
});

/** Whether the request is not answered before its body has come. */
const hasBody = ({ method, headers }: IncomingMessage): boolean =>
  method !== 'GET' &&
  method !== 'HEAD' &&
  (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0);

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
const openUnfinished = (networkOf: CallerNetwork) => {
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
      if (request.complete) drop(network, request);
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
    /** How many there are now, with those that were cut and are not closed yet. */
    count: (): number => dropAllWhole() + closing.size,
    /** Counts the request, if it has a body to wait for, until that has come. */
    add: ({ raw }: FastifyRequest, reply: FastifyReply): void => {
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

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * `exempt`: answered whatever the load. `long-lived`: refused under overload, but not counted
     * while it lasts.
     */
    readonly load?: 'exempt' | 'long-lived';
  }
}

export interface OverloadDeps {
  /** Requests that are being answered at the same time. */
  readonly inFlight_max: number;
  /** The delay of the event loop, as a request at a random moment experiences it. */
  readonly loopDelay_max_ms: number;
  /** The key for counting unfinished requests. */
  readonly networkOf: CallerNetwork;
}

const look_ms = 500;
const looksUntilLate = 2;
/** How often the loop's turns are measured. */
const tick_ms = 20;
/** Checks without a request; after these, checks stop until a request comes. */
const quietLooks_max = 10;
const retryAfter_s = 1;

const refusals = new Counter({
  name: 'overload_refusals_total',
  help: 'Requests answered with 503 because the process had too much to do.',
  labelNames: ['reason'],
  registers: [metrics],
});

/** Refuses requests that the process has no time for. Accepted requests are completed. */
export const shedLoad = (
  app: FastifyInstance,
  { inFlight_max, loopDelay_max_ms, networkOf }: OverloadDeps,
  log: Logger,
): void => {
  const isLate = watchLoop(app, loopDelay_max_ms, log);
  const unfinished = openUnfinished(networkOf);
  let begun = 0;
  const isFull = (): boolean => begun >= inFlight_max && begun - unfinished.count() >= inFlight_max;
  app.addHook('onRequest', (request, reply, done) => {
    const { load } = request.routeOptions.config;
    if (load === 'exempt') return done();
    const reason = isFull() ? 'in_flight' : isLate() ? 'loop_delay' : null;
    if (reason !== null) {
      refusals.inc({ reason });
      reply
        .code(503)
        .headers(app.ownAnswers.headersOf(request.raw))
        .header('retry-after', String(retryAfter_s))
        .send(errorJson('unavailable', 'the service is overloaded; try again'));
      return;
    }
    if (load !== 'long-lived') {
      begun += 1;
      // Not onResponse: that does not fire when the caller disconnects.
      reply.raw.once('close', () => (begun -= 1));
      unfinished.add(request, reply);
    }
    done();
  });
};

/**
 * Checks about twice a second how late the event loop is for a request at a random moment: longer
 * turns are met more often, so that each counts by its own length. Logs one line when the overload
 * begins, and one when it ends. Each request reads the result; a process without requests does not
 * measure.
 */
const watchLoop = (app: FastifyInstance, max_ms: number, log: Logger): (() => boolean) => {
  let late = false;
  let lateLooks = 0;
  let turns_ms = 0;
  let squares_ms2 = 0;
  let last_ms = 0;
  const record = (delay_ms: number): void => {
    lateLooks = delay_ms > max_ms ? lateLooks + 1 : 0;
    const isLate = late ? lateLooks > 0 : lateLooks >= looksUntilLate;
    if (isLate === late) return;
    late = isLate;
    if (late)
      log.error(
        { delay_ms: Math.round(delay_ms), max_ms },
        'the event loop is late: refusing requests',
      );
    else log.info({ delay_ms: Math.round(delay_ms) }, 'the event loop has recovered');
  };
  let ticking: NodeJS.Timeout | undefined;
  let quietLooks = 0;
  const end = (): void => {
    clearInterval(ticking);
    ticking = undefined;
  };
  const tick = (): void => {
    const now_ms = performance.now();
    const turn_ms = now_ms - last_ms;
    last_ms = now_ms;
    turns_ms += turn_ms;
    squares_ms2 += turn_ms * turn_ms;
    if (turns_ms < look_ms) return;
    record(squares_ms2 / turns_ms - tick_ms);
    turns_ms = squares_ms2 = 0;
    quietLooks += 1;
    if (quietLooks > quietLooks_max && !late) end();
  };
  const begin = (): void => {
    last_ms = performance.now();
    turns_ms = squares_ms2 = lateLooks = 0;
    ticking = setInterval(tick, tick_ms).unref();
  };
  let listening = false;
  // Not before: work at startup is no overload.
  app.addHook('onListen', (done) => {
    listening = true;
    begin();
    done();
  });
  app.addHook('onClose', async () => {
    listening = false;
    end();
  });
  return () => {
    quietLooks = 0;
    if (listening && !ticking) begin();
    return late;
  };
};
