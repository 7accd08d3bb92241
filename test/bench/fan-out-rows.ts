/** How soon one event has reached every socket, and what a socket and a stream cost the process that holds them. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { operatorToken } from '../gateway/small-graph.ts';
import type { Bench } from './plan.ts';
import type { Row } from './report.ts';

/** The key of the reader with this number. */
export const readerKey = (index: number): string => `sk_test_abc123_${String(index).padStart(16, '0')}`;

const events = 5;
/** Connections that are opened at once. */
const abreast = 100;

const startEdge = async (readers: number, stack: AsyncDisposableStack) => {
  const child = fork(join(import.meta.dirname, 'servers/live-edge.ts'), {
    execArgv: ['--expose-gc'],
    env: { ...process.env, READERS: String(readers), NODE_ENV: 'production' },
  });
  stack.defer(() => void child.kill());
  const ask = async (question: string): Promise<number> => {
    const answer = once(child, 'message');
    child.send(question);
    const [number] = (await answer) as [number];
    return number;
  };
  const [url] = (await once(child, 'message')) as [string];
  return { url, ask };
};

const inTurns = async (count: number, work: (index: number) => Promise<void>): Promise<void> => {
  const indices = Array.from({ length: count }, (_, index) => index).values();
  await Promise.all(
    Array.from({ length: abreast }, async () => {
      for (const index of indices) await work(index);
    }),
  );
};

const KiB = (bytes: number): string => `${(bytes / 1_024).toFixed(1)} KiB`;

/** One row: `count` sockets with the same subscription hear each of a few events. */
const socketRow = async (count: number, { progress }: Bench): Promise<Row> => {
  await using stack = new AsyncDisposableStack();
  progress(`fan-out: ${count} sockets`);
  const edge = await startEdge(0, stack);
  const before = await edge.ask('memory');
  let heard = 0;
  let allHeard = (_at_ms: number): void => {};
  const payload = { query: 'subscription { events { id kind at payload } }' };
  await inTurns(count, async () => {
    const socket = new WebSocket(`${edge.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    stack.defer(() => socket.terminate());
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${operatorToken}` } }));
    await once(socket, 'message');
    socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload }));
    // The pong comes behind the subscription: the server has begun it by then.
    const begun = once(socket, 'message');
    socket.send(JSON.stringify({ type: 'ping' }));
    await begun;
    socket.on('message', () => {
      heard += 1;
      if (heard === count) allHeard(performance.timeOrigin + performance.now());
    });
  });
  const each = ((await edge.ask('memory')) - before) / count;
  const taken: number[] = [];
  for (let event = 0; event < events; event += 1) {
    const all = new Promise<number>((resolve) => (allHeard = resolve));
    heard = 0;
    const began_ms = performance.timeOrigin + performance.now();
    await edge.ask('happen');
    taken.push((await all) - began_ms);
  }
  const [half = Number.NaN] = [taken.toSorted((a, b) => a - b)[events >> 1]];
  const figures = `all have heard an event within ${half.toFixed(0)} ms, ${((count * 1_000) / half).toFixed(0)}/s; ${KiB(each)} a socket`;
  return { what: `one event to ${count} sockets`, against: '-', ratio: null, aim: null, rounds: events, figures };
};

/** One row: `count` streams, each of a key of its own. */
const streamRow = async (count: number, { progress }: Bench): Promise<Row> => {
  await using stack = new AsyncDisposableStack();
  progress(`fan-out: ${count} streams`);
  const edge = await startEdge(count, stack);
  const before = await edge.ask('memory');
  await inTurns(count, async (index) => {
    const sent = request(`${edge.url}/v1/public/events`, { agent: false, headers: { authorization: `Bearer ${readerKey(index)}` } });
    stack.defer(() => void sent.destroy());
    sent.on('error', () => {}).end();
    const [response] = (await once(sent, 'response')) as [NodeJS.ReadableStream];
    await once(response, 'data');
    response.resume();
  });
  const each = ((await edge.ask('memory')) - before) / count;
  return { what: `${count} event streams in one process`, against: '-', ratio: null, aim: null, rounds: 1, figures: `${KiB(each)} a stream` };
};

/** The rows. */
export const fanOutRows = async (bench: Bench): Promise<readonly Row[]> => {
  const rows: Row[] = [];
  for (const count of bench.plan.sockets) rows.push(await socketRow(count, bench));
  return [...rows, await streamRow(bench.plan.streams, bench)];
};
