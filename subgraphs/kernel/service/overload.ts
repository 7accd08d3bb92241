/**
 * Overload: a process that has more to do than it can do in time says so at once, with 503 and Retry-After, instead of answering everybody too late. It has too
 * much to do when too many requests are in flight, or when its event loop has been late on average for half a second. One long pause is no overload.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { FastifyInstance } from 'fastify';
import { Counter } from 'prom-client';
import { errorJson } from '../../../schema/wire.ts';
import { metrics, type Logger } from './telemetry.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `exempt`: answered whatever the load. `long-lived`: refused under overload, but not counted while it lasts. */
    readonly load?: 'exempt' | 'long-lived';
  }
}

export interface OverloadLimits {
  /** Requests that are being answered at the same time. */
  readonly inFlight_max: number;
  /** Mean delay of the event loop. */
  readonly loopDelay_max_ms: number;
}

const look_ms = 500;
const resolution_ms = 10;
const retryAfter_s = 1;

const refusals = new Counter({
  name: 'overload_refusals_total',
  help: 'Requests answered with 503 because the process had too much to do.',
  labelNames: ['reason'],
  registers: [metrics],
});

/** Refuses requests that the process has no time for. What has been let in is carried through. */
export const shedLoad = (app: FastifyInstance, { inFlight_max, loopDelay_max_ms }: OverloadLimits, log: Logger): void => {
  const isLate = watchLoop(app, loopDelay_max_ms, log);
  let inFlight = 0;
  app.addHook('onRequest', (request, reply, done) => {
    const { load } = request.routeOptions.config;
    if (load === 'exempt') return done();
    const reason = inFlight >= inFlight_max ? 'in_flight' : isLate() ? 'loop_delay' : null;
    if (reason !== null) {
      refusals.inc({ reason });
      reply.code(503).header('retry-after', String(retryAfter_s)).send(errorJson('unavailable', 'the service has too much to do just now; try again'));
      return;
    }
    if (load !== 'long-lived') {
      inFlight += 1;
      // Not onResponse: that does not come when the caller goes away.
      reply.raw.once('close', () => (inFlight -= 1));
    }
    done();
  });
};

/** Looks twice a second how late the event loop has been. One line in the log when it begins to be too late, and one when that is over. */
const watchLoop = (app: FastifyInstance, max_ms: number, log: Logger): (() => boolean) => {
  const delay = monitorEventLoopDelay({ resolution: resolution_ms });
  delay.enable();
  let late = false;
  const look = setInterval(() => {
    // The histogram holds whole intervals: the timer's own one is no delay.
    const mean_ms = delay.count === 0 ? 0 : Math.max(0, delay.mean / 1_000_000 - resolution_ms);
    delay.reset();
    if (late === mean_ms > max_ms) return;
    late = !late;
    if (late) log.error({ mean_ms: Math.round(mean_ms), max_ms }, 'the event loop is late: requests are refused');
    else log.info({ mean_ms: Math.round(mean_ms) }, 'the event loop is in time again');
  }, look_ms).unref();
  app.addHook('onClose', async () => {
    clearInterval(look);
    delay.disable();
  });
  return () => late;
};
