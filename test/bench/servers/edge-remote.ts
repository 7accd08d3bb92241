/** Our edge, REST and graph with every check, over subgraphs in another process at SUBGRAPHS. */
import { openAuthenticator } from '../../../gateway/callers/authenticate.ts';
import { openBucketsInMemory } from '../../../gateway/callers/buckets-in-memory.ts';
import { openAddressOf } from '../../../gateway/callers/caller-address.ts';
import { openLiveEvents } from '../../../gateway/live/events.ts';
import { openLiveSubscriptions } from '../../../gateway/live/subscriptions.ts';
import { limitBy } from '../../../gateway/callers/rate-limit.ts';
import { remoteExecutor } from '../../../gateway/remote-subgraph.ts';
import { openOrigins } from '../../../gateway/callers/origins.ts';
import { registerGateway } from '../../../gateway/graphql/server.ts';
import { storedEvents } from '../../../gateway/live/stored-events.ts';
import { registerRestFacade } from '../../../rest-facade/server.ts';
import { noBankCallbacks } from '../../support/no-bank-callbacks.ts';
import { openHttp } from '../../../subgraphs/kernel/service/http/http-server.ts';
import { subgraphPath } from '../../../subgraphs/kernel/service/graph/serve-subgraph.ts';
import { authenticatorParts, localBus } from '../../gateway/small-graph.ts';
import { serve } from '../child-server.ts';
import { openConstantGraph, silent } from './constant-graph.ts';

const { SUBGRAPHS = '' } = process.env;
const supergraph = await openConstantGraph((name) =>
  remoteExecutor(
    `${SUBGRAPHS}${subgraphPath(name)}`,
    { shared: Buffer.alloc(32, 7), service: null },
    silent,
  ),
);
const bus = localBus();
const authenticator = openAuthenticator({
  ...authenticatorParts,
  supergraph,
  bus,
  operatorToken: null,
});
const limiter = limitBy(openBucketsInMemory(), openAddressOf([]));
const liveEvents = openLiveEvents({ bus, readEventsAfter: storedEvents(supergraph), log: silent });
const liveSubscriptions = openLiveSubscriptions({ supergraph, liveEvents, log: silent });
const app = openHttp({
  config: { publicUrl: null },
  log: silent,
  ready: async () => true,
  overload: null,
});
await registerGateway(app, {
  supergraph,
  authenticator,
  limiter,
  liveSubscriptions,
  origins: openOrigins(null, []),
  introspection: true,
  graphiql: false,
  log: silent,
});
await registerRestFacade(app, {
  supergraph,
  authenticator,
  limiter,
  openStream: () => null,
  bankCallbacks: noBankCallbacks,
  log: silent,
});
await serve(app);
