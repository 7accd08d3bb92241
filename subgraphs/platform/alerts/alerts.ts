/** Alerts: raising one, in the transaction of what gives rise to it or by itself; and their list. */
import type { EntityManager } from '@mikro-orm/postgresql';
import {
  alertKinds,
  type AlertFields,
  type AlertKind,
  type AlertSeverity,
} from '../../rules/alert.ts';
import { maskCardNumbers } from '../../rules/card.ts';
import { platformMerchantId } from '../../rules/ids.ts';
import type { Refusal } from '../../rules/refusal.ts';
import type { PublishedAlert } from '../bus/bus.ts';
import { findPage, given, type Page } from '../database/keyset.ts';
import { noteListChange } from '../database/list-changes.ts';
import type { Database } from '../database/orm.ts';
import { run, type Runner, type Statement } from '../database/statement.ts';
import { watchGauges } from '../tracing/telemetry.ts';
import { AlertEntity, type Alert } from './entities.ts';
import type { QueryalertsArgs } from '../../../schema/generated/merchants.ts';

export interface RaisedAlert extends Omit<PublishedAlert, 'id' | 'raisedAt'> {
  readonly at: Temporal.Instant;
}

const raise: Statement = {
  name: 'alert.raise',
  text: `insert into alert (merchant_id, id, kind, shop_id, mode, subject_id, detail, raised_at, fields) values ($1, gen_random_uuid(), $2, $3, $4, $5, $6, $7, $9)
    on conflict (merchant_id, kind, subject_id) do update set shop_id = excluded.shop_id, mode = excluded.mode, detail = excluded.detail, fields = excluded.fields,
      raised_at = excluded.raised_at, told_at = null, posted_at = null, mailed_at = null, resolved_at = null, resolved_by = null, note = null, assignee = null
    where $8::boolean and alert.resolved_at is not null
    returning 1`,
};

const masked = (fields: AlertFields): AlertFields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, maskCardNumbers(value)]));

/**
 * Raises an alert unless the same one was raised before; a state that was resolved and is found
 * again is raised anew. Gives whether it is a new one. One statement: it takes part in the
 * transaction of `runner` when that is in one. A job publishes it to operators within a second of
 * the commit.
 */
export const raiseAlert = async (
  runner: Runner,
  { kind, merchantId, shopId, mode, subjectId, detail, fields, at }: RaisedAlert,
): Promise<boolean> => {
  const values = [
    merchantId ?? platformMerchantId,
    kind,
    shopId,
    mode,
    subjectId,
    maskCardNumbers(detail),
    at,
    alertKinds[kind].is === 'state',
    masked(fields),
  ];
  const isNew = (await run(runner, raise, values)).length > 0;
  if (isNew) noteListChange(runner, { list: 'alerts', merchantId });
  return isNew;
};

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
export const watchAlerts = (database: Pick<Database, 'fork'>): (() => void) =>
  watchGauges({
    name: 'alerts_unresolved',
    help: 'Unresolved alerts, by kind.',
    labelNames: ['kind'],
    async collect() {
      const counts = await countAlerts(database).catch(() => new Map<AlertKind, number>());
      for (const [kind, unresolved] of counts) this.set({ kind }, unresolved);
    },
  });

const kindsOf = (
  kind: AlertKind | null,
  severity: AlertSeverity | null,
): readonly string[] | null => {
  if (severity === null) return kind === null ? null : [kind];
  return Object.entries(alertKinds)
    .filter(([name, one]) => one.severity === severity && (kind === null || name === kind))
    .map(([name]) => name);
};

/** A page of alerts, the last raised first; `bad_request` for a wrong size or cursor. */
export const listAlerts = (
  em: EntityManager,
  asked: Partial<QueryalertsArgs>,
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
  return findPage(em, { entity: AlertEntity, at: 'raisedAt', where }, query);
};
