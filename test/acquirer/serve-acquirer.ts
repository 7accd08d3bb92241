/**
 * The emulated acquirers: a development tool. `/v3` is YooKassa's API, `/v2` and `/cashbox` are
 * T-Bank's, the parts that the connectors use; `/confirm/<id>` and `/pay/<id>` are their pages for
 * buyers; `/admin/books`, `/admin/faults` and `/admin/callbacks` are for tests and people. No money
 * is moved, and no real card is known.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { send } from './answer-call.ts';
import { readJson, type Emulated, type Behaviour, type Surroundings } from './emulated.ts';
import { emulateYooKassa, type YooKassaSettings } from './emulate-yookassa.ts';
import { openFaults, seeded } from './faults.ts';
import { confirmationPage } from './page.ts';
import { emulateTBank, type TBankSettings } from './tbank/emulate-tbank.ts';

export interface AcquirerSettings extends YooKassaSettings, TBankSettings, Behaviour {
  readonly port: number;
  readonly host: string;
  /** Where people reach it; null: where it listens. */
  readonly publicUrl: string | null;
  readonly seed: number;
}

interface Acquirers extends Surroundings {
  readonly yookassa: Emulated;
  readonly tbank: Emulated;
  change(behaviour: Partial<Behaviour>): void;
}

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

const showPage = (
  emulated: Emulated,
  request: IncomingMessage,
  response: ServerResponse,
  id: string,
  text: string,
): void => {
  if (request.method === 'POST')
    emulated.decide(id, new URLSearchParams(text).get('decision') === 'pay' ? 'pay' : 'refuse');
  const shown = emulated.shown(id);
  send(response, shown ? 200 : 404, confirmationPage(shown), 'text/html');
};

const administer = (
  { yookassa, tbank, faults, violations, change }: Acquirers,
  response: ServerResponse,
  path: string,
  text: string,
): void => {
  if (path === '/admin/books')
    return send(
      response,
      200,
      JSON.stringify({
        ...yookassa.books(),
        tbank: tbank.books(),
        violations,
        planned: faults.planned(),
      }),
    );
  const body = readJson(text) ?? {};
  if (path === '/admin/faults') faults.set(body);
  else if (path === '/admin/callbacks') change(body);
  else return send(response, 404, '{}');
  send(response, 200, '{}');
};

const openAcquirers = (settings: AcquirerSettings, base: string): Acquirers => {
  let behaviour: Behaviour = {
    callbackUrl: settings.callbackUrl,
    confirmAfter_ms: settings.confirmAfter_ms,
    receipts: settings.receipts,
  };
  const around: Surroundings = {
    base,
    faults: openFaults(seeded(settings.seed)),
    behaviour: () => behaviour,
    violations: [],
  };
  const change = (changed: Partial<Behaviour>): void => {
    behaviour = { ...behaviour, ...changed };
  };
  return {
    ...around,
    change,
    yookassa: emulateYooKassa(settings, around),
    tbank: emulateTBank(settings, around),
  };
};

const serve = async (
  acquirers: Acquirers,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const url = new URL(request.url ?? '/', 'http://acquirer');
  const text = await readBody(request);
  const [, room = '', id = ''] = url.pathname.split('/');
  switch (room) {
    case 'v3':
      return acquirers.yookassa.call(request, response, url, text);
    case 'v2':
    case 'cashbox':
      return acquirers.tbank.call(request, response, url, text);
    case 'confirm':
      return showPage(acquirers.yookassa, request, response, id, text);
    case 'pay':
      return showPage(acquirers.tbank, request, response, id, text);
    default:
      return administer(acquirers, response, url.pathname, text);
  }
};

/** Starts it; gives its base address and how to end it. */
export const serveAcquirer = async (
  settings: AcquirerSettings,
): Promise<{ readonly url: string; close(): Promise<void> }> => {
  const server = createServer();
  server.listen(settings.port, settings.host);
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : settings.port;
  const base = settings.publicUrl ?? `http://${settings.host}:${port}`;
  const acquirers = openAcquirers(settings, base);
  server.on('request', (request, response) => {
    serve(acquirers, request, response).catch((error: unknown) => {
      acquirers.violations.push(`broke: ${String(error)}`);
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
