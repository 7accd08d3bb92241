/** How YooKassa is reached: the variables YOOKASSA_*. */
import type { Account } from '../bank-accounts.ts';
import { integer, networks, text, url, type Reader } from '../../platform/config/read-variables.ts';

/** The networks that YooKassa publishes as its own. */
const published =
  '185.71.76.0/27 185.71.77.0/27 77.75.153.0/25 77.75.154.128/25 77.75.156.11 77.75.156.35 2a02:5180::/32';

/** An account of the platform; null: merchants need one of their own. */
const readAccount = (reader: Reader, idName: string, secretName: string): Account | null => {
  const { id, secret } = reader.read({ id: [idName, text], secret: [secretName, text] });
  if (id === null && secret === null) return null;
  if (id === null || secret === null)
    reader.mistakes.push(`${idName} and ${secretName} are required together`);
  return { id: id ?? '', secret: secret ?? '' };
};

/** Reads the variables; mistakes are added to the reading's. */
export const readYooKassa = (reader: Reader) => ({
  ...reader.read({
    url: ['YOOKASSA_URL', url('https:', 'http:'), 'https://api.yookassa.ru/v3'],
    /** How long one attempt of a call may take; a call has at most two. */
    attempt_ms: ['YOOKASSA_TIMEOUT_MS', integer(100, 9_000), '8000'],
    /** Whence its notifications are taken. */
    networks: ['YOOKASSA_CALLBACK_NETWORKS', networks, published],
  }),
  shop: readAccount(reader, 'YOOKASSA_SHOP_ID', 'YOOKASSA_SECRET_KEY'),
  /** For payouts. */
  payouts: readAccount(reader, 'YOOKASSA_GATEWAY_ID', 'YOOKASSA_GATEWAY_SECRET_KEY'),
});
export type YooKassaConfig = ReturnType<typeof readYooKassa>;
