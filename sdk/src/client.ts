/** Every route of the API as a method, in groups. A new route is one line here. */
import { ApiError } from './errors.ts';
import { list, read, readOf, create, act, actWith, type QueryOf } from './routes.ts';
import { streamEvents, type StreamOptions } from './stream.ts';
import { openTransport, type CallOptions, type ClientOptions, type Send } from './transport.ts';

/** The ledger as a file (RFC 4180). The stream fails when the file is truncated. */
const openLedgerFile =
  (send: Send) =>
  (
    query?: QueryOf<'/v1/public/ledger'>,
    options?: CallOptions,
  ): Promise<ReadableStream<Uint8Array>> =>
    send(
      {
        method: 'GET',
        path: '/v1/public/ledger',
        query: { ...query, format: 'csv' },
        headers: { accept: 'text/csv' },
        options,
      },
      async ({ body }) => body ?? new Response('').body ?? new ReadableStream(),
    );

/**
 * Cancels a payment. When an attempt had no answer and the next one returns `not_pending`, the
 * payment shows whether the first one took effect.
 */
const cancelPayment = (send: Send) => {
  const cancel = act(send, '/v1/public/payments/{id}/cancel');
  const get = read(send, '/v1/public/payments/{id}');
  return (id: string, options?: CallOptions): ReturnType<typeof cancel> =>
    cancel(id, options).catch(async (error: unknown) => {
      const isLate = error instanceof ApiError && error.code === 'not_pending';
      if (!isLate || error.attempts === 1) throw error;
      const { status } = await get(id, options);
      if (status !== 'cancelled') throw error;
      return { status };
    });
};

/** Money movements and their registries. */
const moneyRoutesOf = (send: Send) => ({
  payments: {
    create: create(send, '/v1/public/payments'),
    list: list(send, '/v1/public/payments'),
    get: read(send, '/v1/public/payments/{id}'),
    cancel: cancelPayment(send),
    capture: create(send, '/v1/public/payments/{id}/capture'),
    refund: create(send, '/v1/public/payments/{id}/refund'),
    closeReceipt: create(send, '/v1/public/payments/{id}/receipts'),
  },
  refunds: {
    list: list(send, '/v1/public/refunds'),
  },
  receipts: {
    list: list(send, '/v1/public/receipts'),
    get: read(send, '/v1/public/receipts/{id}'),
  },
  payouts: {
    create: create(send, '/v1/public/payouts'),
    list: list(send, '/v1/public/payouts'),
    createBatch: create(send, '/v1/public/payouts/batch'),
    get: read(send, '/v1/public/payouts/{id}'),
  },
});

const routesOf = (send: Send) => ({
  ...moneyRoutesOf(send),
  balance: {
    get: readOf(send, '/v1/public/balance', 'currency'),
  },
  rates: {
    list: read(send, '/v1/public/rates'),
  },
  ledger: {
    list: list(send, '/v1/public/ledger'),
    csv: openLedgerFile(send),
  },
  sbpBanks: {
    list: list(send, '/v1/public/banks/sbp'),
  },
  subscriptions: {
    create: create(send, '/v1/public/subscriptions'),
    list: list(send, '/v1/public/subscriptions'),
    get: read(send, '/v1/public/subscriptions/{id}'),
    schedule: read(send, '/v1/public/subscriptions/{id}/schedule'),
    cancel: actWith(send, '/v1/public/subscriptions/{id}/cancel'),
  },
  tokens: {
    create: create(send, '/v1/public/tokens'),
    list: list(send, '/v1/public/tokens'),
    charge: create(send, '/v1/public/tokens/{id}/charge'),
    cancel: act(send, '/v1/public/tokens/{id}/cancel'),
  },
  customerSessions: {
    create: actWith(send, '/v1/public/customer-sessions'),
  },
  links: {
    create: create(send, '/v1/public/links'),
    list: list(send, '/v1/public/links'),
    get: read(send, '/v1/public/links/{id}'),
    deactivate: act(send, '/v1/public/links/{id}/deactivate'),
  },
  eventLog: {
    list: list(send, '/v1/public/event-log'),
    get: read(send, '/v1/public/event-log/{id}'),
  },
  requests: {
    list: list(send, '/v1/public/requests'),
    get: read(send, '/v1/public/requests/{id}'),
  },
  events: {
    /** The live stream (`GET /v1/public/events`), open while it is being read. */
    stream: (options?: StreamOptions) => streamEvents(send, options),
  },
});

/** A shop's connection to the API. */
export type PaymentClient = ReturnType<typeof routesOf>;

/** The API over a connection. */
export const clientOver = (send: Send): PaymentClient => routesOf(send);

/** Opens the API with a shop's key. Throws a TypeError for an invalid key or address. */
export const openPaymentClient = (options: ClientOptions): PaymentClient =>
  clientOver(openTransport(options));
