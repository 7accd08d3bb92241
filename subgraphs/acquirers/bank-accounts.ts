/**
 * The account at an acquirer that serves a merchant: its own, else the platform's. A replaced or
 * removed account gets no new order, but is still queried about its existing ones: only the account
 * that took a payment knows it. Read for each call, so that a new secret applies at once
 * everywhere.
 */
import { emOn } from '../platform/database/orm-connections.ts';
import type { Runner } from '../platform/database/statement.ts';
import { BankAccountEntity, type AccountPurpose } from './entities.ts';
import { unseal, type Keys } from '../platform/access/keys.ts';

/** A shop, a gateway or a terminal there, with its secret. */
export interface Account {
  readonly id: string;
  readonly secret: string;
  /** When it was taken out of use; absent: it is in use. */
  readonly retiredAt?: Temporal.Instant | null;
}

/**
 * The accounts of a merchant: the one for new orders (null: none), and all that may know an order,
 * the likeliest first.
 */
export interface Accounts {
  readonly current: Account | null;
  readonly all: readonly Account[];
}

export type AccountsOf = (merchantId: string, purpose: AccountPurpose) => Promise<Accounts>;

/** Opens the look-up for one connector; `platform` is the account that the configuration names. */
export const openAccounts =
  (
    pool: Runner,
    vaultKey: Keys,
    connector: string,
    platform: Readonly<Record<AccountPurpose, Account | null>>,
  ): AccountsOf =>
  async (merchantId, purpose) => {
    const rows = await emOn(pool).find(
      BankAccountEntity,
      { merchantId, connector, purpose },
      { orderBy: { active: 'desc', changedAt: 'desc' } },
    );
    const own = rows.map(({ account, secretSealed, active, changedAt }) => ({
      id: account,
      secret: unseal(vaultKey, secretSealed),
      retiredAt: active ? null : changedAt,
    }));
    const shared = platform[purpose];
    return {
      current: own.find(({ retiredAt }) => retiredAt === null) ?? shared,
      all: shared ? [...own, shared] : own,
    };
  };
