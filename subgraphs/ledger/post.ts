/**
 * Postings as rows. A business fact's statement takes `postingRows` and `deltaRows` as JSON and
 * inserts them together with its own change by `insertRows`, so that one statement writes money and
 * state.
 */
import { newRowId, asRow } from '../platform/database/statement.ts';
import type { Account, Posting } from '../rules/postings.ts';
import type { Mode } from '../rules/mode.ts';
import type { SourceKind } from './entities.ts';

/** What the postings of one fact have in common. */
export interface PostingSource {
  readonly merchantId: string;
  readonly shopId: string;
  readonly mode: Mode;
  readonly currency: string;
  readonly sourceKind: SourceKind;
  readonly sourceId: string;
  readonly paymentId: string | null;
  readonly payoutId: string | null;
  readonly description: string;
  readonly at: Temporal.Instant;
}

/** Rows of `posting` for `insertRows`. */
export const postingRows = (
  { at: createdAt, ...source }: PostingSource,
  postings: readonly Posting[],
): readonly object[] =>
  postings.map(({ type, from: fromAccount, to: toAccount, amount }) =>
    asRow({ ...source, id: newRowId(), type, fromAccount, toAccount, amount, createdAt }),
  );

/** The accounts with a stored balance: those that a merchant is paid from. */
const balanced: readonly Account[] = ['merchant', 'merchant_reserved'];

const hour_ms = 3_600_000;
const hourOf = (at: Temporal.Instant): Temporal.Instant =>
  Temporal.Instant.fromEpochMilliseconds(Math.floor(at.epochMilliseconds / hour_ms) * hour_ms);

const movedIn = (account: Account, postings: readonly Posting[]): ReadonlyMap<string, bigint> => {
  const moved = new Map<string, bigint>();
  for (const { type, from, to, amount } of postings) {
    if (from !== account && to !== account) continue;
    moved.set(
      type,
      (moved.get(type) ?? 0n) + (to === account ? amount : 0n) - (from === account ? amount : 0n),
    );
  }
  return moved;
};

/** Rows of `balance_delta` for `insertRows`: one per account that changes. */
export const deltaRows = (
  source: Pick<PostingSource, 'merchantId' | 'shopId' | 'mode' | 'currency' | 'at'>,
  postings: readonly Posting[],
): readonly object[] =>
  balanced.flatMap((account) => {
    const moved = [...movedIn(account, postings)];
    if (moved.length === 0) return [];
    const { merchantId, shopId, mode, currency, at } = source;
    return asRow({
      merchantId,
      id: newRowId(),
      shopId,
      mode,
      currency,
      account,
      amount: moved.reduce((sum, [, amount]) => sum + amount, 0n),
      hour: hourOf(at),
      moved: Object.fromEntries(moved.map(([type, amount]) => [type, amount.toString()])),
    });
  });

/** SQL: inserts the rows of the JSON array in `parameter`. */
export const insertRows = (table: 'posting' | 'balance_delta', parameter: string): string =>
  `insert into ${table} select row.* from jsonb_populate_recordset(null::${table}, ${parameter}::jsonb) as row`;
