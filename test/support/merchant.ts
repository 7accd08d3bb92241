/**
 * A merchant's side of a test: a shop of its own, a REST client with its key, a webhook receiver,
 * the event stream.
 */
import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { once } from 'node:events';

import { createParser } from 'eventsource-parser';
import { assertDescribed } from './described-answer.ts';
import type { Service } from './service.ts';
import { operatorToken } from './service.ts';
import { eventually } from './eventually.ts';

type Json = Record<string, unknown>;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: any;
}

const waitedTooLong = 'Too many documents and lists are waiting';

/**
 * Asks the graph as the operator, or with another Authorization. Throws on errors. All files ask one
 * service as one operator, whose documents wait for each other: it asks again, as it is told to.
 */
export const askGraph = async (
  service: Pick<Service, 'graph'>,
  query: string,
  variables: Json = {},
  bearer = operatorToken,
): Promise<any> => {
  const answer = await eventually(async () => {
    const answered = await postGraph(service, query, variables, bearer);
    return answered.errors?.[0].message.startsWith(waitedTooLong) ? null : answered;
  }, 'a turn in the lane');
  if (answer.errors) throw new Error(JSON.stringify(answer.errors));
  return answer.data;
};

const postGraph = async (
  service: Pick<Service, 'graph'>,
  query: string,
  variables: Json,
  bearer: string,
): Promise<any> => {
  const response = await fetch(`${service.graph}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}` },
    body: JSON.stringify({ query, variables }),
  });
  return response.json();
};

export interface Merchant {
  readonly id: string;
  readonly shopId: string;
  readonly key: string;
  /** Calls a REST route. `body` is sent as JSON. */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  /** Adds a webhook endpoint; gives its secret. */
  endpoint(url: string, events?: readonly string[]): Promise<string>;
}

/**
 * Calls a REST route with a key. Fails when the answer is not what `schema/openapi.yaml` describes.
 * Asks again while an earlier call with its idempotency key is at work, and when a list has waited
 * too long for its turn: on a busy machine that may take longer than the service has a call wait.
 */
export const callRest = (
  at: { readonly rest: string; readonly key: string },
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> =>
  eventually(async () => {
    const answer = await callOnce(at, method, path, body, headers);
    const { code, message } = answer.body.error ?? {};
    const isLater = code === 'idempotent_in_progress' || message?.startsWith(waitedTooLong);
    return !isLater && answer;
  }, 'the earlier call with its key, or a turn in the lane');

const callOnce = async (
  at: { readonly rest: string; readonly key: string },
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<Answer> => {
  const response = await fetch(`${at.rest}/v1/public${path}`, {
    method,
    headers: {
      authorization: `Bearer ${at.key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  const { status } = response;
  const json: unknown = isJson && text ? JSON.parse(text) : null;
  assertDescribed(method, `/v1/public${path}`, { status, body: json });
  return { status, headers: response.headers, body: json ?? text };
};

interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** More than a test can send: what is not about rate limits does not meet them. */
const generous: Rate = { perSecond: 10_000, burst: 100_000 };

/** Sets how fast a merchant may call. */
export const setRate = async (
  service: Pick<Service, 'graph'>,
  merchantId: string,
  rate: Rate | null,
): Promise<void> => {
  const mutation = `mutation ($m: ID!, $p: Int, $b: Int) { merchantRateLimitSet(merchantId: $m, perSecond: $p, burst: $b) { ... on Refused { code message } } }`;
  const { merchantRateLimitSet: refused } = await askGraph(service, mutation, {
    m: merchantId,
    p: rate?.perSecond ?? null,
    b: rate?.burst ?? null,
  });
  if (refused.code) throw new Error(JSON.stringify(refused));
};

/**
 * Makes a merchant with a shop and a test key that has every scope. `rate` null: the service's own.
 */
export const makeMerchant = async (
  service: Pick<Service, 'rest' | 'graph'>,
  rate: Rate | null = generous,
): Promise<Merchant> => {
  const { merchantCreate } = await askGraph(
    service,
    'mutation { merchantCreate(name: "Merchant") { id } }',
  );
  const merchantId: string = merchantCreate.id;
  const made = await askGraph(
    service,
    'mutation ($m: ID!) { shopCreate(merchantId: $m, name: "Tea & Cakes") { ... on Shop { id } } }',
    { m: merchantId },
  );
  const shopId: string = made.shopCreate.id;
  const variables = { m: merchantId, s: shopId };
  const issued = await askGraph(
    service,
    'mutation ($m: ID!, $s: ID!) { apiKeyIssue(merchantId: $m, shopId: $s, mode: test) { ... on ApiKeyIssued { secret } } }',
    variables,
  );
  const key: string = issued.apiKeyIssue.secret;
  if (rate) await setRate(service, merchantId, rate);
  return {
    id: merchantId,
    shopId,
    key,
    call: (method, path, body, headers) =>
      callRest({ rest: service.rest, key }, method, path, body, headers),
    endpoint: async (url, events = []) => {
      const created = await askGraph(
        service,
        `mutation ($m: ID!, $s: ID!, $u: String!, $e: [WebhookEvent!]!) { webhookEndpointCreate(merchantId: $m, shopId: $s, url: $u, events: $e) {
          ... on WebhookEndpointCreated { secret } ... on Refused { code message } } }`,
        { ...variables, u: url, e: events },
      );
      if (!created.webhookEndpointCreate.secret) throw new Error(JSON.stringify(created));
      return created.webhookEndpointCreate.secret;
    },
  };
};

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly raw: string;
  readonly body: any;
}

/** A webhook receiver on loopback. `answer` gives the status of the n-th delivery (from 0). */
export const openReceiver = async (answer: (index: number) => number = () => 200) => {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const raw = Buffer.concat(chunks).toString();
      received.push({ headers: request.headers, raw, body: JSON.parse(raw) });
      response.writeHead(answer(received.length - 1)).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A test that fails before it closes its receiver ends all the same.
  server.unref();
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    /** Waits for a delivery that fits; throws after half a minute. */
    until: (fits: (received: Received) => boolean) =>
      eventually(() => received.find(fits), 'the webhook'),
    close: async (): Promise<void> => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

/** The v2 signature header as the contract describes it, computed independently of the service. */
export const expectedSignature = (secret: string, raw: string, timestamp: string): string => {
  const hmac = (text: string): string => createHmac('sha256', secret).update(text).digest('hex');
  return `t=${timestamp},v1=${hmac(raw)},v2=${hmac(`${timestamp}.${raw}`)}`;
};

/**
 * Reads an event stream until it is closed: the comments, and the events with their ids. `ended`
 * fulfils when the other side has closed it.
 */
export const openStream = async (
  rest: string,
  key: string,
  headers: Record<string, string> = {},
) => {
  const aborting = new AbortController();
  const response = await fetch(`${rest}/v1/public/events`, {
    headers: { authorization: `Bearer ${key}`, ...headers },
    signal: aborting.signal,
  });
  const events: { event: string; id: string; data: any }[] = [];
  const comments: string[] = [];
  const parser = createParser({
    onEvent: ({ event = '', id = '', data }) =>
      void events.push({ event, id, data: JSON.parse(data) }),
    onComment: (comment) => void comments.push(`: ${comment.trim()}`),
  });
  const reading = (async () => {
    for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? [])
      parser.feed(text);
  })().catch(() => {});
  return { response, events, comments, ended: reading, close: () => (aborting.abort(), reading) };
};
