/** Ports for what the tests start. */
import { once } from 'node:events';
import { createServer, type ListenOptions } from 'node:net';

/**
 * Below what systems take for the near ends of connections, and below what the service takes for
 * its own PostgreSQL (subgraphs/platform/database/embedded/free-port.ts).
 */
const lowest = 10_240;
const highest = 16_383;

let next = lowest + Math.floor(Math.random() * (highest - lowest));

/** Listens; fulfils with what ends that, or with null where another process listens. */
const listen = async (options: ListenOptions): Promise<(() => Promise<void>) | null> => {
  const server = createServer().unref();
  try {
    await once(server.listen(options), 'listening');
  } catch {
    return null;
  }
  return async () => {
    server.close();
    await once(server, 'close');
  };
};

/**
 * Reserves a port until this process ends: Linux lets one process alone listen on such a name, which
 * is no file. Elsewhere only the random beginning keeps processes apart.
 */
const reserve = async (port: number): Promise<boolean> =>
  process.platform !== 'linux' || (await listen({ path: `\0payments-test-port-${port}` })) !== null;

/**
 * A free TCP port of 127.0.0.1, which that no other process of tests is given while
 * this one lives: what listens there may be ended and started again.
 */
export const freePort = async (): Promise<number> => {
  for (let tries = lowest; tries <= highest; tries += 1) {
    const port = next;
    next = port < highest ? port + 1 : lowest;
    if (!(await reserve(port))) continue;
    const close = await listen({ port, host: '127.0.0.1' });
    await close?.();
    if (close) return port;
  }
  throw new Error('no TCP port is free');
};
