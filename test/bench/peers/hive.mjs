/** Hive Gateway over subgraphs in another process at SUBGRAPHS, with its own query planner and its own HTTP client. */
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { serveListener } from './serve-listener.ts';

/** As much as is used here; the package is installed for this bench alone, so that its types are not there. */
interface Runtime {
  createGatewayRuntime(config: object): RequestListener;
}

const runtimePackage: string = '@graphql-hive/gateway-runtime';
const { createGatewayRuntime } = (await import(runtimePackage)) as Runtime;
const { SUBGRAPHS = '' } = process.env;
const sdl = readFileSync(join(import.meta.dirname, '../../../schema/supergraph.graphql'), 'utf8');
const supergraph = sdl.replaceAll(/url: "http:\/\/(payments|payouts|recurring|merchants)"/g, (_, name: string) => `url: "${SUBGRAPHS}/subgraphs/${name}"`);
const gateway = createGatewayRuntime({ supergraph, logging: false, landingPage: false, graphiql: false, healthCheckEndpoint: false });
serveListener(createServer(gateway));
