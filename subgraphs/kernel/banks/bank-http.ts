/** What calls to acquirers over HTTP have in common. */
import { Pool } from 'undici';
import { errorCode } from '../service/error-code.ts';

const connect_ms = 3_000;
const keepAlive_ms = 30_000;
const connections = 32;

/** An acquirer's address: its kept connections, and the prefix of every call's path. */
export interface BankAddress {
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
export const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
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
