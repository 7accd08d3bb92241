/**
 * The HTTP server of every role: request ids, the version, the error envelope
 * (docs/contract.md#errors), health, metrics, limits on slow clients, and a drain that lets calls
 * in flight finish.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { apiVersion } from '../../../schema/limits.ts';
import { errorJson } from '../../../schema/wire.ts';
import type { Config } from '../config/config.ts';
import {
  httpRequests,
  metrics,
  requestIdOf,
  watchGauges,
  type Logger,
  tracing,
  type Span,
  type Tracing,
} from '../tracing/telemetry.ts';
import { answerParserError, envelopeOf } from './http-errors.ts';
import { shedLoad, type OverloadDeps, cutUnfinished } from './overload.ts';

/* The methods of an address: for 405 and its header Allow. Used only when no route was found. */

const shapeOf = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
      .replace(/:\w+/g, '[^/]+')
      .replace(/\*$/, '.*')}$`,
  );

/** An empty list of routes. */
const methodsByPath = () => {
  const routes = new Map<string, { readonly shape: RegExp; readonly methods: Set<string> }>();
  return {
    /** Notes a route's pattern with its methods. */
    add: (pattern: string, methods: string | readonly string[]): void => {
      const route = routes.get(pattern) ?? { shape: shapeOf(pattern), methods: new Set() };
      for (const method of [methods].flat()) route.methods.add(method);
      routes.set(pattern, route);
    },
    /** The methods at an address, in alphabetical order; none when nothing is there. */
    at: (url: string): readonly string[] => {
      const path = url.split('?', 1)[0] ?? '';
      const exact = routes.get(path);
      const found = exact ? [exact] : [...routes.values()].filter(({ shape }) => shape.test(path));
      return [...new Set(found.flatMap(({ methods }) => [...methods]))].toSorted();
    },
  };
};

type AllowedMethods = ReturnType<typeof methodsByPath>;

/** How long to wait for slow clients. */
const usualPatience = {
  /** For the head of a request. */
  headers_ms: 15_000,
  /** For a whole request. */
  request_ms: 30_000,
  /** How often it is looked whether one of these is over. */
  check_ms: 5_000,
  /** For the rest of a request, once the server drains. */
  drain_ms: 2_000,
};
/** Longer than the idle time of the usual load balancers, so that they close first. */
const keepAliveTimeout_ms = 72_000;
const headers_bytes = 16 * 1_024;
const bodyLimit_bytes = 256 * 1_024;

export interface HttpDeps {
  readonly config: Pick<Config, 'publicUrl'>;
  readonly log: Logger;
  /** True or nothing: ready. False or names: not ready, and what is missing. */
  readonly ready: () => Promise<boolean | readonly string[]>;
  /** Null: load causes no refusals. */
  readonly overload: OverloadDeps | null;
  readonly patience?: typeof usualPatience;
  /** Whether `/metrics` is here; it is, unless this is false. */
  readonly metricsHere?: boolean;
}

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Additional headers of answers that this server itself gives, to an unknown address or a
     * broken body: none until the public API sets them.
     */
    readonly ownAnswers: {
      headersOf: (request: IncomingMessage) => Readonly<Record<string, string>>;
    };
  }
  interface FastifyContextConfig {
    /** False: the content of the request has its own spans. */
    readonly traced?: false;
  }
}

/** Without these the framework loads compilers of its own, which no route here uses. */
const compileNothing = (): never => {
  throw new Error('a scope with schemas sets a compiler of its own');
};
const noSchemas = {
  compilersFactory: {
    buildValidator: () => compileNothing,
    buildSerializer: () => compileNothing,
  },
};

// A span for every request to this process, and its trace for all that the request comes to.

/** Requests to other processes of the service: they continue the trace. */
const isOurs = (route: string): boolean => route.startsWith('/subgraphs/');

/**
 * Traces requests when this process traces; health, metrics, and streams that stay open for hours
 * have no span.
 */
const traceRequests = (app: FastifyInstance): void => {
  const by = tracing();
  if (!by) return;
  const spans = new WeakMap<FastifyRequest, Span>();
  app.addHook('onRequest', (request, reply, done) => {
    const { load, traced } = request.routeOptions.config;
    if (load === 'exempt' || load === 'long-lived' || traced === false) return done();
    const span = begin(by, request);
    spans.set(request, span);
    // Not onResponse: that does not fire when the caller disconnects.
    reply.raw.once('close', () => {
      span.note({ 'http.response.status_code': reply.statusCode });
      if (reply.statusCode >= 500) span.fail(String(reply.statusCode));
      span.end();
    });
    by.within(span, done);
  });
  // The body is read in the socket's own time, outside of what the request began.
  app.addHook('preValidation', (request, _reply, done) => {
    const span = spans.get(request);
    if (span) by.within(span, done);
    else done();
  });
};

/**
 * External callers choose neither our trace ids nor the sampling: an external request begins a
 * trace, linked to the caller's own. The route is its pattern, since an address may hold a token.
 */
const begin = (by: Tracing, { method, id, headers, routeOptions }: FastifyRequest): Span => {
  const route = routeOptions.url ?? 'none';
  const values = { 'http.request.method': method, 'http.route': route, 'psp.request_id': id };
  const { traceparent } = headers;
  const named = typeof traceparent === 'string' ? traceparent : undefined;
  const place = isOurs(route) ? { below: named ?? null } : { below: null, beside: named };
  return by.begin({ kind: 'server', name: `${method} ${route}`, values }, place);
};

/**
 * Opens a server that does not listen yet. Its own routes are `/healthz`, `/readyz` and, unless
 * configured elsewhere, `/metrics`. `close()` stops accepting, answers new calls on kept
 * connections with 503, and resolves when those in flight have ended. Log through the logger that
 * was passed, not through `request.log`.
 */
export const openHttp = ({
  config,
  log,
  ready,
  overload,
  patience = usualPatience,
  metricsHere = true,
}: HttpDeps): FastifyInstance => {
  const headers = standingHeaders(config);
  const app = fastify({
    logger: false,
    genReqId: (request) => requestIdOf(request.headers['x-request-id']),
    requestIdHeader: false,
    trustProxy: false,
    bodyLimit: bodyLimit_bytes,
    schemaController: noSchemas,
    requestTimeout: patience.request_ms,
    keepAliveTimeout: keepAliveTimeout_ms,
    http: {
      headersTimeout: patience.headers_ms,
      maxHeaderSize: headers_bytes,
      connectionsCheckingInterval: patience.check_ms,
      requireHostHeader: false,
      shouldUpgradeCallback: isWebSocket,
    },
    // The framework's answer while closing is not an envelope, nor is Node's to a request without
    // Host: the hook below answers both.
    return503OnClosing: false,
    clientErrorHandler: answerParserError,
    // Only an address that cannot be decoded reaches this: it has no resource.
    frameworkErrors: (_error, request, reply) =>
      void sendNotFound(
        reply
          .headers({ ...headers, ...app.ownAnswers.headersOf(request.raw) })
          .header('x-request-id', request.id),
      ),
  });
  app.decorate('ownAnswers', { headersOf: () => ({}) });
  // Node would answer an unknown expectation without an envelope. It may be ignored (RFC 9110,
  // 10.1.1).
  app.server.on('checkExpectation', (request, response) => app.routing(request, response));
  const allowed = methodsByPath();
  app.addHook('onRoute', ({ url, method }) => allowed.add(url, method));
  traceRequests(app);
  cutUnfinished(app, answerEverything(app, log, allowed, headers), patience.drain_ms);
  if (overload) shedLoad(app, overload, log);
  observe(app, log);
  addHealth(app, ready);
  if (metricsHere) addMetrics(app);
  return app;
};

/**
 * Only WebSockets are an upgrade here. Another offer, such as the h2c of Java's HttpClient and of
 * curl, may be ignored (RFC 9110, 7.8): the request is answered as one of HTTP/1.1.
 */
const isWebSocket = ({ headers }: IncomingMessage): boolean =>
  /(?:^|,)\s*websocket\s*(?:,|$)/i.test(headers.upgrade ?? '');

/**
 * The headers of every answer. A page that needs more than JSON does sets its own
 * Content-Security-Policy.
 */
const standingHeaders = ({
  publicUrl,
}: Pick<Config, 'publicUrl'>): Readonly<Record<string, string>> => ({
  'x-api-version': apiVersion,
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  ...(publicUrl?.startsWith('https://')
    ? { 'strict-transport-security': 'max-age=31536000; includeSubDomains' }
    : {}),
});

const sendNotFound = (reply: FastifyReply): FastifyReply =>
  reply.code(404).send(errorJson('not_found', 'there is nothing at this address'));

const sendMissing = (
  request: FastifyRequest,
  reply: FastifyReply,
  allowed: AllowedMethods,
): FastifyReply => {
  const methods = allowed.at(request.url);
  if (methods.length === 0) return sendNotFound(reply);
  return reply
    .code(405)
    .header('allow', methods.join(', '))
    .send(
      errorJson(
        'method_not_allowed',
        `${request.method} is not possible here, ${methods.join(', ')} is`,
      ),
    );
};

/** What each server of this process is answering. */
const servers = new Set<ReadonlySet<ServerResponse>>();

watchGauges({
  name: 'http_requests_in_flight',
  help: 'HTTP requests in progress, including streams.',
  collect() {
    this.set(servers.values().reduce((total, { size }) => total + size, 0));
  },
});

/**
 * The headers of every answer, and the envelope of every one that is not 2xx. Returns the payload.
 */
const answerEverything = (
  app: FastifyInstance,
  log: Logger,
  allowed: AllowedMethods,
  headers: Readonly<Record<string, string>>,
): ReadonlySet<ServerResponse> => {
  const inFlight = new Set<ServerResponse>();
  servers.add(inFlight);
  app.addHook('onClose', async () => void servers.delete(inFlight));
  let draining = false;
  const addOwnHeaders = (request: FastifyRequest, reply: FastifyReply): FastifyReply =>
    reply.headers(app.ownAnswers.headersOf(request.raw));
  app.addHook('preClose', async () => {
    draining = true;
    // Sends `Connection: close`, so that the caller sends nothing more on this connection.
    for (const response of inFlight) response.shouldKeepAlive = false;
  });
  app.addHook('onRequest', (request, reply, done) => {
    inFlight.add(reply.raw);
    // Not onResponse: that does not fire when the caller disconnects.
    reply.raw.once('close', () => inFlight.delete(reply.raw));
    reply.headers(headers).header('x-request-id', request.id);
    if (draining)
      addOwnHeaders(request, reply)
        .code(503)
        .headers({ 'retry-after': '1', connection: 'close' })
        .send(errorJson('unavailable', 'the service is shutting down; try again'));
    // Before the body is read: a body sent to an unknown address does not matter. HTTP/1.0 has no
    // Host, and load balancers use it for health checks.
    else if (request.headers.host === undefined && request.raw.httpVersion !== '1.0')
      addOwnHeaders(request, reply)
        .code(400)
        .header('connection', 'close')
        .send(errorJson('bad_request', 'the header Host is required'));
    else if (request.is404) sendMissing(request, addOwnHeaders(request, reply), allowed);
    else done();
  });
  app.setNotFoundHandler((request, reply) => sendMissing(request, reply, allowed));
  app.setErrorHandler((error, request, reply) => {
    const envelope = envelopeOf(error, request);
    if (envelope.status >= 500)
      log.error({ err: error, requestId: request.id, route: routeOf(request) }, 'a request failed');
    if (envelope.status === 503) reply.header('retry-after', '1');
    // What a route broke on after the limit was counted has its headers already.
    if (!reply.hasHeader('ratelimit-limit')) addOwnHeaders(request, reply);
    return reply.code(envelope.status).send(errorJson(envelope.code, envelope.message));
  });
  return inFlight;
};

/** The route's pattern: an address may hold a token. */
const routeOf = (request: FastifyRequest): string => request.routeOptions.url ?? 'none';

/**
 * One measurement and one log line per request: successes at debug, the rest louder. Neither bodies
 * nor addresses are logged.
 */
const observe = (app: FastifyInstance, log: Logger): void => {
  app.addHook('onResponse', (request, reply, done) => {
    const { method } = request;
    const route = routeOf(request);
    const status = reply.statusCode;
    httpRequests.observe({ route, method, status }, reply.elapsedTime / 1_000);
    const level = status >= 500 ? 'warn' : status >= 400 ? 'info' : 'debug';
    if (log.isLevelEnabled(level))
      log[level](
        {
          requestId: request.id,
          method,
          route,
          status,
          duration_ms: Math.round(reply.elapsedTime),
        },
        'request',
      );
    done();
  });
};

/** Requests of load balancers and Prometheus are answered under any load. */
const always = { config: { load: 'exempt' } } as const;

const addHealth = (app: FastifyInstance, ready: HttpDeps['ready']): void => {
  app.get('/healthz', always, async () => ({ status: 'ok' }));
  app.get('/readyz', always, async (_request, reply) => {
    const answer = await ready();
    const missing = typeof answer === 'boolean' ? [] : answer;
    if (answer === true || (answer !== false && missing.length === 0)) return { status: 'ready' };
    return reply
      .code(503)
      .header('retry-after', '1')
      .send(errorJson('unavailable', `not ready: ${missing.join(', ') || 'starting'}`));
  });
};

const addMetrics = (app: FastifyInstance): void => {
  app.get('/metrics', always, async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.metrics()),
  );
};
