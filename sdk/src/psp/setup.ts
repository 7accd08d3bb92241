/** Commands that set the command up, and say whether everything is right. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { isatty } from 'node:tty';
import { openPaymentClient } from '../client.ts';
import { ApiError } from '../errors.ts';
import { isApiKey, readBaseUrl, type ClientOptions } from '../transport.ts';
import { apiVersion } from '../version.ts';
import type { Command, Context } from './command.ts';
import { doctor } from './doctor.ts';
import { checkReadiness } from './readiness.ts';
import { Failure } from './failure.ts';
import { changeFile, defaultUrl } from './settings.ts';

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

/** The rows of these commands. */
export const setup: readonly Command[] = [login, config, check];
