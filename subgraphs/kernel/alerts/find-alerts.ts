/** Alerts as operators list them. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { findPage, given } from '../database/find-page.ts';
import type { Page, PageQuery } from '../database/page.ts';
import { columns, propertyNames } from '../database/statement.ts';
import { alertSeverities, type AlertKind, type AlertSeverity } from '../rules/alert.ts';
import type { Mode } from '../rules/mode.ts';
import type { Refused } from '../rules/refusal.ts';
import { AlertEntity, type Alert } from './entities.ts';

/** The column of `publishedAt` keeps its first name. */
export const alertColumns = [
  columns(propertyNames(AlertEntity).filter((name) => name !== 'publishedAt')),
  'told_at as "publishedAt"',
].join(', ');

/** Which alerts: all, or those that everything given fits. */
export interface AlertQuery extends PageQuery {
  readonly kind?: AlertKind | null | undefined;
  readonly resolved?: boolean | null | undefined;
  readonly merchantId?: string | null | undefined;
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
): Promise<Page<Alert> | Refused> => {
  const { kind = null, resolved = null, merchantId = null, ...more } = asked;
  const { mode = null, severity = null, assignee = null, unassigned = null, ...query } = more;
  const resolvedAt = resolved === null ? {} : { resolvedAt: resolved ? { $ne: null } : null };
  const kinds = kindsOf(kind, severity);
  const free = unassigned === null ? [] : [{ assignee: unassigned ? null : { $ne: null } }];
  const where = {
    ...given({ merchantId, mode, assignee }),
    ...(kinds ? { kind: { $in: kinds as AlertKind[] } } : {}),
    ...resolvedAt,
    $and: free,
  };
  const narrowing = [kind, resolved, merchantId, mode, severity, assignee, unassigned];
  const bound = ['alert.page', narrowing] as const;
  return findPage(em, { entity: AlertEntity, at: 'raisedAt', where, bound }, query);
};
