/**
 * What an operator does in the cabinet of a merchant's shop, and requests as a merchant's own
 * program sends them: signed, from an address of its own.
 */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { askGraph, type Merchant } from './merchant.ts';
import type { Service } from './service.ts';

type Graph = Pick<Service, 'graph'>;
type Shop = Pick<Merchant, 'id' | 'shopId'>;
type Json = Record<string, unknown>;

/** Runs one mutation on a shop; gives its result with `__typename`, or the refusal. */
const change = async (
  service: Graph,
  { id, shopId }: Shop,
  mutation: string,
  variables: Json = {},
): Promise<any> => {
  const answer = await askGraph(service, mutation, { m: id, s: shopId, ...variables });
  return Object.values(answer)[0];
};

const done = (result: any): any => {
  if (result.__typename === 'Refused') assert.fail(`${result.code}: ${result.message}`);
  return result;
};

export interface Issued {
  readonly id: string;
  readonly secret: string;
}

/** Issues one more key of the shop. */
export const issueKey = async (
  service: Graph,
  shop: Shop,
  mode: 'test' | 'live' = 'test',
  scopes: readonly string[] | null = null,
): Promise<Issued> =>
  done(
    await change(
      service,
      shop,
      `mutation ($m: ID!, $s: ID!, $mode: Mode!, $scopes: [String!]) { apiKeyIssue(merchantId: $m, shopId: $s, mode: $mode, scopes: $scopes) {
        __typename ... on ApiKeyIssued { id secret } ... on Refused { code message } } }`,
      { mode, scopes },
    ),
  );

/** Revokes a key; gives it as it is then, or the refusal. */
export const revokeKey = (service: Graph, shop: Shop, apiKeyId: string): Promise<any> =>
  change(
    service,
    shop,
    `mutation ($m: ID!, $k: ID!) { apiKeyRevoke(merchantId: $m, apiKeyId: $k) {
      __typename ... on ApiKey { id revokedAt } ... on Refused { code message } } }`,
    { s: undefined, k: apiKeyId },
  );

/** Gives the shop a new signing secret. */
export const rotateSigningSecret = async (service: Graph, shop: Shop): Promise<string> =>
  done(
    await change(
      service,
      shop,
      `mutation ($m: ID!, $s: ID!) { shopSigningSecretRotate(merchantId: $m, shopId: $s) {
        __typename ... on ShopSigningSecretRotated { secret } ... on Refused { code message } } }`,
    ),
  ).secret;

/** Switches the demand for signatures; gives the shop or the refusal. */
export const requireSignature = (
  service: Graph,
  shop: Shop,
  required: boolean,
  bound: boolean | null = null,
): Promise<any> =>
  change(
    service,
    shop,
    `mutation ($m: ID!, $s: ID!, $required: Boolean!, $bound: Boolean) { shopSignatureRequire(merchantId: $m, shopId: $s, required: $required, bound: $bound) {
      __typename ... on Shop { requireSignature requireBoundSignature } ... on Refused { code message } } }`,
    { required, bound },
  );

/** Sets the allow-list; gives the shop or the refusal. */
export const setAllowList = (
  service: Graph,
  shop: Shop,
  entries: readonly string[],
): Promise<any> =>
  change(
    service,
    shop,
    `mutation ($m: ID!, $s: ID!, $entries: [String!]!) { shopAllowListSet(merchantId: $m, shopId: $s, entries: $entries) {
      __typename ... on Shop { allowList } ... on Refused { code message } } }`,
    { entries },
  );

/** Says whether the shop sells nothing without a receipt; gives the shop or the refusal. */
export const requireReceipts = (service: Graph, shop: Shop, required: boolean): Promise<any> =>
  change(
    service,
    shop,
    `mutation ($m: ID!, $s: ID!, $required: Boolean!) { shopReceiptsRequire(merchantId: $m, shopId: $s, required: $required) {
      __typename ... on Shop { receiptsRequired } ... on Refused { code message } } }`,
    { required },
  );

/** What stands in X-PSP-Signature. */
export const signed = (secret: string, body: string | Uint8Array): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

export interface Sending {
  readonly key?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array;
  /** The address that it comes from; loopback has many. */
  readonly from?: string;
  /** Sends the body in chunks, without its length. */
  readonly chunked?: boolean;
}

export interface Received {
  readonly status: number;
  /** Of the envelope or of the first GraphQL error; empty when the answer is none. */
  readonly code: string;
  readonly message: string;
  readonly headers: Headers;
  readonly body: any;
}

/** Sends exactly these bytes and headers, over a connection of their own. */
export const send = ({
  url,
  key,
  method = 'GET',
  headers = {},
  body,
  from,
  chunked,
}: Sending & { readonly url: string }): Promise<Received> => {
  const { promise, resolve, reject } = Promise.withResolvers<Received>();
  const framing =
    body === undefined
      ? {}
      : chunked
        ? { 'transfer-encoding': 'chunked' }
        : { 'content-length': String(Buffer.byteLength(body)) };
  const sent = httpRequest(url, {
    method,
    agent: false,
    ...(from === undefined ? {} : { localAddress: from }),
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...framing,
      ...headers,
    },
  });
  sent.on('error', reject).on('response', (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    response.on('end', () => {
      const json = text.startsWith('{') ? JSON.parse(text) : {};
      const error = json.error ?? json.errors?.[0];
      resolve({
        status: response.statusCode ?? 0,
        code: error?.code ?? error?.extensions?.code ?? '',
        message: error?.message ?? '',
        headers: new Headers(response.headers as Record<string, string>),
        body: json,
      });
    });
  });
  sent.end(body);
  return promise;
};
