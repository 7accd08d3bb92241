import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below what systems take for the near ends of connections: one of those would stand in the way of
 * whoever listens there later, or again.
 */
const lowest = 16_384;
const highest = 32_767;

let next = lowest + Math.floor(Math.random() * (highest - lowest));

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
};

/**
 * A TCP port of 127.0.0.1 that nobody listens on at this moment, and that this process has not been
 * given before; another program may still take it, so whoever uses it must be ready to fail.
 */
export const freePort = async (): Promise<number> => {
  for (let tries = lowest; tries <= highest; tries += 1) {
    const port = next;
    next = port < highest ? port + 1 : lowest;
    if (await isFree(port)) return port;
  }
  throw new Error('no TCP port is free');
};
