/** The table of commands, which defines help, completion and parsing. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { isatty } from 'node:tty';
import { account } from './account.ts';
import { type Command, type Context, row } from './command.ts';
import {
  completionScript,
  shells,
  present,
  readCount,
  callOptionsOf,
  creating,
} from './command-line.ts';
import { links, payments } from './payments.ts';
import { payouts } from './payouts.ts';
import { listen } from './listen.ts';
import { subscriptions, tokens } from './recurring.ts';
import { payCommand, trigger } from './trigger.ts';
import { type Schemas, apiVersion } from '../schemas.ts';
import { listing, printList, second, idOf } from './shared-options.ts';
import { type PaymentClient, openPaymentClient } from '../client.ts';
import { Failure } from './failure.ts';
import { askGraph, operatorGraphOf } from './operator-graph.ts';
import { ApiError } from '../errors.ts';
import { isApiKey, readBaseUrl, type ClientOptions } from '../transport.ts';
import { doctor, checkReadiness } from './doctor.ts';
import { changeFile, defaultUrl } from './settings.ts';

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';

const mcp: Command = {
  name: 'mcp',
  says: 'serve the API to an assistant over stdio; it reads, unless writes are allowed',
  options: {
    'allow-writes': { says: 'offer the tools that change something or move money' },
    live: { says: 'allow that with a live key, too' },
    'max-amount': { says: 'of one call; 100000 when left out', value: 'minor' },
    'max-day': { says: 'of all calls of a day (UTC); 1000000 when left out', value: 'minor' },
    'max-calls': { says: 'a day that change something; 50 when left out', value: 'count' },
  },
  run: async (context) => {
    const loaded = await import('./mcp/serve.ts').catch((error: unknown) => {
      if (!isMissing(error)) throw error;
      throw new Failure('setup', 'psp mcp needs: npm install @modelcontextprotocol/server@2');
    });
    await loaded.serve(context);
  },
};

/** Asks for a secret: what is typed at a terminal is not shown. */
const askSecret = async (question: string, stopped: AbortSignal): Promise<string> => {
  const { stdin, stderr } = process;
  const silent = new Writable({ write: (_part, _encoding, done) => done() });
  const isTerminal = isatty(stdin.fd);
  // From here on the terminal shows nothing that is typed, not even the first keys.
  const reading = createInterface({ input: stdin, output: silent, terminal: isTerminal });
  // Ctrl-C at a terminal that shows nothing is a key as any other.
  reading.once('SIGINT', () => process.emit('SIGINT'));
  stopped.addEventListener('abort', () => reading.close(), { once: true });
  if (isTerminal) stderr.write(question);
  try {
    for await (const line of reading) return line.trim();
    stopped.throwIfAborted();
    return '';
  } finally {
    reading.close();
    if (isTerminal) stderr.write('\n');
  }
};

/** Throws when the service does not know the key. That it may not read the balance is no matter. */
const checkKey = async (options: ClientOptions, stopped: AbortSignal): Promise<void> => {
  const client = openPaymentClient({ ...options, retries_max: 1 });
  try {
    await client.balance.get({ signal: stopped });
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'scope_required') throw error;
  }
};

const login: Command = {
  name: 'login',
  says: 'ask for a key, or read it from stdin, and keep it in a file that only you may read',
  options: {
    url: { says: `where the service is; ${defaultUrl} when left out`, value: 'url' },
    'signing-secret': { says: "ask for the shop's thm_ secret as well" },
  },
  run: async (context) => {
    const { given, env, output, stopped } = context;
    const typed = given.text('url');
    if (typed !== undefined && !readBaseUrl(typed))
      throw new Failure('usage', '--url: expected http(s)://host without a path');
    const url = typed ?? context.url;
    const apiKey = await askSecret('API key (sk_test_... or sk_live_...): ', stopped);
    if (!isApiKey(apiKey)) throw new Failure('usage', 'a key begins with sk_test_ or sk_live_');
    const signed = given.has('signing-secret');
    const signingSecret = signed
      ? await askSecret('Signing secret (thm_...): ', stopped)
      : undefined;
    await checkKey({ apiKey, baseUrl: url, signingSecret }, stopped);
    const path = changeFile(env, { url, apiKey, signingSecret });
    const mode = apiKey.startsWith('sk_live_') ? 'live' : 'test';
    output.result({ url, mode, file: path }, `${mode} key for ${url} kept in ${path}`);
  },
};

/** A secret by its beginning, which says what it is. */
const masked = (secret: string | undefined, begins: RegExp): string | null =>
  secret === undefined ? null : `${begins.exec(secret)?.[0] ?? ''}...`;

const config: Command = {
  name: 'config',
  says: 'show the settings; secrets are masked',
  options: { forget: { says: 'remove the key and the secrets from the file' } },
  run: (context) => {
    const { given, env, output, settings } = context;
    if (given.has('forget')) {
      const none = { apiKey: undefined, signingSecret: undefined, listenSecret: undefined };
      output.result({ file: changeFile(env, none) });
      return;
    }
    output.result({
      url: context.url,
      api_key: masked(settings.apiKey, /^sk_(?:test|live)_.{6}/),
      signing_secret: masked(settings.signingSecret, /^thm_/),
      listen_secret: masked(settings.listenSecret, /^whs_/),
      api_version: apiVersion,
    });
  },
};

const check: Command = {
  name: 'doctor',
  says: 'say what is wrong with the key, clocks, signatures, endpoints and routes to acquirers',
  options: { live: { says: 'also what is missing for live mode' } },
  run: async (context: Context) => {
    const general = await doctor(context);
    const isWhole = context.given.has('live') && general.every(({ ok }) => ok);
    const findings = [...general, ...(isWhole ? await checkReadiness(context) : [])];
    for (const finding of findings) {
      const { what, ok, says } = finding;
      const mark = ok ? context.output.good('ok') : context.output.bad('not ok');
      context.output.result(finding, `${what.padEnd(18)} ${mark}  ${says}`);
    }
    if (findings.some(({ ok }) => !ok)) throw new Failure('refused', 'not everything is right');
  },
};

const setup: readonly Command[] = [login, config, check];

const base = '/v1/public';

/** `/payments?limit=1` or `/v1/public/payments?limit=1`. */
const pathOf = ({ given }: Context): string => {
  const [path = ''] = given.args;
  if (!/^\/[!-~]*$/.test(path))
    throw new Failure('usage', 'expected a path that begins with /, as /payments?limit=1');
  return path.startsWith(`${base}/`) ? path : `${base}${path}`;
};

const readBody = (text: string | undefined): unknown => {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Failure('usage', 'the body is not JSON');
  }
};

/** Every API answer read here is an object. */
const objectOf = async (response: Response): Promise<object> => (await response.json()) as object;

const print = ({ output }: Context, answer: object): void =>
  output.result(answer, JSON.stringify(answer, null, 2));

const anyCall: readonly Command[] = [
  {
    name: 'get',
    args: '<path>',
    says: 'call the API by a path: psp get "/payments?limit=1"',
    run: async (context) => {
      const call = { method: 'GET', path: pathOf(context) } as const;
      print(context, await context.send()(call, objectOf));
    },
  },
  {
    name: 'post',
    args: '<path> [json]',
    says: `call the API by a path with a body: psp post /payments '{"amount": 10000}'`,
    options: creating,
    run: async (context) => {
      const { given } = context;
      const call = {
        method: 'POST',
        path: pathOf(context),
        body: readBody(given.args[1]),
        takesKey: true,
        options: callOptionsOf(given),
      } as const;
      print(context, await context.send()(call, objectOf));
    },
  },
  {
    name: 'banks',
    says: 'list the banks of SBP with the ids that payouts take',
    run: async ({ client, output }) => {
      for await (const bank of client().sbpBanks.list())
        output.result(bank, row(bank.member_id, bank.name));
    },
  },
];

/* `psp events resend`: has an event delivered once more. */

interface Delivery {
  readonly id: string;
  readonly eventId: string;
  readonly url: string;
}

/** Whose event it is: a receipt says it by its payment alone. */
const merchantOf = async (
  client: PaymentClient,
  data: Readonly<Record<string, unknown>>,
): Promise<string> => {
  if (typeof data['merchant_id'] === 'string') return data['merchant_id'];
  return (await client.payments.get(String(data['payment_id']))).merchant_id;
};

const resend: Command = {
  name: 'events resend',
  args: '<id>',
  says: 'deliver an event again, with the same bytes and id',
  notes: ['Needs PSP_OPERATOR_TOKEN, the token of a person: keys may not have events delivered.'],
  run: async (context) => {
    const { client, output, stopped } = context;
    const graph = operatorGraphOf(context, 'delivering an event again');
    const logged = await client().eventLog.get(idOf(context));
    const data: Readonly<Record<string, unknown>> = { ...logged.data };
    const merchantId = await merchantOf(client(), data);
    const found = await askGraph<{ webhookDeliveries: { nodes: Delivery[] } }>(
      graph,
      'the deliveries',
      {
        query: `query ($m: ID, $s: ID) { webhookDeliveries(merchantId: $m, subjectId: $s, first: 200) {
          nodes { id eventId url } } }`,
        variables: { m: merchantId, s: data['id'] },
      },
      stopped,
    );
    const own = found.webhookDeliveries.nodes.filter(({ eventId }) =>
      logged.id.endsWith(eventId.replace('evt_', '')),
    );
    if (own.length === 0)
      throw new Failure('refused', `${logged.event} has no delivery: no endpoint was sent it`);
    for (const { id, url } of own) {
      const { webhookDeliveryResend: answer } = await askGraph<{
        webhookDeliveryResend: { readonly message?: string; readonly status?: string };
      }>(
        graph,
        'the delivery',
        {
          query: `mutation ($m: ID!, $d: ID!) { webhookDeliveryResend(merchantId: $m, id: $d) {
            ... on WebhookDelivery { status } ... on Refused { message } } }`,
          variables: { m: merchantId, d: id },
        },
        stopped,
      );
      if (answer.message !== undefined) throw new Failure('refused', `${url}: ${answer.message}`);
      output.result({ id: logged.id, url, status: answer.status }, row(logged.event, url));
    }
  },
};

/* `psp logs`: what calls with the shop's keys came to. */

const lineOf = (one: Schemas['Request']): readonly string[] => [
  second(one.at),
  String(one.status),
  one.method.padEnd(4),
  one.path,
  one.code ?? '-',
  one.id,
];

const logs: Command = {
  name: 'logs',
  args: '[id]',
  says: 'list calls that were refused, failed or created something; or read one with its bodies',
  options: {
    status: { says: 'of this HTTP status; may be repeated', value: 'status', many: true },
    ...listing,
  },
  notes: ['Of the last 7 days, newest first. The id is the X-Request-Id of the answer.'],
  run: async (context) => {
    const { given, client, output } = context;
    const [id] = given.args;
    if (id !== undefined) {
      output.result(await client().requests.get(id));
      return;
    }
    const status = given.all('status').flatMap((text) => text.split(','));
    const query = present({
      limit: Math.min(200, readCount(given.text('limit'), 20, '--limit')),
      from: given.text('from'),
      to: given.text('to'),
      status: status.length > 0 ? status : undefined,
    });
    await printList(context, client().requests.list(query), lineOf);
  },
};

const completion: Command = {
  name: 'completion',
  args: '<shell>',
  says: 'print what a shell evaluates to complete psp: eval "$(psp completion bash)"',
  choices: shells,
  run: ({ given, stdout }) => void stdout.write(completionScript(given.args[0] ?? '')),
};

export const commands: readonly Command[] = [
  ...setup,
  listen,
  trigger,
  payCommand,
  ...payments,
  ...payouts,
  ...subscriptions,
  ...tokens,
  ...links,
  ...account,
  resend,
  logs,
  ...anyCall,
  mcp,
  completion,
];
