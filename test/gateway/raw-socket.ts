/**
 * Sockets of the graph without a client around them: for what a client would never do, or hides.
 */
import type { TestContext } from 'node:test';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { testKey } from './small-graph.ts';

/** The parameters of a connection, or the headers of a request, with this key. */
export const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

/** A socket without a client around it. */
export const openSocket = async (
  t: TestContext,
  url: string,
  protocols = ['graphql-transport-ws'],
  headers: Record<string, string> = {},
): Promise<WebSocket> => {
  const socket = new WebSocket(url, protocols, { headers });
  t.after(() => socket.terminate());
  await once(socket, 'open');
  return socket;
};

/** How the other side closes the socket. */
export const closingOf = async (socket: WebSocket): Promise<{ code: number; reason: string }> => {
  const [code, reason] = await once(socket, 'close');
  return { code: Number(code), reason: String(reason) };
};

/** Sends a message. */
export const say = (socket: WebSocket, message: object): void =>
  socket.send(JSON.stringify(message));

/** The next message; throws when the socket closes before it comes. */
export const receive = async (socket: WebSocket): Promise<unknown> => {
  const over = new AbortController();
  const closed = once(socket, 'close', over).then(([code]) =>
    Promise.reject(new Error(`the socket was closed with ${String(code)}`)),
  );
  try {
    const [message] = await Promise.race([once(socket, 'message', over), closed]);
    return JSON.parse(String(message));
  } finally {
    closed.catch(() => {});
    over.abort();
  }
};

/** The next messages, which may come together. */
export const receiveAll = (socket: WebSocket, count: number): Promise<readonly unknown[]> =>
  new Promise((resolve) => {
    const received: unknown[] = [];
    socket.on('message', (message: Buffer) => {
      if (received.push(JSON.parse(message.toString())) === count) resolve(received);
    });
  });

/** A socket whose key was accepted. */
export const letIn = async (t: TestContext, url: string, key = testKey): Promise<WebSocket> => {
  const socket = await openSocket(t, url);
  say(socket, { type: 'connection_init', payload: bearer(key) });
  assert.deepEqual(await receive(socket), { type: 'connection_ack' });
  return socket;
};
