/**
 * Reading the audit log. It is written with every change that a person makes
 * (kernel/database/audit).
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { findPage, given } from '../kernel/database/find-page.ts';
import type { Page, PageQuery } from '../kernel/database/page.ts';
import type { Refused } from '../kernel/rules/refusal.ts';
import { AuditEntryEntity, type AuditEntry } from './entities.ts';

export {
  actorOf,
  changeEntities,
  type Acting,
  type AuditedAction,
  type EntryNotes,
} from '../kernel/database/audit.ts';

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
  em: EntityManager,
  { merchantId, action = null, actor = null, ...page }: AuditQuery,
): Promise<Page<AuditEntry> | Refused> => {
  const everybody = merchantId === null;
  const bound: readonly [string, readonly unknown[]] = everybody
    ? ['audit.all', [action, actor]]
    : ['audit.of_merchant', [action, actor, merchantId]];
  const where = given({ merchantId, action, actor });
  return findPage(em, { entity: AuditEntryEntity, at: 'at', where, bound }, page);
};
