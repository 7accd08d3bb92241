/**
 * One running service for all test files that need nothing special of it: to start one costs more
 * than most of them do. Each file has merchants of its own on it. A run starts it when the first
 * file asks, and names where to ask in TEST_PLAIN_SERVICE; a file that is run alone starts its own.
 */
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { randomBytes } from 'node:crypto';
import { startTestDatabase } from './database.ts';
import { ensureMigrated, startService } from './service.ts';

interface Addresses {
  /** Where `/v1/public` and the hosted page are. */
  readonly rest: string;
  /** Where `/graphql` is. */
  readonly graph: string;
  readonly databaseUrl: string;
}

export interface ServiceInUse extends Addresses {
  /** All that it has printed until now, for all callers. */
  printed(): Promise<string>;
  /** Ends it when it is this file's alone. */
  stop(): Promise<void>;
}

/** A service of this file's own, with settings beside the usual ones. */
export const startOwn = async (
  settings: Readonly<Record<string, string>> = {},
): Promise<ServiceInUse> => {
  const database = await startTestDatabase({ migrated: true });
  await ensureMigrated(database.url);
  const service = await startService('one', {
    DATABASE_URL: database.url,
    SECRET_KEY: randomBytes(32).toString('base64'),
    WEBHOOK_PRIVATE_TARGETS: 'allow',
    GRAPHIQL: 'on',
    ...settings,
  }).catch((error: unknown) => database.stop().then(() => Promise.reject(error)));
  const { rest, graph, processes } = service;
  return {
    rest,
    graph,
    databaseUrl: database.url,
    printed: async () => processes.map(({ output }) => output()).join(''),
    stop: async () => {
      await service.stop();
      await database.stop();
    },
  };
};

/** The service with its usual settings, on a migrated PostgreSQL. */
export const openPlainService = async (): Promise<ServiceInUse> => {
  const at = process.env['TEST_PLAIN_SERVICE'];
  if (!at) return startOwn();
  const started = await fetch(at);
  if (!started.ok) throw new Error(await started.text());
  const addresses = (await started.json()) as Addresses;
  return {
    ...addresses,
    printed: async () => (await fetch(`${at}/printed`)).text(),
    stop: async () => {},
  };
};

/** For a run: starts the service when it is first asked for. `url` is TEST_PLAIN_SERVICE. */
export const offerPlainService = async (): Promise<{
  readonly url: string;
  stop(): Promise<void>;
}> => {
  let starting: Promise<ServiceInUse> | null = null;
  const server = createServer((request, response) => {
    starting ??= startOwn();
    starting
      .then(async ({ printed, rest, graph, databaseUrl }) =>
        request.url === '/printed'
          ? printed()
          : JSON.stringify({ rest, graph, databaseUrl } satisfies Addresses),
      )
      .then(
        (text) => response.end(text),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await starting?.then((service) => service.stop()).catch(() => {});
    },
  };
};
