/** How many alerts nobody has resolved, for the metrics. */
import { Gauge } from 'prom-client';
import { run, type Runner, type Statement } from '../database/statement.ts';
import { alertKinds, type AlertKind } from '../rules/alert.ts';
import { metrics } from '../service/tracing/telemetry.ts';

const count: Statement = {
  name: 'alert.count',
  text: 'select kind, count(*)::int as count from alert where resolved_at is null group by kind',
};

/** Unresolved alerts by kind, a zero for each kind that has none. */
export const countAlerts = async (runner: Runner): Promise<ReadonlyMap<AlertKind, number>> => {
  const rows = await run<{ kind: AlertKind; count: number }>(runner, count, []);
  const none = Object.keys(alertKinds).map((kind) => [kind as AlertKind, 0] as const);
  return new Map([...none, ...rows.map((row) => [row.kind, row.count] as const)]);
};

/**
 * Adds the gauge `alerts_unresolved` to the metrics of this process. It is read when it is scraped,
 * so every process that has it reports the same: take the maximum over processes. While the
 * database is away it keeps its last value. Gives what takes the gauge off again.
 */
export const watchAlerts = (runner: Runner): (() => void) => {
  const gauge = new Gauge({
    name: 'alerts_unresolved',
    help: 'Alerts that nobody has resolved, by kind.',
    labelNames: ['kind'],
    async collect() {
      const counts = await countAlerts(runner).catch(() => new Map<AlertKind, number>());
      for (const [kind, unresolved] of counts) this.set({ kind }, unresolved);
    },
    registers: [],
  });
  metrics.registerMetric(gauge);
  return () => metrics.removeSingleMetric('alerts_unresolved');
};
