/** What was removed because of its age, for the metrics. */
import { Counter } from 'prom-client';
import { metrics } from '../service/tracing/telemetry.ts';

/** Rows of a dropped month are those that PostgreSQL estimated. */
export const removedRows = new Counter({
  name: 'retention_removed_rows_total',
  help: 'Rows removed because they had reached their age, by table.',
  labelNames: ['table'],
  registers: [metrics],
});
