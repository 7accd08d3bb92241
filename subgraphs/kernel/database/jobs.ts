/** What the kernel's own tables need in the background. */
import type pg from 'pg';
import { done, type Job } from '../queue/run-job.ts';
import { removedRows } from '../retention/removed-rows.ts';
import { setAsideKept_days } from '../rules/retention.ts';
import { forgetKeys } from './idempotency.ts';
import { forgetSetAside } from './set-aside.ts';
import { forgetTraces } from './subject-trace.ts';

export interface DatabaseJobs {
  readonly pool: pg.Pool;
  readonly now: () => Temporal.Instant;
  /** Ends a long run early. */
  readonly stopping: AbortSignal;
}

/** Small enough that a batch is over in milliseconds and never in the way of a payment. */
const batch_max_rows = 1_000;

/** Removes batches until one is not full; what was removed counts for the metrics. */
const forgetAll = async (
  table: string,
  stopping: AbortSignal,
  forgetBatch: () => Promise<number>,
): Promise<void> => {
  let count = batch_max_rows;
  while (!stopping.aborted && count === batch_max_rows) {
    count = await forgetBatch();
    removedRows.inc({ table }, count);
  }
};

/**
 * Removes what has reached its age. A run that is stopped half way loses nothing: the next one goes
 * on.
 */
export const databaseJobs = ({ pool, now, stopping }: DatabaseJobs): readonly Job[] => [
  {
    name: 'forget-idempotency-keys',
    queue: 'schedules',
    every_ms: 60_000,
    run: async () => {
      await forgetAll('idempotency_key', stopping, () => forgetKeys(pool, now(), batch_max_rows));
      return done;
    },
  },
  {
    name: 'forget-set-aside',
    queue: 'schedules',
    every_ms: 3_600_000,
    run: async () => {
      const cutoff = now().subtract({ hours: setAsideKept_days * 24 });
      await forgetAll('set_aside', stopping, () => forgetSetAside(pool, cutoff, batch_max_rows));
      return done;
    },
  },
  {
    name: 'forget-subject-traces',
    queue: 'schedules',
    every_ms: 3_600_000,
    run: async () => {
      await forgetAll('subject_trace', stopping, () => forgetTraces(pool, now(), batch_max_rows));
      return done;
    },
  },
];
