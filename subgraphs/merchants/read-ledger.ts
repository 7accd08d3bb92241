/** The ledger as merchants see it: movements on the merchant account of a shop, signed. Contract GET /v1/public/ledger. */
import { registry, type Reach, type RegistryPage, type RegistryQuery } from '../kernel/database/registry.ts';
import type { Runner } from '../kernel/database/statement.ts';
import type { Mode } from '../kernel/rules/mode.ts';
import type { Refused } from '../kernel/rules/refusal.ts';
import { ledgerTypes, type LedgerType } from '../kernel/rules/postings.ts';

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

/** A posting as the merchant sees it. */
export const ledgerColumns = `merchant_id as "merchantId", id, shop_id as "shopId", posting.mode, type, case when to_account = 'merchant' then amount else -amount end as amount,
   currency, description, payment_id as "paymentId", payout_id as "payoutId", created_at as "createdAt"`;

const listPostings = registry<LedgerRow>('posting', ledgerColumns, ['type']);

/** Movements of a shop, newest first, of one type when it is given. What is only set aside within the merchant's own money is no movement. */
export const listLedger = (
  runner: Runner,
  reach: Reach,
  { type, ...page }: Omit<RegistryQuery, 'filters'> & { readonly type?: LedgerType | null | undefined },
): Promise<RegistryPage<LedgerRow> | Refused> => listPostings(runner, reach, { ...page, filters: { type: type ? [type] : ledgerTypes } });
