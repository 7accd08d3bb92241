/** The live side of the edge over a world in memory: `/graphql` and the stream, with READERS keys of a merchant each. Told `happen`, it lets an event happen; told `memory`, it says what it holds. */
import { openEventStream } from '../../../rest-facade/event-stream.ts';
import { registerGateway } from '../../../gateway/server.ts';
import { registerRestFacade } from '../../../rest-facade/server.ts';
import { openHttp } from '../../../subgraphs/kernel/service/http.ts';
import { silent, testKey } from '../../gateway/small-graph.ts';
import { openParts } from '../../gateway/serve-graph.ts';
import { serve } from '../child-server.ts';
import { readerKey } from '../fan-out-rows.ts';

const readers = Number(process.env['READERS']);
const parts = await openParts({ socketsPerCaller: Number.MAX_SAFE_INTEGER });
const { world } = parts;
const holder = world.holderOf(testKey);
for (let index = 0; index < readers; index += 1) {
  world.setKey(readerKey(index), { ...holder, keyId: `key-of-reader-${index}`, merchantId: `merchant-${index}` });
}
const app = openHttp({ config: { publicUrl: null }, log: silent, ready: async () => true });
await registerGateway(app, parts);
await registerRestFacade(app, { ...parts, openStream: openEventStream(app, parts) });
process.on('message', (asked) => {
  if (asked === 'happen') void world.happen().then(() => process.send?.(performance.timeOrigin + performance.now()));
  else {
    globalThis.gc?.();
    setTimeout(() => process.send?.(process.memoryUsage().rss), 500);
  }
});
await serve(app);
