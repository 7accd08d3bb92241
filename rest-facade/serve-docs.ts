/** The contract for people and programs: `/docs` and `/v1/public/openapi.json`. Neither needs a key, and nothing is loaded from elsewhere. */
import scalar from '@scalar/fastify-api-reference';
import type { FastifyInstance } from 'fastify';
import type { Contract } from './read-contract.ts';

const documentPath = '/v1/public/openapi.json';

/** The page's own scripts and styles are inline and beside it; it asks this service alone. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Adds both. The document is made into text once. */
export const serveDocs = async (app: FastifyInstance, { document }: Contract): Promise<void> => {
  const text = JSON.stringify(document);
  app.get(documentPath, (_request, reply) => reply.header('cache-control', 'public, max-age=300').type('application/json; charset=utf-8').send(text));
  await app.register(async (scope) => {
    scope.addHook('onSend', (_request, reply, payload, done) => {
      reply.headers({ 'content-security-policy': contentSecurityPolicy, 'cache-control': 'public, max-age=300' });
      done(null, payload);
    });
    await scope.register(scalar, {
      routePrefix: '/docs',
      configuration: {
        url: documentPath,
        pageTitle: 'Payment Service Public API',
        withDefaultFonts: false,
        telemetry: false,
        // Calls from the page go to this service directly.
        proxyUrl: '',
        hideClientButton: true,
        persistAuth: false,
      },
    });
  });
};
