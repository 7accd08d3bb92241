/**
 * A draining server answers complete requests and does not wait for incomplete ones: Node stops
 * timing out slow clients once it closes.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/**
 * Once `app` begins to close, cuts after `grace_ms` every connection without a complete request in
 * `inFlight`.
 */
export const cutUnfinished = (
  app: FastifyInstance,
  inFlight: ReadonlySet<ServerResponse>,
  grace_ms: number,
): void => {
  const sockets = new Set<Socket>();
  app.server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const cut = (): void => {
    const asked = new Set(Array.from(inFlight, ({ req }) => (req.complete ? req.socket : null)));
    for (const socket of sockets) if (!asked.has(socket)) socket.destroy();
  };
  app.addHook('preClose', async () => void setTimeout(cut, grace_ms).unref());
};
