/**
 * Reads the merchants' ledger: signed movements on a shop's merchant account
 * (docs/contract.md#balance-and-ledger).
 */
import type { KeyPrincipal } from '../../platform/access/principal.ts';
import type { SourceKind } from '../../ledger/entities.ts';
import { cursorOf, type Page } from '../../platform/database/keyset.ts';
import { type ListedPage, openList } from '../../platform/database/lists.ts';
import {
  registry,
  type RegistryQuery,
  type RegistryTable,
  registryRange,
  withinRange,
  type Reach,
} from '../../platform/database/registry.ts';
import { run, type Runner, type Statement } from '../../platform/database/statement.ts';
import type { Mode } from '../../rules/mode.ts';
import { ledgerTypes, type LedgerType } from '../../rules/postings.ts';
import { isRefusal, type Refusal } from '../../rules/refusal.ts';

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

const ofSources: Statement = {
  name: 'ledger.of_sources',
  text: `select ${ledgerColumns} from posting where merchant_id = $1 and source_kind = any ($2) and source_id = any ($3::uuid[])
    and ${ledgerTable.always} order by created_at desc, id desc limit $4`,
};

/** Movements of these facts, at most so many: the newest first. */
export const findMovements = (
  runner: Runner,
  merchantId: string,
  kinds: readonly SourceKind[],
  sourceIds: readonly string[],
  limit: number,
): Promise<LedgerRow[]> => run(runner, ofSources, [merchantId, kinds, sourceIds, limit]);

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

// Exports the ledger as a file in parts, with the JSON's fields in order, as RFC 4180. The database
// formats the text, some thousand rows at a time: over half as fast as COPY, against a tenth with
// an object for each row. A part is a keyset page; no state is held between parts.

/** Rows of a part at most: about a megabyte. */
const part_max_rows = 5_000;

export interface LedgerFilePart {
  /** Whole lines, each with its end; the header is not among them. */
  readonly text: string;
  readonly rows: number;
  readonly pageInfo: Page<LedgerRow>['pageInfo'];
}

// Only the description can need quotes under RFC 4180. Checking each character costs half of a
// pattern.
const quoted = [`','`, `'"'`, `E'\\n'`, `E'\\r'`]
  .map((character) => `strpos(description, ${character})`)
  .join(' + ');
const description = `case when ${quoted} = 0 then description else '"' || replace(description, '"', '""') || '"' end`;
const instant = `to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const line = `id || ',' || type || ',' || ${signedAmount} || ',' || currency || ',' || ${description} || ',' || coalesce(payment_id::text, '') || ','
  || coalesce(payout_id::text, '') || ',' || ${instant}`;

// One shop, one mode, and one type or all: a single index range, which needs no merging. The
// parameters are the registry's.
const part = (ofType: boolean): Statement => ({
  name: ofType ? 'ledger_file_of_type' : 'ledger_file',
  text: `select count(*)::int as rows, coalesce(string_agg(line, E'\\r\\n') || E'\\r\\n', '') as text, (array_agg(id))[$7::int] as id, min(created_at) as "createdAt"
    from (select id, created_at, ${line} as line from posting
      where merchant_id = $1 and shop_id = ($2::uuid[])[1] and mode = ($3::text[])[1] and ${ofType ? 'type = ($8::text[])[1]' : ledgerTable.always}
        and ${withinRange}
      order by created_at desc, id desc limit $7::int) page`,
});
const whole = part(false);
const ofType = part(true);

interface PartRow {
  readonly rows: number;
  readonly text: string;
  /** The last row's when the part is full, else null. */
  readonly id: string | null;
  /** The last row's; null without rows. */
  readonly createdAt: Temporal.Instant | null;
}

/**
 * One part for a key: up to `first` rows, at most 5,000. A part that is not full is the last.
 * `bad_request` for a wrong size, cursor or day.
 */
export const exportLedger = async (
  runner: Runner,
  { merchantId, shopId, mode }: Pick<KeyPrincipal, 'merchantId' | 'shopId' | 'mode'>,
  query: LedgerQuery,
): Promise<LedgerFilePart | Refusal> => {
  const reach: Reach = { merchantId, shopIds: [shopId], modes: [mode] };
  const range = registryRange(ledgerTable, reach, ledgerRegistryQuery(query), part_max_rows);
  if (isRefusal(range)) return range;
  const [found] = await run<PartRow>(
    runner,
    range.filtered ? ofType : whole,
    range.values(range.size),
  );
  if (!found) throw new Error('an aggregate without a row');
  const { id, createdAt, text, rows } = found;
  const endCursor =
    id !== null && createdAt !== null ? cursorOf({ id, createdAt }, range.bound) : null;
  const hasPreviousPage = range.position !== null;
  const pageInfo = {
    hasNextPage: endCursor !== null,
    endCursor,
    hasPreviousPage,
    startCursor: null,
  };
  return { text, rows, pageInfo };
};
