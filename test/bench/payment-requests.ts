/** What the load generator sends: the same payment to every server. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, print, separateOperations } from 'graphql';
import { requestText } from './load.ts';

/** What is paid for. */
export const paymentBody = {
  amount: 10_000,
  order_id: 'order-1',
  description: 'Tea and cakes',
  return_url: 'https://example.com/thanks',
  metadata: { cart: '17' },
};

const headersOf = (key: string): Readonly<Record<string, string>> => ({
  authorization: `Bearer ${key}`,
  accept: '*/*',
  'user-agent': 'bench',
});

/** Creates a payment over REST. */
export const createRequest = (key: string): string =>
  requestText('POST', '/v1/public/payments', headersOf(key), paymentBody);

/** Reads a payment over REST. */
export const readRequest = (key: string, id: string): string =>
  requestText('GET', `/v1/public/payments/${id}`, headersOf(key));

/** A page of fifty payments over REST. */
export const listRequest = (key: string): string =>
  requestText('GET', '/v1/public/payments?limit=50', headersOf(key));

const documents = separateOperations(
  parse(
    readFileSync(join(import.meta.dirname, '../../schema/operations/payments.graphql'), 'utf8'),
  ),
);

/** A document over GraphQL. */
export const graphText = (
  query: string,
  variables: object,
  key = 'none',
  operationName?: string,
): string =>
  requestText('POST', '/graphql', headersOf(key), {
    ...(operationName === undefined ? {} : { operationName }),
    query,
    variables,
  });

/** The document that is behind a REST route, over GraphQL. */
export const namedDocument = (
  name: 'CreatePayment' | 'GetPayment' | 'ListPayments',
  variables: object,
  key?: string,
): string => {
  const document = documents[name];
  if (!document) throw new Error(`there is no operation ${name}`);
  return graphText(print(document), variables, key, name);
};

/** Creates a payment over GraphQL, with the document that is behind the REST route. */
export const createDocument = (key?: string): string => {
  const { order_id: orderId, return_url: returnUrl, ...input } = paymentBody;
  return namedDocument(
    'CreatePayment',
    { input: { ...input, orderId, returnUrl }, idempotency: null },
    key,
  );
};

/** Reads a payment in the same way. */
export const readDocument = (id: string, key?: string): string =>
  namedDocument('GetPayment', { id }, key);
