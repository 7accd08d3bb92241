/**
 * A proxy before PostgreSQL that counts what all clients have it execute: the pool,
 * the ORM, the queue and the bus. It reads PostgreSQL's protocol and changes nothing.
 */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** What PostgreSQL was sent: how often each statement, by its name or its first words. */
export interface StatementProxy {
  /** The address of the database, by way of the proxy. */
  readonly url: string;
  readonly counts: ReadonlyMap<string, number>;
  close(): void;
}

const firstWords = (text: string): string => text.trim().replaceAll(/\s+/g, ' ').slice(0, 70);

/** Reads what one client sends; calls `executed` for each statement. */
const openReader = (executed: (name: string) => void): ((chunk: Buffer) => void) => {
  const texts = new Map<string, string>();
  let left = Buffer.alloc(0);
  let bound = '';
  let hasStarted = false;
  const message = (type: string, body: Buffer): void => {
    const strings = body.toString('utf8').split('\0');
    const [first = '', second = ''] = strings;
    switch (type) {
      case 'Q':
        return executed(firstWords(first));
      case 'P':
        return void texts.set(first, second);
      case 'B':
        bound = second;
        return;
      case 'E':
        return executed(bound || firstWords(texts.get('') ?? ''));
    }
  };
  return (chunk) => {
    left = Buffer.concat([left, chunk]);
    for (;;) {
      // The first message of a connection has no type.
      const head = hasStarted ? 1 : 0;
      if (left.length < head + 4) return;
      const length = left.readUInt32BE(head);
      if (left.length < head + length) return;
      if (hasStarted)
        message(String.fromCharCode(left[0] ?? 0), left.subarray(head + 4, head + length));
      left = left.subarray(head + length);
      hasStarted = true;
    }
  };
};

/** Opens a proxy before the database at `url`. */
export const openStatementProxy = async (url: string): Promise<StatementProxy> => {
  const counts = new Map<string, number>();
  const executed = (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);
  const behind = new URL(url);
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const database = connect(Number(behind.port), behind.hostname);
    const read = openReader(executed);
    client.on('data', read).pipe(database).pipe(client);
    for (const [one, other] of [
      [client, database],
      [database, client],
    ] as const) {
      one.setNoDelay(true);
      open.add(one);
      one.on('error', () => other.destroy());
      one.once('close', () => (open.delete(one), other.destroy()));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return {
    url: Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(address.port) }).href,
    counts,
    close: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
};
