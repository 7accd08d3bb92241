/** What a merchant and its operators see of a life, as the text tables write it. */
import { readBalances } from '../../subgraphs/kernel/ledger/balance.ts';
import { isRefused } from '../../subgraphs/kernel/rules/refusal.ts';
import type { KeyPrincipal } from '../../subgraphs/kernel/service/access/principal.ts';
import { pageOfLedger } from '../../subgraphs/merchants/ledger/read-ledger.ts';
import type { MigratedDatabase } from './migrated.ts';

/** An amount with its thousands apart: `10_000`. */
export const written = (amount: bigint): string =>
  amount.toString().replaceAll(/\B(?=(\d{3})+$)/g, '_');

const words = async (
  { database }: MigratedDatabase,
  { merchantId }: KeyPrincipal,
  query: string,
): Promise<string> => {
  const { rows } = await database.pool.query<{ word: string }>(query, [merchantId]);
  return rows.map(({ word }) => word).join(' ');
};

/** The webhooks that were published, in order. */
export const seenWebhooks = (migrated: MigratedDatabase, key: KeyPrincipal): Promise<string> =>
  words(
    migrated,
    key,
    'select webhook_event as word from event where merchant_id = $1 and webhook_event is not null order by position',
  );

/** The kinds of the alerts that were raised, in order. */
export const seenAlerts = (migrated: MigratedDatabase, key: KeyPrincipal): Promise<string> =>
  words(
    migrated,
    key,
    'select kind as word from alert where merchant_id = $1 order by raised_at, kind',
  );

/** What the merchant owns, or what of it may be paid out. */
export const seenBalance = async (
  { database }: MigratedDatabase,
  { merchantId, mode }: KeyPrincipal,
  what: 'balance' | 'available',
): Promise<string> => {
  const [row] = await readBalances(database.pool, merchantId, mode, 'RUB');
  return written(row?.[what] ?? 0n);
};

/** The ledger, oldest row first. */
export const seenLedger = async (
  { database }: MigratedDatabase,
  key: KeyPrincipal,
): Promise<string> => {
  const page = await pageOfLedger(database.pool, key, { first: 200, columns: {} });
  if (isRefused(page)) return page.code;
  return page.nodes
    .toReversed()
    .map(({ type, amount }) => `${type} ${written(amount)}`)
    .join(', ');
};
