/** Ports for what the tests start. */
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below what systems take for the near ends of connections, and below what the service takes for
 * its own PostgreSQL (subgraphs/kernel/database/embedded/free-port.ts).
 */
const lowest = 10_240;
const highest = 16_383;
const used = '127.0.0.1';
/** Nothing listens here but the processes of tests, which so reserve the same port of `used`. */
const reserving = '127.0.0.2';

let next = lowest + Math.floor(Math.random() * (highest - lowest));

/** Listens on a port; fulfils with what ends that, or with null where somebody listens already. */
const listen = async (host: string, port: number): Promise<(() => Promise<void>) | null> => {
  const server = createServer().unref();
  try {
    await once(server.listen(port, host), 'listening');
  } catch (error) {
    // A system may have one address of loopback alone: there the range is all that helps.
    const isUnknown = (error as NodeJS.ErrnoException).code === 'EADDRNOTAVAIL';
    return isUnknown ? async () => {} : null;
  }
  return async () => {
    server.close();
    await once(server, 'close');
  };
};

/**
 * A TCP port of 127.0.0.1 that nobody listens on, and that no other process of tests is given while
 * this one lives: what listens there may be ended and started again.
 */
export const freePort = async (): Promise<number> => {
  for (let tries = lowest; tries <= highest; tries += 1) {
    const port = next;
    next = port < highest ? port + 1 : lowest;
    const release = await listen(reserving, port);
    const close = release && (await listen(used, port));
    if (close) {
      await close();
      return port;
    }
    await release?.();
  }
  throw new Error('no TCP port is free');
};
