/** A merchant's receiver in this process, which answers at once. */
import { once } from 'node:events';
import { createServer } from 'node:http';

/** Opens it; `received` is given the body of each webhook. `stack` closes it. Gives its address. */
export const openReceiver = async (
  received: (body: string) => void,
  stack: AsyncDisposableStack,
): Promise<string> => {
  const server = createServer((asked, answer) => {
    let body = '';
    asked.on('data', (chunk: Buffer) => (body += chunk.toString()));
    asked.on('end', () => {
      answer.end();
      received(body);
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port');
  return `http://127.0.0.1:${address.port}`;
};
