/**
 * Reads the results of bank calls over all processes, by the table's key. The number of rows
 * depends on banks, operations and methods, not on traffic.
 */
import { run, type Runner, type Statement } from '../../kernel/database/statement.ts';
import {
  healthBounds_ms,
  withinColumn,
  type BreakerState,
} from '../../kernel/rules/bank-health.ts';
import type { Mode } from '../../kernel/rules/mode.ts';
import type { BankOperation, RouteMethod } from '../../kernel/rules/route.ts';
import { percentile_ms, successRate_bps } from './rules.ts';

/** Calls of an interval, by bank, mode, operation and method. */
interface Interval {
  readonly connector: string;
  readonly mode: Mode;
  readonly operation: BankOperation;
  readonly method: RouteMethod | '';
  readonly at: Temporal.Instant;
  readonly calls: number;
  readonly failures: number;
  /** By bound. */
  readonly within: readonly number[];
}

/** Results of the calls of one bank and method. */
interface HealthRow extends Pick<Interval, 'connector' | 'mode' | 'operation'> {
  readonly method: RouteMethod | null;
  readonly calls: number;
  readonly failures: number;
  readonly successRateBps: number;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly series: Pick<Interval, 'at' | 'calls' | 'failures'>[];
}

const within = healthBounds_ms.map((bound) => `sum(${withinColumn(bound)})::int`).join(', ');
const intervals: Statement = {
  name: 'bank_health.intervals',
  text: `select connector, mode, operation, method, date_bin($2 * interval '1 minute', at, timestamptz '2026-01-01 00:00:00Z') as at,
      sum(calls)::int as calls, sum(failures)::int as failures, array[${within}] as within
    from bank_health where at >= $1 group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5`,
};

const breakers: Statement = {
  name: 'bank_health.breakers',
  text: `select distinct on (connector, process) connector, process, breaker as state, breaker_since as since, flushed_at as "seenAt"
    from bank_health where at >= $1 and breaker is not null order by connector, process, flushed_at desc`,
};

const sumOf = (numbers: readonly number[]): number =>
  numbers.reduce((sum, number) => sum + number, 0);

const together = (of: readonly [Interval, ...Interval[]]): HealthRow => {
  const [{ connector, mode, operation, method }] = of;
  const calls = sumOf(of.map((one) => one.calls));
  const failures = sumOf(of.map((one) => one.failures));
  const bounds = healthBounds_ms.map((_, place) => sumOf(of.map((one) => one.within[place] ?? 0)));
  const percentile = (percent: number) => percentile_ms(bounds, calls - failures, percent);
  return {
    connector,
    mode,
    operation,
    method: method === '' ? null : method,
    calls,
    failures,
    successRateBps: successRate_bps(calls, failures),
    p50Ms: percentile(50),
    p95Ms: percentile(95),
    series: of.map((one) => ({ at: one.at, calls: one.calls, failures: one.failures })),
  };
};

/** Results of calls since a moment, by bank and method, in intervals of the given minutes. */
export const readHealth = async (
  pool: Runner,
  from: Temporal.Instant,
  interval_min: number,
): Promise<HealthRow[]> => {
  const found = await run<Interval>(pool, intervals, [from, interval_min]);
  const rows = new Map<string, [Interval, ...Interval[]]>();
  for (const one of found) {
    const name = [one.connector, one.mode, one.operation, one.method].join(' ');
    const row = rows.get(name);
    if (row) row.push(one);
    else rows.set(name, [one]);
  }
  return [...rows.values()].map(together);
};

/** Breaker states, as last reported by each process that has called a bank since the moment. */
export const readBreakers = (pool: Runner, since: Temporal.Instant) =>
  run<{
    readonly connector: string;
    readonly process: string;
    readonly state: BreakerState;
    readonly since: Temporal.Instant | null;
    readonly seenAt: Temporal.Instant;
  }>(pool, breakers, [since]);
