/** Resolves an alert: an operator records the outcome. */
import { AlertEntity, type Alert } from '../../kernel/alerts/entities.ts';
import { isUuid } from '../../kernel/rules/uuid.ts';
import { forUpdate } from '../../kernel/database/orm-connections.ts';
import type { Database } from '../../kernel/database/orm.ts';
import { platformMerchantId } from '../../kernel/rules/platform.ts';
import { refused, type Refused } from '../../kernel/rules/refusal.ts';
import { actorOf, changeEntities, type Acting, type AuditedAction } from '../audit.ts';
import { reasonMistake } from '../policies/change-policy.ts';

/**
 * Marks an alert as resolved by the caller. `merchantId` null: an alert about the platform itself.
 * Refuses with `not_found`, and with `bad_request` an empty note and an alert that is already
 * resolved.
 */
export const resolveAlert = async (
  database: Pick<Database, 'emOf'>,
  acting: Acting,
  {
    merchantId,
    id,
    note,
  }: { readonly merchantId: string | null; readonly id: string; readonly note: string },
): Promise<Alert | Refused> => {
  const none = refused('not_found', 'there is no such alert');
  if (!isUuid(id)) return none;
  const mistake = reasonMistake(note);
  if (mistake) return mistake;
  const action: AuditedAction = {
    action: 'alert.resolve',
    merchantId,
    subject: { kind: 'alert', id },
  };
  return changeEntities(database, acting, action, async (em) => {
    const key = { merchantId: merchantId ?? platformMerchantId, id };
    const alert = await em.findOne(AlertEntity, key, forUpdate);
    if (!alert) return none;
    if (alert.resolvedAt) return refused('bad_request', 'id: the alert is already resolved');
    const resolvedBy = actorOf(acting.principal).actor;
    return em.assign(alert, { resolvedAt: acting.now(), resolvedBy, note });
  });
};
