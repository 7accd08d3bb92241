/**
 * Reads the totals by the hour: by the key of their table alone, some rows for each hour of the
 * span, whatever it counts (decision A-250). The hours of a shop, of a merchant and of all
 * merchants are rows of their own.
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

/** Whose totals, and of what. */
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
  readonly amount: bigint;
  readonly succeeded: bigint;
  readonly failed: bigint;
  readonly moved: bigint | null;
  readonly fee: bigint | null;
}

const sumOf = (of: 'count' | 'amount', statuses: readonly CountedStatus[]): string =>
  statuses.length === 0
    ? '0::bigint'
    : `sum(${statuses.map((status) => `${of}_${status}`).join(' + ')})::bigint`;

const came: readonly CountedStatus[] = ['succeeded', 'refunded'];
const refusedOnes: readonly CountedStatus[] = ['failed'];

/** SQL: the columns of a group that counts these statuses alone. */
const columnsOf = (statuses: readonly CountedStatus[]): string =>
  [
    `${sumOf('count', statuses)} as count`,
    `${sumOf('amount', statuses)} as amount`,
    `${sumOf(
      'count',
      came.filter((status) => statuses.includes(status)),
    )} as succeeded`,
    `${sumOf(
      'count',
      refusedOnes.filter((status) => statuses.includes(status)),
    )} as failed`,
  ].join(', ');

const money = 'sum(moved)::bigint as moved, sum(fee)::bigint as fee';
const noMoney = 'null::bigint as moved, null::bigint as fee';

/**
 * An interval is a range of the key, and its sums are made as it is read: nothing is sorted, and
 * only a few rows are in hand at a time.
 */
const read = (name: string, inInterval: (from: string) => string): Statement => ({
  name: `totals.read_by_${name}`,
  text: `select span.place::int as place, total.* from
      unnest((select $6::timestamptz[]), (select $7::timestamptz[])) with ordinality as span (since, until, place)
      cross join lateral (${inInterval(`from hourly_total
        where merchant_id = $1 and shop_id = any ($2::uuid[]) and mode = $3 and currency = $4
          and kind = $5 and hour >= span.since and hour < span.until`)}) as total
    where total.count > 0`,
});

const readBy = (name: string, column: string, sums: string): Statement =>
  read(
    name,
    (from) =>
      `select ${column} as group, ${columnsOf(countedStatuses)}, ${sums} ${from} group by 1`,
  );

/** One pass sums every status; each is a row of its own then. */
const byStatus = read(
  'status',
  (from) => `select each.* from (
      select ${countedStatuses
        .flatMap((status) => [`count_${status}`, `amount_${status}`])
        .map((column) => `sum(${column})::bigint as ${column}`)
        .join(', ')} ${from}) as summed
    cross join lateral (values ${countedStatuses
      .map(
        (status) =>
          `('${status}', count_${status}, amount_${status}, ${came.includes(status) ? `count_${status}` : '0'}, ${refusedOnes.includes(status) ? `count_${status}` : '0'}, null::bigint, null::bigint)`,
      )
      .join(', ')}) as each ("group", count, amount, succeeded, failed, moved, fee)`,
);

const statements: Record<Group | 'nothing', Statement> = {
  nothing: readBy('nothing', "''", money),
  status: byStatus,
  method: readBy('method', 'method', money),
  bank: readBy('bank', 'bank', money),
  failure_code: readBy('failure_code', 'failure_code', noMoney),
  shop: readBy('shop', 'shop_id::text', money),
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
    [...starts.slice(1), to],
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
    });
  return parts;
};

const older: Statement = {
  name: 'totals.complete',
  text: 'select not exists (select 1 from totals_walk) as complete',
};

/** Whether all that was made before there were totals is counted. */
export const isComplete = async (runner: Runner): Promise<boolean> => {
  const [row] = await run<{ complete: boolean }>(runner, older, []);
  return row?.complete === true;
};
