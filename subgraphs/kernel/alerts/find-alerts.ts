/** Alerts as operators list them. */
import {
  behindCursor,
  newestFirst,
  readPage,
  type Page,
  type PageQuery,
} from '../database/page.ts';
import { columns, propertyNames, type Runner, type Statement } from '../database/statement.ts';
import type { AlertKind } from '../rules/alert.ts';
import type { Refused } from '../rules/refusal.ts';
import { AlertEntity, type Alert } from './entities.ts';

/** The column of `publishedAt` keeps its first name. */
export const alertColumns = [
  columns(propertyNames(AlertEntity).filter((name) => name !== 'publishedAt')),
  'told_at as "publishedAt"',
].join(', ');

/** An alert as its page needs it: `createdAt` is the moment when it was raised. */
export type AlertRow = Alert & { readonly createdAt: Temporal.Instant };

const page: Statement = {
  name: 'alert.page',
  text: `select ${alertColumns}, raised_at as "createdAt" from alert
    where ($4::text is null or kind = $4) and ($5::boolean is null or (resolved_at is not null) = $5) and ($6::uuid is null or merchant_id = $6)
      and ${behindCursor('raised_at', 'id')} ${newestFirst('raised_at', 'id')}`,
};

/** Which alerts: all, or those that everything given fits. */
export interface AlertQuery extends PageQuery {
  readonly kind?: AlertKind | null | undefined;
  readonly resolved?: boolean | null | undefined;
  readonly merchantId?: string | null | undefined;
}

/** A page of alerts, the last raised first; `bad_request` for a wrong size or cursor. */
export const listAlerts = (
  runner: Runner,
  { kind, resolved, merchantId, ...query }: AlertQuery,
): Promise<Page<AlertRow> | Refused> =>
  readPage(runner, page, [kind ?? null, resolved ?? null, merchantId ?? null], query);
