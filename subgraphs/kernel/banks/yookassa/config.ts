/** How YooKassa is reached: the variables YOOKASSA_*. */
import type { Account } from '../bank-accounts.ts';
import type { Reader } from '../../service/config/read-variables.ts';

export interface YooKassaConfig {
  /** Its base address, as `https://api.yookassa.ru/v3`. */
  readonly url: string;
  /** The platform's shop; null: merchants need one of their own. */
  readonly shop: Account | null;
  /** The platform's gateway for payouts; null: merchants need one of their own. */
  readonly payouts: Account | null;
  /** How long one attempt of a call may take; a call has at most two. */
  readonly attempt_ms: number;
  /** Whence its notifications are taken. */
  readonly networks: readonly string[];
}

/** The networks that YooKassa publishes as its own. */
const published =
  '185.71.76.0/27 185.71.77.0/27 77.75.153.0/25 77.75.154.128/25 77.75.156.11 77.75.156.35 2a02:5180::/32'.split(
    ' ',
  );

const readAccount = (read: Reader, idName: string, secretName: string): Account | null => {
  const [id, secret] = [read.text(idName), read.text(secretName)];
  if (id === null && secret === null) return null;
  if (id === null || secret === null)
    read.mistakes.push(`${idName} and ${secretName} are required together`);
  return { id: id ?? '', secret: secret ?? '' };
};

/** Reads the variables; mistakes are added to the reading's. */
export const readYooKassa = (read: Reader): YooKassaConfig => ({
  url: read.url('YOOKASSA_URL', ['https:', 'http:']) ?? 'https://api.yookassa.ru/v3',
  shop: readAccount(read, 'YOOKASSA_SHOP_ID', 'YOOKASSA_SECRET_KEY'),
  payouts: readAccount(read, 'YOOKASSA_GATEWAY_ID', 'YOOKASSA_GATEWAY_SECRET_KEY'),
  attempt_ms: read.integer('YOOKASSA_TIMEOUT_MS', 8_000, 100, 9_000),
  networks:
    read.text('YOOKASSA_CALLBACK_NETWORKS') === null
      ? published
      : read.addresses('YOOKASSA_CALLBACK_NETWORKS'),
});
