/**
 * Settings of the environment: tables name their variables, schemas read them. Each variable may
 * also come from a file that `<NAME>_FILE` names.
 */
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { readAddressEntry } from '../access/caller-address.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * A variable, the schema of its text, and the text that stands for one that is not set. The
 * messages of the schema follow the name of the variable.
 */
type Setting = readonly [name: string, schema: v.GenericSchema<string, unknown>, fallback?: string];

/** Settings by the field that holds each. */
export type SettingTable = Readonly<Record<string, Setting>>;

/** The result of a table: null for a variable that is not set and has no fallback. */
export type Settings<Table extends SettingTable> = {
  readonly [Field in keyof Table]:
    | v.InferOutput<Table[Field][1]>
    | (Table[Field] extends readonly [unknown, unknown, string] ? never : null);
};

/** Reads one environment. An invalid value is a mistake, and its fallback is returned. */
export class Reader {
  readonly mistakes: string[] = [];
  /** The variables that were read, and the text that stands for each that is not set. */
  readonly fallbacks = new Map<string, string | null>();
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  read<const Table extends SettingTable>(table: Table): Settings<Table> {
    const fields = Object.entries(table).map(([field, setting]) => [field, this.#value(setting)]);
    // A parse border: each field has just been read by its own schema.
    return Object.fromEntries(fields) as Settings<Table>;
  }

  #value([name, schema, fallback]: Setting): unknown {
    this.fallbacks.set(name, fallback ?? null);
    const value = this.#textOf(name);
    if (value !== null) {
      const { success, output, issues } = v.safeParse(schema, value);
      if (success) return output;
      this.mistakes.push(...issues.map(({ message }) => `${name} ${message}`));
    }
    return fallback === undefined ? null : v.parse(schema, fallback);
  }

  #textOf(name: string): string | null {
    const file = this.#environment[`${name}_FILE`];
    const value = this.#environment[name];
    if (file && value) this.mistakes.push(`${name} and ${name}_FILE are both set; set one`);
    if (!file) return value || null;
    try {
      // A file of an unused secret may be empty.
      return readFileSync(file, 'utf8').trim() || null;
    } catch {
      this.mistakes.push(`${name}_FILE names a file that cannot be read`);
      return null;
    }
  }
}

export const text = v.string();

export const integer = (least: number, limit: number) =>
  v.pipe(
    v.string(),
    v.check(
      (value) => /^\d+$/.test(value) && Number(value) >= least && Number(value) <= limit,
      ({ input }) => `must be an integer from ${least} to ${limit}, got "${input}"`,
    ),
    v.transform(Number),
  );

export const oneOf = <const Values extends readonly string[]>(...values: Values) =>
  v.picklist(values, ({ input }) => `must be one of ${values.join(', ')}, got "${String(input)}"`);

export const onOff = v.pipe(
  oneOf('on', 'off'),
  v.transform((value) => value === 'on'),
);

const hasProtocol = (protocols: readonly string[]) => (address: string) =>
  protocols.includes(URL.parse(address)?.protocol ?? '');
// The value may hold a password: do not repeat it.
const mustBeAddress = (protocols: readonly string[]): string =>
  `must be an address with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`;
const withoutSlash = (address: string): string => address.replace(/\/$/, '');

/** An address exactly as it is written. */
export const exactUrl = (...protocols: readonly string[]) =>
  v.pipe(v.string(), v.check(hasProtocol(protocols), mustBeAddress(protocols)));

/** An address, without a slash at the end. */
export const url = (...protocols: readonly string[]) =>
  v.pipe(exactUrl(...protocols), v.transform(withoutSlash));

/** One address, or several with commas between them. */
export const urls = (...protocols: readonly string[]) =>
  v.pipe(
    v.string(),
    v.transform((list) => list.split(',').map((address) => withoutSlash(address.trim()))),
    v.check(
      (addresses) => addresses.every(hasProtocol(protocols)),
      `${mustBeAddress(protocols)}, or several with commas between them`,
    ),
    v.transform((addresses) => addresses.join(',')),
  );

/**
 * Inserts a password into addresses without one: the password may then be a secret file, and the
 * address a plain setting.
 */
export const withPassword = (addresses: string | null, password: string | null): string | null => {
  if (addresses === null || password === null) return addresses;
  return addresses
    .split(',')
    .map((address) => {
      const parsed = new URL(address);
      if (parsed.password === '') parsed.password = encodeURIComponent(password);
      return withoutSlash(parsed.href);
    })
    .join(',');
};

const split = v.pipe(
  v.string(),
  v.transform((list) => list.split(/[\s,]+/).filter((entry) => entry !== '')),
);

/** Addresses and CIDR blocks, with spaces or commas between them. */
export const networks = v.pipe(
  split,
  v.array(
    v.pipe(
      v.string(),
      v.check(
        (entry) => readAddressEntry(entry) !== null,
        ({ input }) => `must hold IPv4 or IPv6 addresses or CIDR blocks, got "${input}"`,
      ),
      v.transform((entry) => readAddressEntry(entry) ?? entry),
    ),
  ),
);

/** Origins of pages, such as `https://console.example.com`, with spaces or commas between them. */
export const origins = v.pipe(
  split,
  v.array(
    v.pipe(
      v.string(),
      v.check(
        (entry) => hasProtocol(['http:', 'https:'])(entry) && URL.parse(entry)?.origin === entry,
        ({ input }) => `must hold origins such as https://console.example.com, got "${input}"`,
      ),
    ),
  ),
);

/** 32 bytes in base64. */
export const keyInBase64 = v.pipe(
  v.string(),
  v.transform((value) => Buffer.from(value, 'base64')),
  v.check(
    ({ length }) => length === 32,
    ({ input }) =>
      `must be 32 bytes in base64 (openssl rand -base64 32), got ${input.length} bytes`,
  ),
);
