/**
 * Mercurius' gateway, with its query compiler, over the payments subgraph in another process at SUBGRAPHS. It speaks the first version of federation, in which our
 * types of other subgraphs have no place: it serves what payments answers alone.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fastify, { type FastifyPluginAsync } from 'fastify';
import { serve } from '../child-server.ts';

const gatewayPackage: string = '@mercuriusjs/gateway';
const { default: mercuriusGateway } = (await import(gatewayPackage)) as {
  readonly default: FastifyPluginAsync<{ readonly jit: number; readonly gateway: object }>;
};
const { SUBGRAPHS = '' } = process.env;
const sdl = readFileSync(join(import.meta.dirname, '../../../schema/payments.graphql'), 'utf8');
const schema = sdl.replace(/^extend schema .*$/m, '').replaceAll(/ @(?:inaccessible|shareable|key\([^)]*\))/g, '');
const app = fastify();
await app.register(mercuriusGateway, {
  jit: 1,
  gateway: { services: [{ name: 'payments', url: `${SUBGRAPHS}/subgraphs/payments`, schema, connections: 64, pipelining: 1 }] },
});
await serve(app);
