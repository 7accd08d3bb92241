/** The number of unresolved alerts, for the metrics. */
import { Gauge } from 'prom-client';
import type { Database } from '../database/orm.ts';
import { alertKinds, type AlertKind } from '../rules/alert.ts';
import { AlertEntity } from './entities.ts';
import { metrics } from '../service/tracing/telemetry.ts';

/** Unresolved alerts by kind, a zero for each kind that has none. */
export const countAlerts = async (
  database: Pick<Database, 'fork'>,
): Promise<ReadonlyMap<AlertKind, number>> => {
  const unresolved = { where: { resolvedAt: null } };
  const counts = await database.fork().countBy(AlertEntity, 'kind', unresolved);
  return new Map(
    Object.keys(alertKinds).map((kind) => [kind as AlertKind, counts[kind] ?? 0] as const),
  );
};

/**
 * Adds the gauge `alerts_unresolved` to the metrics of this process. It is read when it is scraped,
 * so every process that has it reports the same: take the maximum over processes. While the
 * database is away it keeps its last value. Gives what takes the gauge off again.
 */
export const watchAlerts = (database: Pick<Database, 'fork'>): (() => void) => {
  const gauge = new Gauge({
    name: 'alerts_unresolved',
    help: 'Unresolved alerts, by kind.',
    labelNames: ['kind'],
    async collect() {
      const counts = await countAlerts(database).catch(() => new Map<AlertKind, number>());
      for (const [kind, unresolved] of counts) this.set({ kind }, unresolved);
    },
    registers: [],
  });
  metrics.registerMetric(gauge);
  return () => metrics.removeSingleMetric('alerts_unresolved');
};
