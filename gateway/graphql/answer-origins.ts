/** CORS on `/graphql` (Fetch, 3.2), for the origins that `GRAPHQL_ORIGINS` names: with bearers. */
import type { FastifyInstance } from 'fastify';
import type { Origins } from '../callers/origins.ts';

/** How long a browser need not ask again. */
const preflight_s = 600;

const sent = ['authorization', 'content-type', 'x-psp-signature', 'x-request-id'];
const shown = [
  'x-request-id',
  'retry-after',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
];

/** Lets pages of the named origins read what the scope's routes answer. */
export const answerOrigins = (scope: FastifyInstance, origins: Origins): void => {
  if (!origins.hasOthers) return;
  scope.addHook('onRequest', async (request, reply) => {
    const origin = origins.otherOf(request);
    void reply.header('vary', 'origin');
    if (origin === null) return;
    void reply.headers({
      'access-control-allow-origin': origin,
      'access-control-expose-headers': shown.join(', '),
    });
  });
  scope.options('/graphql', async (request, reply) => {
    if (origins.otherOf(request) !== null)
      void reply.headers({
        'access-control-allow-methods': 'GET, POST',
        'access-control-allow-headers': sent.join(', '),
        'access-control-max-age': String(preflight_s),
      });
    return reply.code(204).send();
  });
};
