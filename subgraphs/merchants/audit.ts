/**
 * Reading the audit log. It is written by `changeWithAudit` (kernel/service/audit), with every
 * change that a person makes.
 */
import {
  columns,
  propertyNames,
  type Runner,
  type Statement,
} from '../kernel/database/statement.ts';
import {
  behindCursor,
  newestFirst,
  readPage,
  type Page,
  type PageQuery,
} from '../kernel/database/page.ts';
import type { Refused } from '../kernel/rules/refusal.ts';
import { AuditEntryEntity, type AuditEntry } from './entities.ts';

export {
  actorOf,
  changeWithAudit,
  type Acting,
  type Audited,
  type AuditedAction,
} from '../kernel/service/audit.ts';

/** An entry as its page needs it: `createdAt` is its moment `at`. */
export type AuditRow = AuditEntry & { readonly createdAt: Temporal.Instant };

const entryColumns = `${columns(propertyNames(AuditEntryEntity))}, at as "createdAt"`;
const wanted = `and ($4::text is null or action = $4) and ($5::text is null or actor = $5) ${newestFirst('at', 'id')}`;
const everyEntry: Statement = {
  name: 'audit.all',
  text: `select ${entryColumns} from audit_entry where ${behindCursor('at', 'id')} ${wanted}`,
};
const entriesOf: Statement = {
  name: 'audit.of_merchant',
  text: `select ${entryColumns} from audit_entry where merchant_id = $6 and ${behindCursor('at', 'id')} ${wanted}`,
};

/**
 * Which entries: a merchant's, or everybody's when `merchantId` is null; narrowed by whatever else
 * is given.
 */
export interface AuditQuery extends PageQuery {
  readonly merchantId: string | null;
  readonly action?: string | null | undefined;
  readonly actor?: string | null | undefined;
}

/** A page of the log, newest first; `bad_request` for a wrong size or cursor. */
export const listAuditEntries = (
  runner: Runner,
  { merchantId, action, actor, ...page }: AuditQuery,
): Promise<Page<AuditRow> | Refused> => {
  const values = [action ?? null, actor ?? null];
  return merchantId === null
    ? readPage(runner, everyEntry, values, page)
    : readPage(runner, entriesOf, [...values, merchantId], page);
};
