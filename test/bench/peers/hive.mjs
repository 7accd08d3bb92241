/**
 * Hive Gateway over subgraphs in another process at SUBGRAPHS, with its own query planner and its
 * own HTTP client. JavaScript: its types are not there before it is installed.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createGatewayRuntime } from '@graphql-hive/gateway-runtime';
import { serveListener, subgraphsUrl } from './serve-listener.ts';

const sdl = readFileSync(join(import.meta.dirname, '../../../schema/supergraph.graphql'), 'utf8');
const supergraph = sdl.replaceAll(
  /url: "http:\/\/(payments|payouts|recurring|merchants)"/g,
  (_, name) => `url: "${subgraphsUrl}/subgraphs/${name}"`,
);
const gateway = createGatewayRuntime({
  supergraph,
  logging: false,
  landingPage: false,
  graphiql: false,
  healthCheckEndpoint: false,
});
serveListener(createServer((request, response) => void gateway(request, response)));
