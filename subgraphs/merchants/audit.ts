/** Reads the audit log. Every change that a person makes writes to it (platform/database/audit). */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { QueryauditLogArgs } from '../../schema/generated/merchants.ts';
import { readByKey, type RowKey } from '../platform/database/batch-calls.ts';
import { withTexts } from '../platform/database/audit.ts';
import {
  AuditEntryEntity,
  AuditTextEntity,
  type AuditEntry,
} from '../platform/database/entities.ts';
import { findPage, given, type Page } from '../platform/database/keyset.ts';
import type { Runner, Statement } from '../platform/database/statement.ts';
import { isRefusal, refuse, type Refusal } from '../rules/refusal.ts';

/** The same entries with their texts, which are stored separately. */
export const readTexts = async (
  em: EntityManager,
  entries: readonly AuditEntry[],
): Promise<AuditEntry[]> => {
  const texts = await em.find(
    AuditTextEntity,
    {
      merchantId: { $in: [...new Set(entries.map(({ merchantId }) => merchantId))] },
      entryId: { $in: entries.map(({ id }) => id) },
    },
    { disableIdentityMap: true },
  );
  const byEntry = new Map(texts.map((one) => [one.entryId, one.texts]));
  return entries.map((entry) => ({
    ...entry,
    before: withTexts(entry.before, byEntry.get(entry.id)?.before),
    after: withTexts(entry.after, byEntry.get(entry.id)?.after),
  }));
};

/**
 * A page of the log of one merchant, or of all when `merchantId` is null, newest first. `bad_request` for a wrong size or cursor, and for a subject
 * without a merchant.
 */
export const listAuditEntries = async (
  em: EntityManager,
  query: Partial<QueryauditLogArgs>,
): Promise<Page<AuditEntry> | Refusal> => {
  const { merchantId = null, action, actor, subjectId = null, since, until, ...page } = query;
  if (merchantId === null && subjectId !== null)
    return refuse('bad_request', 'subjectId: requires merchantId');
  const moments = given({ $gte: since, $lt: until });
  const where = {
    ...given({ merchantId, action, actor, subjectId }),
    ...(since || until ? { at: moments } : {}),
  };
  const found = await findPage(em, { entity: AuditEntryEntity, at: 'at', where }, page);
  if (isRefusal(found)) return found;
  const nodes = await readTexts(em, found.nodes);
  const edges = found.edges.flatMap((edge, at) => {
    const node = nodes[at];
    return node ? [{ ...edge, node }] : [];
  });
  return { ...found, nodes, edges };
};

// The names of what the audit log speaks of by id: as they are now, not as they were.

/** Reads primary keys, and a merchant's few keys. */
const names: Statement = {
  name: 'audit.names',
  text: `select $1::uuid as "merchantId", about.id, coalesce(merchant.name, shop.name, nullif(api_key.name, ''), api_key.prefix || '...',
      webhook_endpoint.url, concat_ws(' ', payment.public_id, payment.order_id), subscription.plan_name) as name
    from unnest($2::uuid[]) as about (id)
      left join merchant on merchant.id = $1 and merchant.id = about.id
      left join shop on shop.merchant_id = $1 and shop.id = about.id
      left join api_key on api_key.merchant_id = $1 and api_key.id = about.id
      left join webhook_endpoint on webhook_endpoint.merchant_id = $1 and webhook_endpoint.id = about.id
      left join payment on payment.merchant_id = $1 and payment.id = about.id
      left join subscription on subscription.merchant_id = $1 and subscription.id = about.id`,
};

const readNames = readByKey<RowKey & { readonly name: string | null }>(names);

/** The name of each thing; null for what has none. */
export const findNames = async (
  runner: Runner,
  things: readonly RowKey[],
): Promise<(string | null)[]> =>
  (await readNames(runner, things)).map((thing) => thing?.name || null);
