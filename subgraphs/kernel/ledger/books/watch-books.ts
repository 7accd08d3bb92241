/** What the checks of the books have come to, for the metrics. */
import { Gauge } from 'prom-client';
import { watchAlerts } from '../../alerts/count-alerts.ts';
import type { Database } from '../../database/orm.ts';
import { run, type Runner, type Statement } from '../../database/statement.ts';
import { metrics } from '../../service/tracing/telemetry.ts';
import { checkNames, type CheckName, type Walk } from './check.ts';
import { BooksAsideEntity, BooksWalkEntity } from './entities.ts';

const differences: Statement = {
  name: 'books.count_differences',
  text: `select split_part(subject_id, ':', 1) as check, count(*)::int as count from alert
    where kind in ('books_differ', 'event_without_delivery') and resolved_at is null group by 1`,
};

/** Differences that nobody has resolved, a zero for each check that has none. */
export const countDifferences = async (runner: Runner): Promise<ReadonlyMap<CheckName, number>> => {
  const rows = await run<{ check: CheckName; count: number }>(runner, differences, []);
  return new Map([
    ...checkNames.map((check) => [check, 0] as const),
    ...rows.map(({ check, count }) => [check, count] as const),
  ]);
};

/**
 * Since when everything older is checked, by table: what is still walked of a huge merchant counts
 * from the pass from which it was left.
 */
export const checkedAt = async (
  database: Pick<Database, 'fork'>,
): Promise<readonly (readonly [Walk, Temporal.Instant])[]> => {
  const em = database.fork();
  const [walks, left] = [await em.find(BooksWalkEntity, {}), await em.find(BooksAsideEntity, {})];
  return walks.flatMap(({ name, checkedAt: at }) => {
    if (!at) return [];
    const since = left.flatMap((aside) => (aside.name === name ? [aside.passBeganAt] : []));
    const [oldest = at] = [at, ...since].toSorted((one, other) =>
      Temporal.Instant.compare(one, other),
    );
    return [[name, oldest]];
  });
};

/**
 * Adds the gauges of the books and of the alerts to the metrics of this process. They are read when
 * they are scraped, so every process that has them reports the same. While the database is away
 * they keep their last values. Gives what takes them off again.
 */
export const watchBooks = (database: Pick<Database, 'pool' | 'fork'>): (() => void) => {
  const found = new Gauge({
    name: 'books_differences',
    help: 'Unresolved differences in the books, by check.',
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
    help: 'When the last whole pass over a table of the books began that has ended, Unix time, by table.',
    labelNames: ['walk'],
    registers: [],
    async collect() {
      for (const [walk, at] of await checkedAt(database).catch(() => []))
        this.set({ walk }, at.epochMilliseconds / 1_000);
    },
  });
  const pass = new Gauge({
    name: 'books_pass_seconds',
    help: 'How long a pass over a table of the books takes at its present rate, by table.',
    labelNames: ['walk'],
    registers: [],
    async collect() {
      const walks = await database
        .fork()
        .find(BooksWalkEntity, {})
        .catch(() => []);
      for (const { name, passSeconds } of walks)
        if (typeof passSeconds === 'number') this.set({ walk: name }, passSeconds);
    },
  });
  for (const gauge of [found, checked, pass]) metrics.registerMetric(gauge);
  const forgetAlerts = watchAlerts(database);
  return () => {
    forgetAlerts();
    metrics.removeSingleMetric('books_differences');
    metrics.removeSingleMetric('books_checked_at_seconds');
    metrics.removeSingleMetric('books_pass_seconds');
  };
};
