/**
 * Reads hourly totals by their table's key: a few rows for each hour of the span, whatever they
 * count. The hours of a shop, of a merchant and of all merchants are separate rows.
 */
import { run, type Runner, type Statement } from '../../kernel/database/statement.ts';
import {
  countedStatuses,
  type CountedKind,
  type CountedStatus,
} from '../../kernel/ledger/totals/entities.ts';
import type { Mode } from '../../kernel/rules/mode.ts';
import { platformMerchantId } from '../../kernel/rules/platform.ts';

export type Group = 'status' | 'method' | 'bank' | 'failure_code' | 'shop';

/** The scope of the totals. */
export interface TotalsQuestion {
  /** Null: all merchants. */
  readonly merchantId: string | null;
  /** Null: all shops together. Several: by shop. */
  readonly shopIds: readonly string[] | null;
  readonly mode: Mode;
  readonly currency: string;
  readonly of: CountedKind;
  /** Where the intervals begin, in order; the last ends at `to`. */
  readonly starts: readonly Temporal.Instant[];
  readonly to: Temporal.Instant;
  readonly groupBy: Group | null;
}

/** Totals of a group in an interval. */
export interface TotalsRow {
  readonly group: string | null;
  readonly count: number;
  readonly amount: bigint;
  readonly succeeded: number;
  readonly failed: number;
  /** Null where money is not counted by the group. */
  readonly moved: bigint | null;
  readonly fee: bigint | null;
}

/** What a statement gives of an interval, by its place from 1. */
interface FoundRow {
  readonly place: number;
  readonly group: string;
  readonly count: bigint;
  readonly succeeded: bigint;
  readonly failed: bigint;
  /** Sums have any size and are read as text. */
  readonly amount: string;
  readonly moved: string | null;
  readonly fee: string | null;
}

/** SQL: how many rows of these statuses count. */
const countOf = (statuses: readonly CountedStatus[]): string =>
  `sum(${statuses.map((status) => `count_${status}`).join(' + ')})::bigint`;

const came: readonly CountedStatus[] = ['succeeded', 'refunded'];
const refusedOnes: readonly CountedStatus[] = ['failed'];

/** SQL: sums a range of the key by group while reading: no sort, and only a few rows in memory. */
const summed = (group: string, sums: readonly string[]): string =>
  `select ${group} as "group", ${sums.join(', ')}
    from hourly_total where merchant_id = $1 and shop_id = any ($2::uuid[]) and mode = $3
      and currency = $4 and kind = $5 and hour >= span.since and hour < span.until
    group by 1`;

const read = (name: string, ofInterval: string): Statement => ({
  name: `totals.read_by_${name}`,
  text: `select span.place::int as place, total.* from
      (select since, lead(since, 1, $7::timestamptz) over (order by place) as until, place
        from unnest((select $6::timestamptz[])) with ordinality as start (since, place)) as span
      cross join lateral (${ofInterval}) as total
    where total.count > 0`,
});

const readBy = (name: string, column: string, { hasMoney }: { hasMoney: boolean }): Statement => {
  const money = ['moved', 'fee'];
  const amount = countedStatuses.map((status) => `sum(amount_${status})`).join(' + ');
  return read(
    name,
    summed(column, [
      `${countOf(countedStatuses)} as count`,
      `(${amount})::text as amount`,
      `${countOf(came)} as succeeded`,
      `${countOf(refusedOnes)} as failed`,
      ...money.map((sum) => `${hasMoney ? `sum(${sum})::text` : 'null'} as ${sum}`),
    ]),
  );
};

/** One pass sums every status; then each becomes a row. */
const byStatus = (): Statement => {
  const sums = countedStatuses.flatMap((status) => [
    `${countOf([status])} as count_${status}`,
    `sum(amount_${status})::text as amount_${status}`,
  ]);
  const rows = countedStatuses.map((status) => {
    const ifOf = (those: readonly CountedStatus[]): string =>
      those.includes(status) ? `count_${status}` : '0';
    return `('${status}', count_${status}, amount_${status}, ${ifOf(came)}, ${ifOf(refusedOnes)}, null, null)`;
  });
  return read(
    'status',
    `select each.* from (${summed("''", sums)}) as summed
      cross join lateral (values ${rows.join(', ')}) as each ("group", count, amount, succeeded, failed, moved, fee)`,
  );
};

const statements: Record<Group | 'nothing', Statement> = {
  nothing: readBy('nothing', "''", { hasMoney: true }),
  status: byStatus(),
  method: readBy('method', 'method', { hasMoney: true }),
  bank: readBy('bank', 'bank', { hasMoney: true }),
  failure_code: readBy('failure_code', 'failure_code', { hasMoney: false }),
  shop: readBy('shop', 'shop_id::text', { hasMoney: true }),
};

/** The rows of each interval, in their order; an interval without any has none. */
export const readTotals = async (
  runner: Runner,
  { merchantId, shopIds, mode, currency, of, starts, to, groupBy }: TotalsQuestion,
): Promise<readonly (readonly TotalsRow[])[]> => {
  const found = await run<FoundRow>(runner, statements[groupBy ?? 'nothing'], [
    merchantId ?? platformMerchantId,
    shopIds ?? [platformMerchantId],
    mode,
    currency,
    groupBy === 'failure_code' ? `${of}_failure` : of,
    starts,
    to,
  ]);
  const parts: TotalsRow[][] = starts.map(() => []);
  for (const { place, ...row } of found.toSorted((one, other) =>
    one.group < other.group ? -1 : 1,
  ))
    parts[place - 1]?.push({
      ...row,
      group: groupBy === null ? null : row.group,
      count: Number(row.count),
      succeeded: Number(row.succeeded),
      failed: Number(row.failed),
      amount: BigInt(row.amount),
      moved: row.moved === null ? null : BigInt(row.moved),
      fee: row.fee === null ? null : BigInt(row.fee),
    });
  return parts;
};

const older: Statement = {
  name: 'totals.complete',
  text: 'select not exists (select 1 from totals_walk) as complete',
};

/** Whether no recount is in progress. */
export const isComplete = async (runner: Runner): Promise<boolean> => {
  const [row] = await run<{ complete: boolean }>(runner, older, []);
  return row?.complete === true;
};
