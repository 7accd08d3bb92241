/** The REST API as it is, with every check of the edge, over constant subgraphs. */
import { openAuthenticator } from '../../../gateway/callers/authenticate.ts';
import { openBucketsInMemory } from '../../../gateway/callers/buckets-in-memory.ts';
import { openAddressOf } from '../../../gateway/callers/caller-address.ts';
import { limitBy } from '../../../gateway/callers/rate-limit.ts';
import { registerRestFacade } from '../../../rest-facade/server.ts';
import { noBankCallbacks } from '../../support/no-bank-callbacks.ts';
import { openHttp } from '../../../subgraphs/kernel/service/http/http-server.ts';
import { authenticatorParts, localBus } from '../../gateway/small-graph.ts';
import { serve } from '../child-server.ts';
import { openConstantGraph, silent } from './constant-graph.ts';

const supergraph = await openConstantGraph();
const app = openHttp({
  config: { publicUrl: null },
  log: silent,
  ready: async () => true,
  overload: null,
});
const authenticator = openAuthenticator({
  ...authenticatorParts,
  supergraph,
  bus: localBus(),
  operatorToken: null,
});
const limiter = limitBy(openBucketsInMemory(), openAddressOf([]));
await registerRestFacade(app, {
  supergraph,
  authenticator,
  limiter,
  openStream: () => null,
  bankCallbacks: noBankCallbacks,
  log: silent,
});
await serve(app);
