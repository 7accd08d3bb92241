/** A person's browser as the service sees it: cookies, an Origin, the console's header. */
import assert from 'node:assert/strict';
import { createClient, type Client } from 'graphql-ws';
import { WebSocket } from 'ws';
import { operationsVersion } from '../../schema/generated/console.ts';
import { operatorToken } from '../support/service.ts';

type Headers = Readonly<Record<string, string>>;

export interface Visitor {
  /** What the browser would send as its cookies. */
  cookies(): string;
  /** Takes another's cookies. */
  become(cookies: string): void;
  /** Any request of a page of this service; `headers` replace what the page sends. */
  call(method: string, path: string, body?: unknown, headers?: Headers): Promise<Response>;
  /** Enters by a one-time link, also in place of the person who is logged in; gives the status. */
  enter(link: string): Promise<number>;
  /** Sends an operation of the console, or any text with `query`. */
  ask(operationName: string, variables?: object, headers?: Headers, query?: string): Promise<any>;
  /** A client of the sockets with the cookie and this Origin. */
  socket(origin?: string | null): Client;
}

/** Makes a one-time link as `npm run console:link` does. */
export const makeLink = async (rest: string, bearer = operatorToken): Promise<string> => {
  const answer = await fetch(`${rest}/console/links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}` },
  });
  assert.equal(answer.status, 201);
  const { url } = (await answer.json()) as { url: string };
  return url;
};

/** A socket that sends headers which only a browser sets. */
const socketWith = (headers: Headers) =>
  class extends WebSocket {
    constructor(address: string, protocols?: string | string[]) {
      super(address, protocols, { headers });
    }
  };

/** Opens a browser of its own at the service. */
export const openVisitor = (rest: string): Visitor => {
  const jar = new Map<string, string>();
  const cookies = (): string => Array.from(jar, ([name, value]) => `${name}=${value}`).join('; ');
  const call: Visitor['call'] = async (method, path, body, headers = {}) => {
    const sent = Object.entries({
      origin: rest,
      'x-console': 'test',
      cookie: cookies(),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    }).filter(([, value]) => value !== '');
    const answer = await fetch(`${rest}${path}`, {
      method,
      redirect: 'manual',
      headers: Object.fromEntries(sent),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = '', rest = ''] = /^([^=]+)=([^;]*)(.*)$/.exec(line) ?? [];
      if (/Max-Age=0/.test(rest)) jar.delete(name);
      else jar.set(name, value);
    }
    return answer;
  };
  return {
    cookies,
    become: (taken) => {
      jar.clear();
      for (const [name = '', value = ''] of taken.split('; ').map((pair) => pair.split('=')))
        jar.set(name, value);
    },
    call,
    enter: async (link) => {
      const [, secret] = link.split('#');
      const answer = await call('POST', '/console/session', { link: secret, replace: true });
      await answer.arrayBuffer();
      return answer.status;
    },
    ask: async (operationName, variables = {}, headers = {}, query) => {
      const body = { operationName, variables, extensions: { console: operationsVersion }, query };
      const answer = await call('POST', '/graphql', body, headers);
      return { status: answer.status, ...((await answer.json()) as object) };
    },
    socket: (origin = rest) =>
      createClient({
        url: `${rest.replace('http', 'ws')}/graphql`,
        webSocketImpl: socketWith({
          cookie: cookies(),
          ...(origin === null ? {} : { origin }),
        }),
        retryAttempts: 0,
      }),
  };
};

/** Subscribes to the live events; gives what ends the subscription, once the socket is open. */
export const watchLive = async (client: Client): Promise<{ readonly over: Promise<unknown> }> => {
  const opened = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<unknown>();
  client.on('connected', () => opened.resolve());
  client.on('closed', (event) => {
    opened.resolve();
    ended.resolve(event);
  });
  client.on('error', () => opened.resolve());
  const request = {
    operationName: 'LiveEvents',
    query: '',
    extensions: { console: operationsVersion },
  };
  client.subscribe(request, {
    next: () => {},
    error: (error) => ended.resolve(error),
    complete: () => ended.resolve('complete'),
  });
  await opened.promise;
  return { over: ended.promise };
};

/** The code that a socket was closed with; the first words of anything else. */
export const closeCode = async (over: Promise<unknown>): Promise<number | string> => {
  const why = await over;
  return typeof why === 'object' && why !== null && 'code' in why && typeof why.code === 'number'
    ? why.code
    : String(why).slice(0, 60);
};
