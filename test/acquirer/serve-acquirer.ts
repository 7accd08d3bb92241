/**
 * The emulated acquirer: a development tool that speaks the part of YooKassa API v3 which the connector uses. `/v3` is its API, `/confirm/<id>` the buyer's page,
 * `/admin/books`, `/admin/faults` and `/admin/callbacks` are for tests and people. It moves no money and knows no real card.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { answerCall, send } from './answer-call.ts';
import { apiError, openApi, type ApiRequest, type ApiResponse } from './api.ts';
import { Books, paymentView, payoutView, refundView, type BookedPayment, type BookedPayout, type BookedRefund } from './books.ts';
import { openCallbacks } from './callbacks.ts';
import { mistakeIn } from './description.ts';
import { openFaults, seeded, type Faults } from './faults.ts';
import { confirmationPage } from './page.ts';
import { openPublished } from './published.ts';
import { payNow, refuseToPay, type Tell } from './settle.ts';

export interface AcquirerSettings {
  readonly port: number;
  readonly host: string;
  /** Where people reach it; null: where it listens. */
  readonly publicUrl: string | null;
  /** Where notifications go; null: nowhere, until `/admin/callbacks` says. */
  readonly callbackUrl: string | null;
  /** Buyers confirm by themselves after so long; null: on the page. */
  readonly confirmAfter_ms: number | null;
  readonly seed: number;
  /** A copy of the acquirer's own OpenAPI description, to which everything is then held as well. */
  readonly publishedFile: string | null;
  /** Accounts as `id:secret`: the shop's and the payout gateway's. */
  readonly accounts: readonly string[];
}

/** What can be changed while it runs. */
type Habits = Pick<AcquirerSettings, 'callbackUrl' | 'confirmAfter_ms'>;

interface Acquirer {
  readonly books: Books;
  readonly faults: Faults;
  readonly tell: Tell;
  readonly api: (request: ApiRequest) => ApiResponse;
  readonly authorizations: ReadonlySet<string>;
  habits: Habits;
  readonly viewOf: (object: BookedPayment | BookedRefund | BookedPayout) => object;
}

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

const readJson = (text: string): any => {
  try {
    return text === '' ? null : JSON.parse(text);
  } catch {
    return null;
  }
};

const callApi = async (acquirer: Acquirer, request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> => {
  const { books, faults, habits, authorizations } = acquirer;
  const text = await readBody(request);
  if (!authorizations.has(request.headers.authorization ?? ''))
    return answerCall(null, response, () => apiError(401, 'invalid_credentials', 'Unknown account'));
  const key = request.headers['idempotence-key'];
  const asked: ApiRequest = {
    method: request.method ?? 'GET',
    path: url.pathname.slice('/v3'.length),
    query: url.searchParams,
    key: typeof key === 'string' ? key : null,
    body: readJson(text),
  };
  await answerCall(faults.ofCall(asked.method, asked.path), response, () => {
    const before = books.payments.size;
    const done = acquirer.api(asked);
    const made = books.payments.size > before ? [...books.payments.values()].at(-1) : null;
    if (made && habits.confirmAfter_ms !== null) setTimeout(() => payNow(books, made, acquirer.tell), habits.confirmAfter_ms).unref();
    return done;
  });
};

const showPage = async ({ books, tell }: Acquirer, request: IncomingMessage, response: ServerResponse, id: string): Promise<void> => {
  const payment = books.payments.get(id) ?? null;
  if (request.method === 'POST' && payment) {
    const decision = new URLSearchParams(await readBody(request)).get('decision');
    if (decision === 'pay') payNow(books, payment, tell);
    else refuseToPay(payment, tell);
  }
  send(response, payment ? 200 : 404, confirmationPage(payment), 'text/html');
};

const administer = async (acquirer: Acquirer, request: IncomingMessage, response: ServerResponse, path: string): Promise<void> => {
  const { books, faults, viewOf } = acquirer;
  if (path === '/admin/books') {
    const [payments, refunds, payouts] = [books.payments, books.refunds, books.payouts].map((booked) => [...booked.values()].map(viewOf));
    return send(response, 200, JSON.stringify({ payments, refunds, payouts, violations: books.violations }));
  }
  const body = readJson(await readBody(request)) ?? {};
  if (path === '/admin/faults') faults.set(body);
  else if (path === '/admin/callbacks') acquirer.habits = { ...acquirer.habits, ...body };
  else return send(response, 404, '{}');
  send(response, 200, '{}');
};

const openAcquirer = ({ seed, accounts, callbackUrl, confirmAfter_ms, publishedFile }: AcquirerSettings, base: string): Acquirer => {
  const books = new Books();
  const faults = openFaults(seeded(seed));
  const viewOf: Acquirer['viewOf'] = (object) => {
    if ('method' in object) return paymentView(object, base);
    return 'paymentId' in object ? refundView(object) : payoutView(object);
  };
  const notify = openCallbacks(() => acquirer.habits.callbackUrl, faults);
  const tell: Tell = (event, object) => {
    const view = viewOf(object);
    const wrong = mistakeIn('Notification', { type: 'notification', event, object: view });
    if (wrong) books.violations.push(`told: ${wrong}`);
    notify(event, view);
  };
  const authorizations = new Set(accounts.map((account) => `Basic ${Buffer.from(account).toString('base64')}`));
  const published = publishedFile === null ? null : openPublished(publishedFile);
  const api = openApi({ books, published, base, tell });
  const acquirer: Acquirer = { books, faults, tell, viewOf, authorizations, api, habits: { callbackUrl, confirmAfter_ms } };
  return acquirer;
};

const serve = (acquirer: Acquirer, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const url = new URL(request.url ?? '/', 'http://acquirer');
  if (url.pathname.startsWith('/v3/')) return callApi(acquirer, request, response, url);
  if (url.pathname.startsWith('/confirm/')) return showPage(acquirer, request, response, url.pathname.slice('/confirm/'.length));
  return administer(acquirer, request, response, url.pathname);
};

/** Starts it; gives its base address and how to end it. */
export const serveAcquirer = async (settings: AcquirerSettings): Promise<{ readonly url: string; close(): Promise<void> }> => {
  const server = createServer();
  server.listen(settings.port, settings.host);
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : settings.port;
  const base = settings.publicUrl ?? `http://${settings.host}:${port}`;
  const acquirer = openAcquirer(settings, base);
  server.on('request', (request, response) => {
    serve(acquirer, request, response).catch((error: unknown) => {
      acquirer.books.violations.push(`broke: ${String(error)}`);
      response.destroy();
    });
  });
  return {
    url: base,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
