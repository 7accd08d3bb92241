/**
 * The live side of the edge over a fixture in memory: `/graphql` and the stream, with READERS keys
 * of one shop. It is asked for memory and for events as `answerQuestions` says.
 */
import { openEventStream } from '../../../rest-facade/event-stream.ts';
import { registerGateway } from '../../../gateway/graphql/server.ts';
import { registerRestFacade } from '../../../rest-facade/server.ts';
import { noBankCallbacks } from '../../support/no-bank-callbacks.ts';
import { openHttp } from '../../../subgraphs/kernel/service/http/http-server.ts';
import { silent, testKey } from '../../gateway/small-graph.ts';
import { openParts } from '../../gateway/serve-graph.ts';
import { answerQuestions, serve } from '../child-server.ts';
import { readerKey } from '../live-readers.ts';

const readers = Number(process.env['READERS']);
const parts = await openParts({ socketsPerCaller: Number.MAX_SAFE_INTEGER });
const { fixture } = parts;
const holder = fixture.holderOf(testKey);
for (let index = 0; index < readers; index += 1) {
  fixture.setKey(readerKey(index), {
    ...holder,
    keyId: `key-of-reader-${index}`,
    rateLimit: { perSecond: 1_000_000, burst: 1_000_000 },
  });
}
const app = openHttp({
  config: { publicUrl: null },
  log: silent,
  ready: async () => true,
  overload: null,
});
await registerGateway(app, parts);
await registerRestFacade(app, {
  ...parts,
  openStream: openEventStream(app, parts),
  bankCallbacks: noBankCallbacks,
});
answerQuestions(async () => void (await fixture.happen()));
await serve(app);
