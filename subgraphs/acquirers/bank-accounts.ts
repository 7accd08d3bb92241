/**
 * The account at an acquirer that serves a merchant: its own, else the platform's. A replaced or
 * removed account gets no new order, but is still queried about its existing ones: only the account
 * that took a payment knows it. Read for each call, so that a new secret applies at once
 * everywhere.
 */
import { run, type Runner, type Statement } from '../platform/database/statement.ts';
import { unseal, type Keys } from '../platform/access/keys.ts';

const accountPurposes = ['payments', 'payouts'] as const;

/** The purpose of an account: acquirers have separate ones for incoming and outgoing money. */
export type AccountPurpose = (typeof accountPurposes)[number];

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

const read: Statement = {
  name: 'bank_account.of_merchant',
  text: `select account, secret_sealed as sealed, case when active then null else changed_at end as "retiredAt" from bank_account where merchant_id = $1 and connector = $2 and purpose = $3
    order by active desc, changed_at desc`,
};

interface Found {
  readonly account: string;
  readonly sealed: string;
  readonly retiredAt: Temporal.Instant | null;
}

/** Opens the look-up for one connector; `platform` is the account that the configuration names. */
export const openAccounts =
  (
    pool: Runner,
    vaultKey: Keys,
    connector: string,
    platform: Readonly<Record<AccountPurpose, Account | null>>,
  ): AccountsOf =>
  async (merchantId, purpose) => {
    const rows = await run<Found>(pool, read, [merchantId, connector, purpose]);
    const own = rows.map(({ account, sealed, retiredAt }) => ({
      id: account,
      secret: unseal(vaultKey, sealed),
      retiredAt,
    }));
    const shared = platform[purpose];
    return {
      current: own.find(({ retiredAt }) => retiredAt === null) ?? shared,
      all: shared ? [...own, shared] : own,
    };
  };
