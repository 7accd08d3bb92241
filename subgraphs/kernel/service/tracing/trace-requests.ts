/** A span for every request to this process, and its trace for all that the request comes to. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { tracing, type Span, type Tracing } from './tracing.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** False: what is in the request has spans of its own. */
    readonly traced?: false;
  }
}

/** What is asked of other processes of the service: their traces go on. */
const isOurs = (route: string): boolean => route.startsWith('/subgraphs/');

/**
 * Traces requests when this process traces; health, metrics, and streams that stay open for hours
 * have no span.
 */
export const traceRequests = (app: FastifyInstance): void => {
  const by = tracing();
  if (!by) return;
  const spans = new WeakMap<FastifyRequest, Span>();
  app.addHook('onRequest', (request, reply, done) => {
    const { load, traced } = request.routeOptions.config;
    if (load === 'exempt' || load === 'long-lived' || traced === false) return done();
    const span = begin(by, request);
    spans.set(request, span);
    // Not onResponse: that does not come when the caller goes away.
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
 * A stranger does not choose the ids of our traces, nor whether they are kept: what is asked from
 * outside begins a trace, beside the caller's own. The route is its pattern, since an address may
 * hold a token.
 */
const begin = (by: Tracing, { method, id, headers, routeOptions }: FastifyRequest): Span => {
  const route = routeOptions.url ?? 'none';
  const values = { 'http.request.method': method, 'http.route': route, 'psp.request_id': id };
  const { traceparent } = headers;
  const named = typeof traceparent === 'string' ? traceparent : undefined;
  const place = isOurs(route) ? { below: named ?? null } : { below: null, beside: named };
  return by.begin({ kind: 'server', name: `${method} ${route}`, values }, place);
};
