/** A peer's server on a port of its own; its address is reported to its parent. */
import type { Server } from 'node:http';

/** Where the subgraphs are. */
export const subgraphsUrl = process.env['SUBGRAPHS'] ?? '';

/** Listens on the loopback, and ends with the process that has started this one. */
export const serveListener = (server: Server): void => {
  process.once('disconnect', () => process.exit(0));
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (address !== null && typeof address === 'object')
      process.send?.(`http://127.0.0.1:${address.port}`);
  });
};
