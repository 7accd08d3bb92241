/** The ledger as merchants see it: movements on the merchant account of a shop, signed. Contract GET /v1/public/ledger. */
import { registry } from '../kernel/database/registry.ts';
import type { Mode } from '../kernel/rules/mode.ts';
import type { PostingType } from '../kernel/rules/postings.ts';

export interface LedgerRow {
  readonly merchantId: string;
  readonly id: string;
  readonly shopId: string;
  readonly mode: Mode;
  readonly type: PostingType;
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

/** Movements of a shop, newest first, filtered by type. */
export const listLedger = registry<LedgerRow>('posting', ledgerColumns, ['type']);
