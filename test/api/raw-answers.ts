/** Answers of the server as they come, read by hand. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Holds an answer to the envelope and to the headers that every answer has. */
export const envelope = async (
  response: Response,
): Promise<{ status: number; code: string; message: string }> => {
  assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
  assert.equal(response.headers.get('x-api-version'), '2026-05-06');
  assert.match(response.headers.get('x-request-id') ?? '', /^[\w.:-]{1,128}$/);
  const body = (await response.json()) as {
    error: { code: string; message: string; fields?: readonly unknown[] };
  };
  assert.deepEqual(Object.keys(body), ['error']);
  const { code: _, message: __, fields: ___, ...others } = body.error;
  assert.deepEqual(others, {});
  return { status: response.status, ...body.error };
};

/** A connection whose bytes the test writes. `closed` fulfils however it ends. */
export const talk = async (
  url: string,
): Promise<{ socket: Socket; received: () => string; closed: Promise<void> }> => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  await once(socket, 'connect');
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  return { socket, received: () => text, closed };
};
