/**
 * Readers of the live side, as the bench holds them: sockets with one subscription each, and
 * streams of a key each, in thousands.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { operatorToken } from '../gateway/small-graph.ts';
import type { Held } from './child-server.ts';

/** The key of the reader with this number. */
export const readerKey = (index: number): string =>
  `sk_test_abc123_${String(index).padStart(16, '0')}`;

export interface Edge {
  readonly url: string;
  memory(): Promise<Held>;
  /** Lets one event happen, which every reader receives. */
  happen(): Promise<void>;
}

/** Starts one of the programs in servers/ that hold readers; `stack` ends it. */
export const startEdge = async (
  program: string,
  readers: number,
  stack: AsyncDisposableStack,
): Promise<Edge> => {
  const child = fork(join(import.meta.dirname, 'servers', program), {
    execArgv: ['--expose-gc'],
    env: { ...process.env, READERS: String(readers), NODE_ENV: 'production' },
  });
  const ended = once(child, 'exit');
  stack.defer(async () => {
    child.kill();
    await ended;
  });
  const received = async <Answer>(): Promise<Answer> => {
    const [answer] = (await Promise.race([
      once(child, 'message'),
      ended.then(() => Promise.reject(new Error(`${program} has ended`))),
    ])) as [Answer];
    return answer;
  };
  const ask = <Answer>(question: string): Promise<Answer> => {
    const answer = received<Answer>();
    child.send(question);
    return answer;
  };
  return {
    url: await received<string>(),
    memory: () => ask<Held>('memory'),
    happen: async () => void (await ask('happen')),
  };
};

/** Connections that are opened at once. */
const atOnce = 100;

const inTurns = async (
  from: number,
  to: number,
  work: (index: number) => Promise<void>,
): Promise<void> => {
  const indices = Array.from({ length: to - from }, (_, index) => from + index).values();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const index of indices) await work(index);
    }),
  );
};

/** Opens one reader; `received` is called for each event. Gives how it is closed. */
type OpenReader = (url: string, index: number, received: () => void) => Promise<() => void>;

const openSocket: OpenReader = async (url, _index, received) => {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
    perMessageDeflate: false,
  });
  await once(socket, 'open');
  socket.send(
    JSON.stringify({
      type: 'connection_init',
      payload: { authorization: `Bearer ${operatorToken}` },
    }),
  );
  await once(socket, 'message');
  socket.send(
    JSON.stringify({
      type: 'subscribe',
      id: '1',
      payload: { query: 'subscription { events { id kind at payload } }' },
    }),
  );
  // The pong comes behind the subscription: the server has begun it by then.
  socket.send(JSON.stringify({ type: 'ping' }));
  await new Promise<void>((resolve) => {
    socket.on('message', (data: Buffer) => {
      if (data.includes('"pong"')) resolve();
      else if (data.includes('"next"')) received();
    });
  });
  return () => socket.terminate();
};

const openStream: OpenReader = async (url, index, received) => {
  const sent = request(`${url}/v1/public/events`, {
    agent: false,
    headers: { authorization: `Bearer ${readerKey(index)}` },
  });
  sent.on('error', () => {}).end();
  const [response] = (await once(sent, 'response')) as [
    NodeJS.ReadableStream & { readonly statusCode: number },
  ];
  if (response.statusCode !== 200)
    throw new Error(`a stream was answered with ${response.statusCode}`);
  await once(response, 'data');
  response
    .on('data', (chunk: Buffer) => chunk.includes('event: ') && received())
    .on('error', () => {});
  return () => void sent.destroy();
};

export const openers = { sockets: openSocket, streams: openStream } as const;

export interface Readers {
  /** How many are open. */
  count(): number;
  /** Opens more, until there are so many. */
  openUntil(count: number): Promise<void>;
  /** Milliseconds from the start of an event until every reader has received it. */
  timeEvent(): Promise<number>;
  /** Closes all, and gives the other side a moment to see it. */
  closeAll(): Promise<void>;
}

const closing_ms = 1_500;

/** Readers of an edge; `stack` closes them. */
export const holdReaders = (
  kind: keyof typeof openers,
  edge: Edge,
  stack: AsyncDisposableStack,
): Readers => {
  const closers: (() => void)[] = [];
  let received = 0;
  let allReceived = (): void => {};
  const close = (): void => closers.splice(0).forEach((closeOne) => closeOne());
  stack.defer(close);
  return {
    count: () => closers.length,
    openUntil: (count) =>
      inTurns(closers.length, count, async (index) => {
        closers.push(
          await openers[kind](edge.url, index, () => {
            received += 1;
            if (received === closers.length) allReceived();
          }),
        );
      }),
    timeEvent: async () => {
      const all = new Promise<void>((resolve) => (allReceived = resolve));
      received = 0;
      const began_ms = performance.now();
      await edge.happen();
      await all;
      return performance.now() - began_ms;
    },
    closeAll: async () => {
      close();
      await sleep(closing_ms);
    },
  };
};
