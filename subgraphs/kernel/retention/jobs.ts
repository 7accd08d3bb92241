/**
 * The jobs that keep the partitions and remove what has reached its age (`kernel/rules/retention`).
 * Late or twice, they do no harm.
 */
import type pg from 'pg';
import { done, type Job } from '../queue/run-job.ts';
import { alertsKept_days, registriesKept_days } from '../rules/retention.ts';
import { forgetAlerts, forgetLines, forgetOlder, forgetStrays } from './forget-rows.ts';
import { dropPartitions, makePartitions, partitionedTables } from './keep-partitions.ts';
import { removedRows } from './removed-rows.ts';

export interface RetentionJobs {
  readonly pool: pg.Pool;
  /** The real time. */
  readonly now: () => Temporal.Instant;
  /** Ends a long run early. */
  readonly stopping: AbortSignal;
  readonly eventsKept_days: number;
}

const before = (now: Temporal.Instant, days: number): Temporal.Instant =>
  now.subtract({ hours: days * 24 });

/**
 * Makes the months to come; removes events, deliveries and attempts that are old, in this order.
 */
export const keepEvents = async ({
  pool,
  now,
  stopping,
  eventsKept_days,
}: RetentionJobs): Promise<void> => {
  await makePartitions(pool, now());
  const cutoff = before(now(), eventsKept_days);
  await dropPartitions(pool, cutoff, (table, rows) => removedRows.inc({ table }, rows));
  for (const table of partitionedTables)
    removedRows.inc({ table }, await forgetOlder(pool, forgetStrays[table], cutoff, stopping));
};

/** Removes lines of registries and resolved alerts that are old. */
export const forgetPapers = async ({
  pool,
  now,
  stopping,
}: Omit<RetentionJobs, 'eventsKept_days'>): Promise<void> => {
  removedRows.inc(
    { table: 'reconciliation_line' },
    await forgetOlder(pool, forgetLines, before(now(), registriesKept_days), stopping),
  );
  removedRows.inc(
    { table: 'alert' },
    await forgetOlder(pool, forgetAlerts, before(now(), alertsKept_days), stopping),
  );
};

/** The jobs of retention, for the worker. */
export const retentionJobs = (parts: RetentionJobs): readonly Job[] => [
  {
    name: 'keep-events',
    queue: 'schedules',
    every_ms: 60_000,
    run: async () => {
      await keepEvents(parts);
      return done;
    },
  },
  {
    name: 'forget-papers',
    queue: 'schedules',
    every_ms: 3_600_000,
    run: async () => {
      await forgetPapers(parts);
      return done;
    },
  },
];
