/** Alerts as operators list them. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { findPage, given } from '../database/find-page.ts';
import type { Page, PageQuery } from '../database/page.ts';
import { columns, propertyNames } from '../database/statement.ts';
import type { AlertKind } from '../rules/alert.ts';
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
}

/** A page of alerts, the last raised first; `bad_request` for a wrong size or cursor. */
export const listAlerts = (
  em: EntityManager,
  { kind = null, resolved = null, merchantId = null, ...query }: AlertQuery,
): Promise<Page<Alert> | Refused> => {
  const resolvedAt = resolved === null ? {} : { resolvedAt: resolved ? { $ne: null } : null };
  const where = { ...given({ kind, merchantId }), ...resolvedAt };
  const bound = ['alert.page', [kind, resolved, merchantId]] as const;
  return findPage(em, { entity: AlertEntity, at: 'raisedAt', where, bound }, query);
};
