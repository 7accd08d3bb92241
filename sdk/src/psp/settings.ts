/** What the command knows between two calls: a file that only its owner may read. */
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { isApiKey, readBaseUrl } from '../transport.ts';
import { Failure } from './failure.ts';

/** The settings that a file may hold; each has a variable that goes before it. */
export interface Settings {
  /** Where the service is; `PSP_URL`. */
  readonly url?: string;
  /** `PSP_API_KEY`. */
  readonly apiKey?: string;
  /** The shop's `thm_` secret, where it signs its calls; `PSP_SIGNING_SECRET`. */
  readonly signingSecret?: string;
  /** With what `psp listen` signs; made by its first run. */
  readonly listenSecret?: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export const defaultUrl = 'http://127.0.0.1:4000';

/** The folder of the settings, and of what `psp listen` remembers. */
export const settingsFolder = (env: Environment): string => {
  const base = env['XDG_CONFIG_HOME'];
  return env['PSP_CONFIG'] ?? join(base ? base : join(homedir(), '.config'), 'psp');
};

const pathOf = (env: Environment): string => join(settingsFolder(env), 'config.json');

/** Writes a file that only its owner may read; a reader sees the old one or the new one, whole. */
export const writePrivate = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const next = `${path}.${process.pid}`;
  writeFileSync(next, text, { mode: 0o600 });
  chmodSync(next, 0o600);
  renameSync(next, path);
};

const names = ['url', 'apiKey', 'signingSecret', 'listenSecret'] as const;

/** The file's settings; none without a file. */
export const readFile = (env: Environment): Settings => {
  const path = pathOf(env);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return {};
  }
  try {
    const given = JSON.parse(text) as Readonly<Record<string, unknown>>;
    return Object.fromEntries(
      names.flatMap((name) => (typeof given[name] === 'string' ? [[name, given[name]]] : [])),
    );
  } catch {
    throw new Failure('usage', `${path} is not JSON; remove it and run psp login`);
  }
};

/** Changes the file's settings; undefined removes one. Gives where the file is. */
export const changeFile = (
  env: Environment,
  change: { readonly [Name in keyof Settings]?: string | undefined },
): string => {
  const path = pathOf(env);
  writePrivate(path, `${JSON.stringify({ ...readFile(env), ...change }, null, 2)}\n`);
  return path;
};

/** Where a setting is from, for a person who is to correct it. */
const sourceOf = (env: Environment, variable: string): string =>
  env[variable] ? variable : `${variable} is not set, and in ${pathOf(env)} it`;

export const urlOf = (env: Environment, { url = defaultUrl }: Settings): string => {
  if (readBaseUrl(url)) return url.replace(/\/$/, '');
  throw new Failure(
    'usage',
    `${sourceOf(env, 'PSP_URL')}: expected http(s)://host without a path, got ${url}`,
  );
};

export const apiKeyOf = (env: Environment, { apiKey }: Settings): string => {
  if (apiKey === undefined)
    throw new Failure('setup', 'there is no key: run psp login, or set PSP_API_KEY');
  if (isApiKey(apiKey)) return apiKey;
  const source = sourceOf(env, 'PSP_API_KEY');
  throw new Failure('setup', `${source}: expected sk_test_... or sk_live_...`);
};

const variables = { url: 'PSP_URL', apiKey: 'PSP_API_KEY', signingSecret: 'PSP_SIGNING_SECRET' };

/** The settings that hold: a variable goes before the file. */
export const readSettings = (env: Environment): Settings => {
  const set = Object.entries(variables).flatMap(([name, variable]) => {
    const value = env[variable];
    return value ? [[name, value] as const] : [];
  });
  return { ...readFile(env), ...Object.fromEntries(set) };
};
