/** Alerts as operators list them. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { Gauge } from 'prom-client';
import { findPage, given } from '../database/find-page.ts';
import type { Page, PageQuery } from '../database/page.ts';
import { columns, propertyNames } from '../database/statement.ts';
import {
  alertSeverities,
  type AlertKind,
  type AlertSeverity,
  alertKinds,
} from '../../rules/alert.ts';
import type { Mode } from '../../rules/mode.ts';
import type { Refusal } from '../../rules/refusal.ts';
import { AlertEntity, type Alert } from './entities.ts';
import type { Database } from '../database/orm.ts';
import { metrics } from '../tracing/telemetry.ts';

/* The number of unresolved alerts, for the metrics. */

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

/** The column of `publishedAt` keeps its first name. */
export const alertColumns = [
  columns(propertyNames(AlertEntity).filter((name) => name !== 'publishedAt')),
  'told_at as "publishedAt"',
].join(', ');

/** Which alerts: all, or those that everything given fits. */
interface AlertQuery extends PageQuery {
  readonly kind?: AlertKind | null | undefined;
  readonly resolved?: boolean | null | undefined;
  readonly merchantId?: string | null | undefined;
  /** Also those that belong to no mode. */
  readonly mode?: Mode | null | undefined;
  readonly severity?: AlertSeverity | null | undefined;
  readonly assignee?: string | null | undefined;
  /** True: without an assignee; false: with one. */
  readonly unassigned?: boolean | null | undefined;
}

/** The kinds that an alert may be of; null: any. */
const kindsOf = (
  kind: AlertKind | null,
  severity: AlertSeverity | null,
): readonly string[] | null => {
  if (severity === null) return kind === null ? null : [kind];
  return Object.entries(alertSeverities)
    .filter(([name, urgency]) => urgency === severity && (kind === null || name === kind))
    .map(([name]) => name);
};

/** A page of alerts, the last raised first; `bad_request` for a wrong size or cursor. */
export const listAlerts = (
  em: EntityManager,
  asked: AlertQuery,
): Promise<Page<Alert> | Refusal> => {
  const { kind = null, resolved = null, merchantId = null, ...more } = asked;
  const { mode = null, severity = null, assignee = null, unassigned = null, ...query } = more;
  const resolvedAt = resolved === null ? {} : { resolvedAt: resolved ? { $ne: null } : null };
  const kinds = kindsOf(kind, severity);
  const narrower = [
    ...(unassigned === null ? [] : [{ assignee: unassigned ? null : { $ne: null } }]),
    ...(mode === null ? [] : [{ $or: [{ mode }, { mode: null }] }]),
  ];
  const where = {
    ...given({ merchantId, assignee }),
    ...(kinds ? { kind: { $in: kinds as AlertKind[] } } : {}),
    ...resolvedAt,
    $and: narrower,
  };
  const narrowing = [kind, resolved, merchantId, mode, severity, assignee, unassigned];
  const bound = ['alert.page', narrowing] as const;
  return findPage(em, { entity: AlertEntity, at: 'raisedAt', where, bound }, query);
};
