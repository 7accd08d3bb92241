/**
 * Reads bodies that stall behind the head of their answer, each ended after a garbage collection.
 * Prints how each ended, one on a line.
 */
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPaymentClient } from '../../sdk/src/index.ts';

/** Answers with a head and the beginning of a body, and says no more. */
const openStalling = async (type: string, begin: string) => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
    socket.once('data', () => {
      // One that was asked for nothing is Node's own spare one.
      sockets.add(socket);
      const head = `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked`;
      socket.write(`${head}\r\n\r\n${begin.length.toString(16)}\r\n${begin}\r\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const client = openPaymentClient({
    apiKey: 'sk_test_000000_x',
    baseUrl: `http://127.0.0.1:${port}`,
    retries_max: 0,
  });
  return { client, sockets, close: () => server.close() };
};

type Stalling = Awaited<ReturnType<typeof openStalling>>;

const collect = async (): Promise<void> => {
  for (let times = 0; times < 5; times++) {
    await sleep(20);
    globalThis.gc?.();
  }
};

/** Longer than a busy machine takes to end what does not hang. */
const patience_ms = 60_000;
const look_ms = 20;

const endOf = (reading: Promise<unknown>): Promise<string> =>
  Promise.race([
    reading.then(
      () => 'ended',
      (error: Error) => error.name,
    ),
    sleep(patience_ms, 'hangs', { ref: false }),
  ]);

/** How reading ended, and whether its connection was given up. */
const report = async (
  name: string,
  { sockets, close }: Stalling,
  ended: Promise<string>,
): Promise<void> => {
  const how = await ended;
  for (let waited_ms = 0; waited_ms < patience_ms && sockets.size > 0; waited_ms += look_ms)
    await sleep(look_ms);
  console.log(`${name}: ${how}, ${sockets.size} connections`);
  for (const socket of sockets) socket.destroy();
  close();
};

const stopSoon = async (): Promise<AbortController> => {
  const stopping = new AbortController();
  void collect().then(() => stopping.abort(new DOMException('enough', 'AbortError')));
  return stopping;
};

const stream = await openStalling('text/event-stream', ': hello\n\n');
const readStream = async (): Promise<void> => {
  const { signal } = await stopSoon();
  for await (const _ of stream.client.events.stream({ signal }));
};
await report('stream', stream, endOf(readStream()));

const limited = await openStalling('application/json', '{"currency":');
void collect();
await report('limit', limited, endOf(limited.client.balance.get({ timeout_ms: 400 })));

const json = await openStalling('application/json', '{"currency":');
const { signal: enough } = await stopSoon();
await report('json', json, endOf(json.client.balance.get({ signal: enough })));

const csv = await openStalling('text/csv', 'id,type\n');
const readFile = async (): Promise<void> => {
  const { signal } = await stopSoon();
  for await (const _ of await csv.client.ledger.csv({}, { signal }));
};
await report('csv', csv, endOf(readFile()));

const left = await openStalling('text/csv', 'id,type\n');
const leave = async (): Promise<void> => {
  for await (const _ of await left.client.ledger.csv()) break;
};
await report('left', left, endOf(leave()));
