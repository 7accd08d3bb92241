/**
 * Reads the merchants' ledger: signed movements on a shop's merchant account
 * (docs/contract.md#balance-and-ledger).
 */
import { type ListedPage, openList } from '../../platform/database/lists.ts';
import {
  registry,
  type RegistryQuery,
  type RegistryTable,
} from '../../platform/database/registry.ts';
import type { Mode } from '../../rules/mode.ts';
import { ledgerTypes, type LedgerType } from '../../rules/postings.ts';

export interface LedgerRow {
  readonly merchantId: string;
  readonly id: string;
  readonly shopId: string;
  readonly mode: Mode;
  readonly type: LedgerType;
  /** Signed: credit positive, withholding negative. */
  readonly amount: bigint;
  readonly currency: string;
  readonly description: string;
  readonly paymentId: string | null;
  readonly payoutId: string | null;
  readonly createdAt: Temporal.Instant;
}

/** Filters of the ledger. */
export interface LedgerQuery extends Omit<RegistryQuery, 'filters'> {
  readonly type?: LedgerType | null | undefined;
}

/** SQL: a posting's amount as the merchant sees it. */
export const signedAmount = `case when to_account = 'merchant' then amount else -amount end`;

/** A posting as the merchant sees it. */
export const ledgerColumns = `merchant_id as "merchantId", id, shop_id as "shopId", posting.mode, type, ${signedAmount} as amount,
   currency, description, payment_id as "paymentId", payout_id as "payoutId", created_at as "createdAt"`;

/** Postings that are movements; reserves within the merchant's own money are not. */
export const ledgerTable: RegistryTable = {
  name: 'posting',
  filters: { type: ledgerTypes },
  always: `posting.type in (${ledgerTypes.map((type) => `'${type}'`).join(', ')})`,
};

/** The registry query of a ledger query. */
export const ledgerRegistryQuery = ({ type, ...page }: LedgerQuery): RegistryQuery => ({
  ...page,
  filters: { type: type ? [type] : null },
});

export type LedgerPage = ListedPage<LedgerRow>;

/**
 * Movements as callers list them, newest first. Over all merchants, only those without a payment.
 */
export const pageOfLedger = openList<LedgerRow>(
  {
    table: ledgerTable,
    columns: ledgerColumns,
    amount: `(${signedAmount})`,
    ofAll:
      "posting.type = any (array['refund', 'payout', 'payout_fee', 'settlement', 'adjustment'])",
  },
  registry<LedgerRow>(ledgerTable, ledgerColumns),
);
