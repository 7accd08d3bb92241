/**
 * GraphQL resolvers for totals: of a key's shop, of a person's merchant or one of its shops, or of
 * all merchants.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import type {
  QueryResolvers,
  QuerytotalsArgs,
  TotalsGroup,
  TotalsInterval,
  TotalsRow,
} from '../../../schema/generated/merchants.ts';
import type { OnDatabase } from '../../platform/database/orm.ts';
import { shopIdsOf } from '../../platform/database/reach.ts';
import { type Runner, run, type Statement } from '../../platform/database/statement.ts';
import { isUuid, platformMerchantId } from '../../rules/ids.ts';
import type { Principal } from '../../platform/access/principal.ts';
import { isOfAll, merchantOf, orThrow, refusal } from '../../platform/access/access.ts';
import { refuse, type Refusal } from '../../rules/refusal.ts';
import {
  countedStatuses,
  TotalsWalkEntity,
  type CountedKind,
  type CountedStatus,
} from '../../ledger/entities.ts';
import type { Mode } from '../../rules/mode.ts';

/*
 * Reads hourly totals by their table's key: a few rows for each hour of the span, whatever they
 * count. The hours of a shop, of a merchant and of all merchants are separate rows.
 */

/** The scope of the totals. */
interface TotalsQuestion {
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
  readonly groupBy: TotalsGroup | null;
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
        from unnest($6::timestamptz[]) with ordinality as start (since, place)) as span
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

const statements: Record<TotalsGroup | 'nothing', Statement> = {
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

/** Whether no recount is in progress. */
export const isComplete = async (em: EntityManager): Promise<boolean> =>
  (await em.count(TotalsWalkEntity)) === 0;

/*
 * Validates the span of totals and divides it into intervals. Hours are counted in UTC, so zones
 * with a fractional-hour offset are refused.
 */

/** What totals are asked of. */
interface AskedSpan {
  readonly from: Temporal.Instant;
  readonly to: Temporal.Instant;
  readonly interval: TotalsInterval | null;
  readonly timeZone: string;
}

const span_max_days = 1_100;
const intervals_max = 800;
const intervalsTimesShops_max = 4_000;
const hour_ms = 3_600_000;

const isWholeHour = (moment: Temporal.Instant): boolean => moment.epochMilliseconds % hour_ms === 0;

/** The moment in the zone; null when there is no such zone. */
const inZone = (moment: Temporal.Instant, timeZone: string): Temporal.ZonedDateTime | null => {
  try {
    return moment.toZonedDateTimeISO(timeZone);
  } catch {
    return null;
  }
};

/** The start of the interval that contains the moment. */
const beginningOf = (at: Temporal.ZonedDateTime, unit: TotalsInterval): Temporal.ZonedDateTime => {
  switch (unit) {
    case 'hour':
      return at.round({ smallestUnit: 'hour', roundingMode: 'floor' });
    case 'day':
      return at.startOfDay();
    case 'week':
      return at.subtract({ days: at.dayOfWeek - 1 }).startOfDay();
    case 'month':
      return at.with({ day: 1 }).startOfDay();
  }
};

const lengths = { day: { days: 1 }, week: { days: 7 }, month: { months: 1 } } as const;

/** The starts of the intervals after that of `first`, without an end. */
const startsBehind = function* (
  first: Temporal.ZonedDateTime,
  unit: TotalsInterval,
): Generator<Temporal.Instant> {
  const next = (at: Temporal.ZonedDateTime) =>
    unit === 'hour' ? at.add({ hours: 1 }) : at.add(lengths[unit]).startOfDay();
  for (let at = next(beginningOf(first, unit)); ; at = next(at)) yield at.toInstant();
};

/**
 * Where the intervals of a span begin, in order of time; the first begins with the span.
 * `bad_request` for a span that is none, too long or not of whole hours, and for too many
 * intervals.
 */
const intervalsOf = ({
  from,
  to,
  interval,
  timeZone,
}: AskedSpan): { readonly starts: readonly Temporal.Instant[] } | Refusal => {
  if (!isWholeHour(from)) return refuse('bad_request', 'from: expected a whole hour in UTC');
  if (!isWholeHour(to)) return refuse('bad_request', 'to: expected a whole hour in UTC');
  const span_ms = to.epochMilliseconds - from.epochMilliseconds;
  if (span_ms <= 0) return refuse('bad_request', 'to: expected a moment after from');
  if (span_ms > span_max_days * 24 * hour_ms)
    return refuse('bad_request', `to: expected at most ${span_max_days} days after from`);
  const first = inZone(from, timeZone);
  if (!first)
    return refuse('bad_request', 'timeZone: expected a zone such as Europe/Moscow or +03:00');
  if (interval === null) return { starts: [from] };
  const starts = [from];
  for (const start of startsBehind(first, interval)) {
    if (Temporal.Instant.compare(start, to) >= 0) return { starts };
    if (!isWholeHour(start))
      return refuse('bad_request', 'timeZone: expected a zone whose hours begin with those of UTC');
    if (starts.length === intervals_max)
      return refuse(
        'bad_request',
        `interval: at most ${intervals_max} intervals; choose longer ones or a shorter span`,
      );
    starts.push(start);
  }
  return { starts };
};

type Whose = Pick<TotalsQuestion, 'merchantId' | 'shopIds'>;

/** The scope of a caller's totals. */
const whoseTotals = (
  principal: Principal,
  { merchantId: named, shopId }: Pick<QuerytotalsArgs, 'merchantId' | 'shopId'>,
): Whose => {
  const noShop = refusal('not_found', 'there is no such shop');
  if (typeof shopId === 'string' && !isUuid(shopId)) throw noShop;
  if (principal.kind === 'key') {
    if (shopId && shopId !== principal.shopId) throw noShop;
    return { merchantId: principal.merchantId, shopIds: [principal.shopId] };
  }
  if (isOfAll(principal, named)) {
    if (shopId) throw refusal('bad_request', 'merchantId: required with shopId');
    return { merchantId: null, shopIds: null };
  }
  return { merchantId: merchantOf(principal, named), shopIds: shopId ? [shopId] : null };
};

/** The shops that divide the totals; their number is limited. */
const dividing = async (pool: Runner, whose: Whose, intervals: number): Promise<Whose> => {
  if (whose.shopIds) return whose;
  if (whose.merchantId === null)
    throw refusal('bad_request', 'groupBy: totals by shop require merchantId');
  const shopIds = await shopIdsOf(pool, whose.merchantId);
  if (intervals * shopIds.length > intervalsTimesShops_max)
    throw refusal(
      'bad_request',
      `groupBy: at most ${intervalsTimesShops_max} intervals times shops; choose a shop or fewer intervals`,
    );
  return { ...whose, shopIds };
};

export const totalsQueries = ({ database }: OnDatabase<'pool' | 'emOf'>) =>
  ({
    totals: async (_, { from, to, currency, of, ...asked }, context) => {
      const { principal } = context;
      const { pool } = database;
      const groupBy = asked.groupBy ?? null;
      const span = { from, to, interval: asked.interval ?? null, timeZone: asked.timeZone };
      const { starts } = orThrow(intervalsOf(span));
      const whose = whoseTotals(principal, asked);
      const question = {
        ...(groupBy === 'shop' ? await dividing(pool, whose, starts.length) : whose),
        mode: principal.kind === 'key' ? principal.mode : (asked.mode ?? 'live'),
        currency,
        of,
        starts,
        to,
        groupBy,
      } as const;
      const [parts, complete] = await Promise.all([
        readTotals(pool, question),
        isComplete(database.emOf(context)),
      ]);
      return {
        currency,
        complete,
        parts: parts.map((rows, place) => ({
          from: starts[place] ?? from,
          to: starts[place + 1] ?? to,
          rows: [...rows],
        })),
      };
    },
  }) satisfies QueryResolvers;
