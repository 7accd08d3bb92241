/**
 * Mercurius' gateway, with its query compiler, over the payments subgraph in another process at
 * SUBGRAPHS. It speaks the first version of federation, in which our types of other subgraphs have
 * no place: it serves what payments answers alone. JavaScript: its types are not there before it is
 * installed.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import mercuriusGateway from '@mercuriusjs/gateway';
import fastify from 'fastify';
import { serve } from '../child-server.ts';
import { subgraphsUrl } from './serve-listener.ts';

const sdl = readFileSync(join(import.meta.dirname, '../../../schema/payments.graphql'), 'utf8');
const schema = sdl
  .replace(/^extend schema .*$/m, '')
  .replaceAll(/ @(?:inaccessible|shareable|key\([^)]*\))/g, '');
const app = fastify();
await app.register(mercuriusGateway, {
  jit: 1,
  gateway: {
    services: [
      {
        name: 'payments',
        url: `${subgraphsUrl}/subgraphs/payments`,
        schema,
        connections: 64,
        pipelining: 1,
      },
    ],
  },
});
await serve(app);
