/**
 * A proxy before the service that cuts connections: before it has passed a request on, or after it
 * was answered, so that the caller cannot know whether it was carried out.
 */
import { once } from 'node:events';
import { createServer, request as send, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** What happens to a request. */
export type Fate = 'passed' | 'cut before' | 'cut after';

/** Passes a read request on and gives the whole answer. */
const ask = async (service: string, request: IncomingMessage, body: Buffer) => {
  const { method, headers, url = '/' } = request;
  const asking = send(new URL(url, service), { method, headers });
  asking.end(body);
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: await buffer(answer) };
};

/**
 * Opens the proxy. `fateOf` decides what happens to the n-th request (from 0); `fates` counts what
 * happened.
 */
export const openCuttingProxy = async (
  service: string,
  fateOf: (index: number, request: IncomingMessage) => Fate,
) => {
  const fates: Record<Fate, number> = { passed: 0, 'cut before': 0, 'cut after': 0 };
  let index = 0;
  const server = createServer((request, response) => {
    const work = async (): Promise<void> => {
      const fate = fateOf(index++, request);
      fates[fate]++;
      if (fate === 'cut before') return void request.socket.destroy();
      const answer = await ask(service, request, await buffer(request));
      if (fate === 'cut after') return void request.socket.destroy();
      const { 'transfer-encoding': _, ...headers } = answer.headers;
      response.writeHead(answer.status, headers).end(answer.body);
    };
    work().catch(() => request.socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    fates,
    close: (): void => {
      server.closeAllConnections();
      server.close();
    },
  };
};

/** More than this often one call is not cut: a client gives up at some time. */
const cutsOfCall_max = 10;

/**
 * One in six requests is cut before and two are cut after, in an order that repeats only after
 * many. Calls are told apart by their idempotency keys.
 */
export const openMixedFates = () => {
  const cuts = new Map<string, number>();
  return (index: number, { headers }: IncomingMessage): Fate => {
    const dice = (Math.imul(index + 1, 2_654_435_761) >>> 16) % 6;
    const key = String(headers['idempotency-key']);
    const before = cuts.get(key) ?? 0;
    if (dice >= 3 || before >= cutsOfCall_max) return 'passed';
    cuts.set(key, before + 1);
    return dice < 1 ? 'cut before' : 'cut after';
  };
};
