/**
 * The page's GraphQL client: sends operations by name (the gateway has their texts), with the
 * session's cookie and a header that no other site can set.
 */
import {
  cacheExchange,
  createClient,
  fetchExchange,
  subscriptionExchange,
  type Client,
} from 'urql';
import { createClient as createSocket, type Client as Socket } from 'graphql-ws';
import * as graph from '../../../schema/generated/console.ts';

/** The page's reaction when the gateway no longer accepts its session. */
export interface Ends {
  readonly loggedOut: () => void;
  readonly outdated: () => void;
}

const extensions = { console: graph.operationsVersion };

const named = (body: unknown): string => {
  const sent: unknown = JSON.parse(String(body));
  return JSON.stringify({ ...(sent as object), query: undefined, extensions });
};

/** How often a rate-limited document is retried, and the longest wait. */
const repeats_max = 3;
const wait_max_s = 5;

/** Retries a document that waited too long behind others and was not executed. */
const fetchPatiently = async (
  address: RequestInfo | URL,
  init: RequestInit,
  repeats = repeats_max,
): Promise<Response> => {
  const answer = await fetch(address, init);
  const wait_s = Number(answer.headers.get('retry-after'));
  const mayRepeat = answer.status === 429 && wait_s > 0 && wait_s <= wait_max_s;
  if (!mayRepeat || repeats === 0) return answer;
  await new Promise((resolve) => setTimeout(resolve, wait_s * 1_000));
  return fetchPatiently(address, init, repeats - 1);
};

const fetchNamed =
  (ends: Ends): typeof fetch =>
  async (address, init) => {
    const headers = new Headers(init?.headers);
    headers.set('x-console', graph.operationsVersion);
    const answer = await fetchPatiently(address, { ...init, headers, body: named(init?.body) });
    if (answer.status === 401) ends.loggedOut();
    if (answer.status === 400 && (await answer.clone().text()).includes('"console_outdated"'))
      ends.outdated();
    return answer;
  };

/** The interval of the socket's pings, and the deadline of an answer. */
const keepAlive_ms = 10_000;
const answer_max_ms = 5_000;

/** Closes the socket when the network is silently lost, so that a new one opens. */
const endSilence = (socket: Socket): Socket => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hear = (): void => clearTimeout(timer);
  socket.on('ping', (isReceived) => {
    if (isReceived) return;
    hear();
    timer = setTimeout(() => socket.terminate(), answer_max_ms);
  });
  socket.on('pong', (isReceived) => isReceived && hear());
  socket.on('closed', hear);
  addEventListener('offline', () => socket.terminate());
  return socket;
};

export const openSocket = (ends: Ends, watch: (state: 'open' | 'closed') => void): Socket =>
  endSilence(
    createSocket({
      url: `${location.origin.replace(/^http/, 'ws')}/graphql`,
      lazy: false,
      keepAlive: keepAlive_ms,
      retryAttempts: Number.MAX_SAFE_INTEGER,
      retryWait: (retries) =>
        new Promise((resolve) => {
          setTimeout(resolve, Math.min(5_000, 250 * 2 ** retries) + Math.random() * 250);
        }),
      shouldRetry: (event) => {
        const code = event instanceof CloseEvent ? event.code : 0;
        if (code === 4403) ends.loggedOut();
        return code !== 4403;
      },
      on: { connected: () => watch('open'), closed: () => watch('closed') },
    }),
  );

const opened = Promise.withResolvers<Client>();

/** The page's only client, for what is sent outside a component. */
export const pageClient: Promise<Client> = opened.promise;

export const openGraph = (ends: Ends, socket: Socket): Client => {
  const client = createClient({
    url: '/graphql',
    preferGetMethod: false,
    requestPolicy: 'cache-and-network',
    fetch: fetchNamed(ends),
    exchanges: [
      cacheExchange,
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ operationName, variables }) => ({
          subscribe: (sink) => ({
            unsubscribe: socket.subscribe(
              {
                query: '',
                operationName: operationName ?? null,
                variables: { ...variables },
                extensions,
              },
              {
                next: (result) => sink.next(result as Parameters<typeof sink.next>[0]),
                error: (error) => sink.error(error),
                complete: () => sink.complete(),
              },
            ),
          }),
        }),
      }),
    ],
  });
  opened.resolve(client);
  return client;
};
