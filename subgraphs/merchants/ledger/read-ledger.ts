/**
 * Reads the merchants' ledger: signed movements on a shop's merchant account
 * (docs/contract.md#balance-and-ledger).
 */
import type { LedgerFilePart, QueryledgerFileArgs } from '../../../schema/generated/merchants.ts';
import type { KeyPrincipal } from '../../platform/access/principal.ts';
import type { SourceKind } from '../../ledger/entities.ts';
import { cursorOf, pageRange } from '../../platform/database/keyset.ts';
import type { ListedTable, ListTable } from '../../platform/database/list-statements.ts';
import { boundOf, openList, queryOf } from '../../platform/database/lists.ts';
import { run, type Runner, type Statement } from '../../platform/database/statement.ts';
import { ledgerTypes } from '../../rules/postings.ts';
import { isRefusal, type Refusal } from '../../rules/refusal.ts';
import type { LedgerRow } from '../rows.ts';

/** SQL: a posting's amount as the merchant sees it. */
export const signedAmount = `case when to_account = 'merchant' then amount else -amount end`;

/** A posting as the merchant sees it. */
export const ledgerColumns = `merchant_id as "merchantId", id, shop_id as "shopId", posting.mode, type, ${signedAmount} as amount,
   currency, description, payment_id as "paymentId", payout_id as "payoutId", created_at as "createdAt"`;

/** Postings that are movements; reserves within the merchant's own money are not. */
export const ledgerTable: ListTable = {
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

/** Over all merchants, only movements without a payment. */
const ledgerList: ListedTable = {
  table: ledgerTable,
  columns: ledgerColumns,
  amount: `(${signedAmount})`,
  ofAll: "posting.type = any (array['refund', 'payout', 'payout_fee', 'settlement', 'adjustment'])",
};

/** Movements as callers list them, newest first. */
export const pageOfLedger = openList<LedgerRow>(ledgerList);

// Exports the ledger as a file in parts, with the JSON's fields in order, as RFC 4180. The database
// formats the text, some thousand rows at a time: over half as fast as COPY, against a tenth with
// an object for each row. A part is a keyset page; no state is held between parts.

/** Rows of a part at most: about a megabyte. */
const part_max_rows = 5_000;

// Only the description can need quotes under RFC 4180. Checking each character costs half of a
// pattern.
const quoted = [`','`, `'"'`, `E'\\n'`, `E'\\r'`]
  .map((character) => `strpos(description, ${character})`)
  .join(' + ');
const description = `case when ${quoted} = 0 then description else '"' || replace(description, '"', '""') || '"' end`;
const instant = `to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const line = `id || ',' || type || ',' || ${signedAmount} || ',' || currency || ',' || ${description} || ',' || coalesce(payment_id::text, '') || ','
  || coalesce(payout_id::text, '') || ',' || ${instant}`;

/** No row has it, and no id comes before it. */
const firstId = '00000000-0000-0000-0000-000000000000';

// One shop, one mode, and one type or all: a single index range, which needs no merging. It is read
// from one end: with a second condition on created_at PostgreSQL walks from there to the cursor.
const part = (ofType: boolean): Statement => ({
  name: ofType ? 'ledger_file_of_type' : 'ledger_file',
  text: `select count(*)::int as rows, coalesce(string_agg(line, E'\\r\\n') || E'\\r\\n', '') as text, (array_agg(id))[$7::int] as id, min(created_at) as "createdAt"
    from (select id, created_at, ${line} as line from posting
      where merchant_id = $1 and shop_id = $2 and mode = $3 and ${ofType ? 'type = $8' : ledgerTable.always}
        and created_at >= $4::timestamptz and (created_at, id) < ($5::timestamptz, $6::uuid)
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
 * One part for a key: up to `first` rows, at most 5,000. A part that is not full is the last. A
 * cursor of the list with the same filters continues the file. `bad_request` for a wrong size,
 * cursor or day.
 */
export const exportLedger = async (
  runner: Runner,
  key: KeyPrincipal,
  { type, ...page }: Partial<QueryledgerFileArgs>,
): Promise<LedgerFilePart | Refusal> => {
  const columns = { type: type && [type] };
  const query = await queryOf(runner, key, ledgerList, { ...page, columns });
  if (isRefusal(query)) return query;
  const { span } = query;
  const range = pageRange(query.page, boundOf(ledgerList, query), part_max_rows);
  if (isRefusal(range)) return range;
  const { merchantId, shopId, mode } = key;
  const { size, position } = range;
  // A cursor lies within the days, which it is bound to.
  const until = position?.createdAt ?? span.until ?? 'infinity';
  const values = [
    merchantId,
    shopId,
    mode,
    span.since ?? '-infinity',
    until,
    position?.id ?? firstId,
    size,
    ...(type ? [type] : []),
  ];
  const [found] = await run<PartRow>(runner, type ? ofType : whole, values);
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
