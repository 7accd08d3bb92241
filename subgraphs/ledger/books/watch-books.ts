/** What the checks of the books have come to, for the metrics. */
import { Gauge } from 'prom-client';
import { watchAlerts } from '../../platform/alerts/alerts.ts';
import type { Database } from '../../platform/database/orm.ts';
import { run, type Runner, type Statement } from '../../platform/database/statement.ts';
import { metrics } from '../../platform/tracing/telemetry.ts';
import { readOldestCheck } from './check-books.ts';
import { checkNames, type CheckName } from './checks.ts';

const differences: Statement = {
  name: 'books.count_differences',
  text: `select split_part(subject_id, ':', 1) as check, count(*)::int as count from alert
    where kind in ('books_differ', 'event_without_delivery') and resolved_at is null group by 1`,
};

/** Unresolved differences, a zero for each check that has none. */
export const countDifferences = async (runner: Runner): Promise<ReadonlyMap<CheckName, number>> => {
  const rows = await run<{ check: CheckName; count: number }>(runner, differences, []);
  return new Map([
    ...checkNames.map((check) => [check, 0] as const),
    ...rows.map(({ check, count }) => [check, count] as const),
  ]);
};

/**
 * Adds the gauges of the books and of the alerts to the metrics of this process. They are read on
 * each scrape, so every process that has them reports the same. While the database is away they
 * keep their last values. Returns a function that removes them.
 */
export const watchBooks = (database: Pick<Database, 'pool' | 'fork'>): (() => void) => {
  const found = new Gauge({
    name: 'books_differences',
    help: 'Unresolved differences found in the books, by check.',
    labelNames: ['check'],
    registers: [],
    async collect() {
      const counts = await countDifferences(database.pool).catch(
        () => new Map<CheckName, number>(),
      );
      for (const [check, count] of counts) this.set({ check }, count);
    },
  });
  const checked = new Gauge({
    name: 'books_checked_at_seconds',
    help: 'Time up to which the books of all merchants have been checked, as a Unix timestamp in seconds.',
    registers: [],
    async collect() {
      const at = await readOldestCheck(database.pool).catch(() => null);
      if (at) this.set(at.epochMilliseconds / 1_000);
    },
  });
  for (const gauge of [found, checked]) metrics.registerMetric(gauge);
  const forgetAlerts = watchAlerts(database);
  return () => {
    forgetAlerts();
    metrics.removeSingleMetric('books_differences');
    metrics.removeSingleMetric('books_checked_at_seconds');
  };
};
