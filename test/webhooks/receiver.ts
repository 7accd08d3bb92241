/** A merchant's receiver: a real HTTP server on loopback that remembers what came. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { eventually } from '../support/eventually.ts';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The raw body. */
  readonly body: string;
  /** Unix milliseconds. */
  readonly at: number;
}

export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** The most requests that were open at once. */
  readonly atOnce_max: number;
  /** Resolves when so many requests have come; throws when that takes too long. */
  until(count: number): Promise<void>;
  close(): void;
}

/**
 * Starts a receiver that closes with the test; `answer` is called with each request, the number of
 * those before it, and the response to write.
 */
export const startReceiver = async (
  context: Pick<TestContext, 'after'>,
  answer: (response: ServerResponse, before: number) => void,
): Promise<Receiver> => {
  const received: Received[] = [];
  const open = { now: 0, most: 0 };
  const server = createServer((request, response) => {
    open.now += 1;
    open.most = Math.max(open.most, open.now);
    response.on('close', () => (open.now -= 1)).on('error', () => {});
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const before =
        received.push({
          path: request.url ?? '',
          headers: request.headers,
          body: Buffer.concat(chunks).toString('utf8'),
          at: Date.now(),
        }) - 1;
      answer(response, before);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port');
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  context.after(close);
  return {
    url: `http://127.0.0.1:${address.port}`,
    received,
    get atOnce_max() {
      return open.most;
    },
    until: async (count) =>
      void (await eventually(
        () => received.length >= count,
        () => `${received.length} of ${count} requests came`,
      )),
    close,
  };
};

/** Waits until the second in which a request came is over: the next has a later timestamp. */
export const laterThan = async (request: Received | undefined): Promise<void> => {
  const second_ms = 1_000;
  const over_ms = (Math.floor((request?.at ?? 0) / second_ms) + 1) * second_ms;
  await eventually(() => Date.now() >= over_ms, 'the next second');
};
