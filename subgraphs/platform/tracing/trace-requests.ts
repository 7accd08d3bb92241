/** A span for every request to this process, and its trace for all that the request comes to. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { tracing, type Span, type Tracing } from './tracing.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** False: the content of the request has its own spans. */
    readonly traced?: false;
  }
}

/** Requests to other processes of the service: they continue the trace. */
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
