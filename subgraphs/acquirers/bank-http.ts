/** What calls to acquirers over HTTP have in common. */
import { Pool } from 'undici';
import {
  fallback,
  nonEmpty,
  nullable,
  object,
  parse,
  pipe,
  string,
  type GenericSchema,
  type ObjectEntries,
} from 'valibot';
import { errorCode } from '../platform/tracing/error-code.ts';

/*
 * Schemas of banks' answers. Banks add, drop and change fields without notice: necessary fields are
 * required, and everything else is null when it is absent or unreadable.
 */

/** A text that is not empty. */
export const text = pipe(string(), nonEmpty());

/** A field that is null when it is absent or is no `schema`. */
export const orNull = <Schema extends GenericSchema>(schema: Schema) =>
  fallback(nullable(schema), null);

/** An object whose fields all have a fallback: an absent object counts as empty. */
export const part = <Entries extends ObjectEntries>(entries: Entries) => {
  const schema = object(entries);
  return fallback(schema, parse(schema, {}));
};

const connect_ms = 3_000;
const keepAlive_ms = 30_000;
const connections = 32;

/** An acquirer's address: its kept connections, and the prefix of every call's path. */
interface BankAddress {
  readonly pool: Pool;
  readonly base: string;
}

/** Opens the pool of an acquirer's API; nothing is connected until it is called. */
export const openBankAddress = (url: string): BankAddress => {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, {
    connections,
    keepAliveTimeout: keepAlive_ms,
    connect: { timeout: connect_ms },
    allowH2: false,
  });
  return { pool, base: pathname.replace(/\/$/, '') };
};

/** An answer's JSON; null when it is not JSON. */
export const parsed = (answer: string): unknown => {
  try {
    return JSON.parse(answer);
  } catch {
    return null;
  }
};

/** What goes wrong before a connection stands. */
const unconnected: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Why a failed call certainly sent nothing; null when it may have. */
export const unsentBecause = (error: unknown): string | null =>
  unconnected.has(errorCode(error)) ? errorCode(error) : null;
