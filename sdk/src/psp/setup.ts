/** Commands that set the command up, and say whether everything is right. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { isatty } from 'node:tty';
import { openPaymentClient } from '../client.ts';
import { ApiError } from '../errors.ts';
import { apiVersion } from '../version.ts';
import type { Command, Context } from './command.ts';
import { doctor } from './doctor.ts';
import { checkReadiness } from './readiness.ts';
import { Failure } from './failure.ts';
import { changeFile, defaultUrl } from './settings.ts';

/** Asks for a secret: what is typed at a terminal is not shown. */
const askSecret = async (question: string): Promise<string> => {
  const { stdin, stderr } = process;
  const silent = new Writable({ write: (_part, _encoding, done) => done() });
  const isTerminal = isatty(stdin.fd);
  // From here on a terminal shows nothing: whoever types at once is not quicker than that.
  const reading = createInterface({ input: stdin, output: silent, terminal: isTerminal });
  if (isTerminal) stderr.write(question);
  try {
    for await (const line of reading) return line.trim();
    return '';
  } finally {
    reading.close();
    if (isTerminal) stderr.write('\n');
  }
};

/** Throws when the service does not know the key. That it may not read the balance is no matter. */
const checkKey = async (apiKey: string, baseUrl: string, signingSecret?: string): Promise<void> => {
  const client = openPaymentClient({ apiKey, baseUrl, signingSecret, retries_max: 1 });
  try {
    await client.balance.get();
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
  run: async ({ given, env, output, settings }) => {
    const url = given.text('url') ?? env['PSP_URL'] ?? settings.url ?? defaultUrl;
    const apiKey = await askSecret('API key (sk_test_... or sk_live_...): ');
    if (!/^sk_(?:test|live)_\S+$/.test(apiKey))
      throw new Failure('usage', 'a key begins with sk_test_ or sk_live_');
    const signed = given.has('signing-secret');
    const signingSecret = signed ? await askSecret('Signing secret (thm_...): ') : undefined;
    await checkKey(apiKey, url, signingSecret);
    const path = changeFile(env, { url, apiKey, signingSecret });
    const mode = apiKey.startsWith('sk_live_') ? 'live' : 'test';
    output.result({ url, mode, file: path }, `${mode} key for ${url} kept in ${path}`);
  },
};

const masked = (secret: string | undefined): string | null =>
  secret === undefined ? null : `${secret.slice(0, 'sk_test_000000'.length)}...`;

const config: Command = {
  name: 'config',
  says: 'show what is set; secrets are masked',
  options: { forget: { says: 'remove the key and the secrets from the file' } },
  run: ({ given, env, output, settings, url }) => {
    if (given.has('forget')) {
      const none = { apiKey: undefined, signingSecret: undefined, listenSecret: undefined };
      output.result({ file: changeFile(env, none) });
      return;
    }
    output.result({
      url,
      api_key: masked(settings.apiKey),
      signing_secret: settings.signingSecret === undefined ? null : 'thm_...',
      listen_secret: settings.listenSecret ?? null,
      api_version: apiVersion,
    });
  },
};

const check: Command = {
  name: 'doctor',
  says: 'check the key, the clock, signatures, the event log and recent webhooks',
  options: { live: { says: 'what the shop has still to do before it takes real money' } },
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
