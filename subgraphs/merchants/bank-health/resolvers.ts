/** GraphQL resolvers for bank health, for platform operators. */
import type {
  BankBreaker,
  BankHealthRow,
  QueryResolvers,
} from '../../../schema/generated/merchants.ts';
import type { OnDatabase } from '../../platform/database/orm.ts';
import { orThrow } from '../../platform/access/access.ts';
import { run, type Runner, type Statement } from '../../platform/database/statement.ts';
import { healthBucket_min, type RouteMethod } from '../../rules/banks.ts';
import { refuse, type Refusal } from '../../rules/refusal.ts';

/* Computes rates from the counts of bank calls, and percentiles from kept durations. */

const hours_max = 48;
const fine_max_hours = 6;
const hour_min = 60;

/** The span of the given hours until now, aligned to an interval; or why it is refused. */
export const spanOf = (
  now: Temporal.Instant,
  hours: number,
): { readonly from: Temporal.Instant; readonly interval_min: number } | Refusal => {
  if (hours < 1 || hours > hours_max)
    return refuse('bad_request', `hours: expected an integer from 1 to ${hours_max}`);
  const interval_min = hours <= fine_max_hours ? healthBucket_min : hour_min;
  const interval_ms = interval_min * 60_000;
  const since_ms = now.subtract({ hours }).epochMilliseconds;
  // The first interval lies only partly in the span, so it is left out.
  const from_ms = Math.ceil(since_ms / interval_ms) * interval_ms;
  return { from: Temporal.Instant.fromEpochMilliseconds(from_ms), interval_min };
};

/** Answered calls in hundredths of a percent, rounded down: 10000 only when none failed. */
export const successRate_bps = (calls: number, failures: number): number =>
  calls === 0 ? 10_000 : Math.floor(((calls - failures) * 10_000) / calls);

/*
 * Reads the results of bank calls over all processes, by the table's key. The number of rows
 * depends on banks, operations and methods, not on traffic.
 */

interface Key extends Pick<BankHealthRow, 'connector' | 'mode' | 'operation'> {
  readonly method: RouteMethod | '';
}

/** Calls of an interval, by bank, mode, operation and method. */
type Interval = Key & BankHealthRow['series'][number];

/** How long the newest answers took. */
type Measured = Pick<BankHealthRow, 'measured' | 'p50Ms' | 'p95Ms'>;

const intervals: Statement = {
  name: 'bank_health.intervals',
  text: `select connector, mode, operation, method, date_bin($2 * interval '1 minute', at, timestamptz '2026-01-01 00:00:00Z') as at,
      sum(calls)::int as calls, sum(failures)::int as failures
    from bank_health where at >= $1 group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5`,
};

/** Newest rows are measured until they have so many answers. */
const measured_min = 1_000;

// Only the rows whose newer ones have too few answers are unpacked.
const durations: Statement = {
  name: 'bank_health.durations',
  text: `with newest as (
      select connector, mode, operation, method, durations_ms, coalesce(sum(cardinality(durations_ms)) over (
          partition by connector, mode, operation, method order by at desc, process
          rows between unbounded preceding and 1 preceding), 0) as newer
      from bank_health where at >= $1)
    select connector, mode, operation, method, count(*)::int as measured,
      percentile_disc(0.5) within group (order by duration_ms) as "p50Ms",
      percentile_disc(0.95) within group (order by duration_ms) as "p95Ms"
    from newest, unnest(durations_ms) as duration_ms where newer < ${measured_min} group by 1, 2, 3, 4`,
};
const breakersSince: Statement = {
  name: 'bank_health.breakers',
  text: `select distinct on (connector, process) connector, process, breaker as state, breaker_since as since, flushed_at as "seenAt"
    from bank_health where at >= $1 and breaker is not null order by connector, process, flushed_at desc`,
};

const sumOf = (numbers: readonly number[]): number =>
  numbers.reduce((sum, number) => sum + number, 0);

const nothing: Measured = { measured: 0, p50Ms: null, p95Ms: null };

const together = (of: readonly Interval[], measured: Measured): BankHealthRow | [] => {
  const [first] = of;
  if (!first) return [];
  const { connector, mode, operation, method } = first;
  const calls = sumOf(of.map((one) => one.calls));
  const failures = sumOf(of.map((one) => one.failures));
  return {
    ...measured,
    connector,
    mode,
    operation,
    method: method === '' ? null : method,
    calls,
    failures,
    successRateBps: successRate_bps(calls, failures),
    series: of.map((one) => ({ at: one.at, calls: one.calls, failures: one.failures })),
  };
};

const nameOf = ({ connector, mode, operation, method }: Key): string =>
  [connector, mode, operation, method].join(' ');

/** Results of calls since a moment, by bank and method, in intervals of the given minutes. */
const readHealth = async (
  pool: Runner,
  from: Temporal.Instant,
  interval_min: number,
): Promise<BankHealthRow[]> => {
  const [found, took] = await Promise.all([
    run<Interval>(pool, intervals, [from, interval_min]),
    run<Key & Measured>(pool, durations, [from]),
  ]);
  const measured = new Map(took.map((one) => [nameOf(one), one]));
  const rows = Map.groupBy(found, nameOf);
  return [...rows].flatMap(([name, row]) => together(row, measured.get(name) ?? nothing));
};

/** Breaker states, as last reported by each process that has called a bank since the moment. */
const readBreakers = (pool: Runner, since: Temporal.Instant) =>
  run<BankBreaker>(pool, breakersSince, [since]);

/** Processes without a bank call for this long are left out: they may have ended. */
const breakers_min = 15;

export const bankHealthQueries = ({ database: { pool } }: OnDatabase<'pool'>) =>
  ({
    bankHealth: async (_, { hours }, { now }) => {
      const { from, interval_min } = orThrow(spanOf(now(), hours));
      const [rows, breakers] = await Promise.all([
        readHealth(pool, from, interval_min),
        readBreakers(pool, now().subtract({ minutes: breakers_min })),
      ]);
      return { from, intervalMinutes: interval_min, rows, breakers };
    },
  }) satisfies QueryResolvers;
