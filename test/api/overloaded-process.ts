/**
 * A server that a test can give too much to do: `/burn` keeps its processor busy, `/wait` only
 * waits, `/held` waits for a message over the channel, `/take` takes a body, `/stream` stays open.
 * Sends its address over the channel.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { openNetworkOf } from '../../subgraphs/platform/access/caller-address.ts';
import { openHttp } from '../../subgraphs/platform/http/http-server.ts';
import { openLog } from '../../subgraphs/platform/tracing/telemetry.ts';

const burn_ms = 25;
const wait_ms = 1_000;

const app = openHttp({
  config: { publicUrl: null },
  log: openLog({ logLevel: 'silent' }, 'test'),
  ready: async () => true,
  overload: {
    inFlight_max: Number(process.env['IN_FLIGHT']),
    loopDelay_max_ms: Number(process.env['DELAY_MS']),
    networkOf: openNetworkOf(['127.0.0.1']),
  },
});
app.get<{ Querystring: { ms?: string } }>('/burn', async ({ query }) => {
  const until = performance.now() + Number(query.ms ?? burn_ms);
  while (performance.now() < until);
  return { done: true };
});
app.post('/take', async () => ({ done: true }));
app.get('/wait', async () => {
  await sleep(wait_ms);
  return { done: true };
});
const released = Promise.withResolvers<void>();
process.once('message', () => released.resolve());
app.get('/held', async () => {
  await released.promise;
  return { done: true };
});
app.get('/stream', { config: { load: 'long-lived' } }, (_request, reply) => {
  reply.hijack().raw.writeHead(200).write('open\n');
});
process.once('disconnect', () => process.exit(0));
process.send?.(await app.listen({ port: 0, host: '127.0.0.1' }));
