/** Resolving an alert: an operator says what became of it. */
import type { Alert } from '../../kernel/alerts/entities.ts';
import { alertColumns } from '../../kernel/alerts/find-alerts.ts';
import { isUuid } from '../../kernel/rules/uuid.ts';
import type { Database } from '../../kernel/database/orm.ts';
import { run, type Statement } from '../../kernel/database/statement.ts';
import { platformMerchantId } from '../../kernel/rules/platform.ts';
import { refused, type Refused } from '../../kernel/rules/refusal.ts';
import { actorOf, changeWithAudit, type Acting } from '../audit.ts';
import { reasonMistake } from '../policies/change-policy.ts';

const lock: Statement = {
  name: 'alert.lock',
  text: `select ${alertColumns} from alert where merchant_id = $1 and id = $2 for update`,
};
const resolve: Statement = {
  name: 'alert.resolve',
  text: `update alert set resolved_at = $3, resolved_by = $4, note = $5 where merchant_id = $1 and id = $2 returning ${alertColumns}`,
};

const told = ({ kind, subjectId, resolvedAt, note }: Alert) => ({
  kind,
  subjectId,
  resolvedAt,
  note,
});

/**
 * Marks an alert as resolved by the caller. `merchantId` null: an alert about the platform itself.
 * Refuses with `not_found`, and with `bad_request` a note that says nothing and an alert that was
 * resolved before.
 */
export const resolveAlert = async (
  database: Pick<Database, 'pool'>,
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
  const key = [merchantId ?? platformMerchantId, id];
  return changeWithAudit<Alert>(
    database,
    acting,
    { action: 'alert.resolve', merchantId, subject: { kind: 'alert', id } },
    async (client) => {
      const [before] = await run<Alert>(client, lock, key);
      if (!before) return none;
      if (before.resolvedAt) return refused('bad_request', 'id: the alert is resolved already');
      const [after] = await run<Alert>(client, resolve, [
        ...key,
        acting.now(),
        actorOf(acting.principal).actor,
        note,
      ]);
      return after ? { before: told(before), after: told(after), result: after } : none;
    },
  );
};
