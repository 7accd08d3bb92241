/** Assigns an alert to a platform operator. */
import { AlertEntity, type Alert } from '../../kernel/alerts/entities.ts';
import { forUpdate } from '../../kernel/database/orm-connections.ts';
import type { Database } from '../../kernel/database/orm.ts';
import { run, type Runner, type Statement } from '../../kernel/database/statement.ts';
import { platformMerchantId } from '../../kernel/rules/platform.ts';
import { refused, type Refused } from '../../kernel/rules/refusal.ts';
import { isUuid } from '../../kernel/rules/uuid.ts';
import { actorOf, changeEntities, type Acting, type AuditedAction } from '../audit.ts';
import { sessionKept_days } from '../sessions/rules.ts';

const assignees_max = 200;
/** Limit on the sessions read: far more than the platform's operators have in a month. */
const sessions_max = 10_000;

const peopleOfPlatform: Statement = {
  name: 'console_session.people',
  text: `select distinct subject from (select subject from console_session
      where merchant_id is null and ends_at > $1::timestamptz - interval '${sessionKept_days} days' order by ends_at desc limit ${sessions_max}) recent
    order by subject limit ${assignees_max}`,
};

/** Possible assignees: the caller, and people who have logged in to the console recently. */
export const findAssignees = async (
  runner: Runner,
  { principal, now }: Acting,
): Promise<readonly string[]> => {
  const people = await run<{ subject: string }>(runner, peopleOfPlatform, [now()]);
  const { actor } = actorOf(principal);
  return [actor, ...people.map(({ subject }) => subject).filter((subject) => subject !== actor)];
};

/** The alert and its assignee; null unassigns it. */
interface Assignment {
  /** Null: an alert about the platform itself. */
  readonly merchantId: string | null;
  readonly id: string;
  readonly assignee: string | null;
}

/**
 * Assigns an alert to a person. Refuses with `not_found`, and with `bad_request` an assignee that
 * is not a platform operator and an alert that is resolved.
 */
export const assignAlert = async (
  database: Pick<Database, 'emOf' | 'pool'>,
  acting: Acting,
  { merchantId, id, assignee }: Assignment,
): Promise<Alert | Refused> => {
  const none = refused('not_found', 'there is no such alert');
  if (!isUuid(id)) return none;
  if (assignee !== null && !(await findAssignees(database.pool, acting)).includes(assignee))
    return refused('bad_request', 'assignee: no person of the platform has this name');
  const action: AuditedAction = {
    action: 'alert.assign',
    merchantId,
    subject: { kind: 'alert', id },
  };
  return changeEntities(database, acting, action, async (em) => {
    const key = { merchantId: merchantId ?? platformMerchantId, id };
    const alert = await em.findOne(AlertEntity, key, forUpdate);
    if (!alert) return none;
    if (alert.resolvedAt) return refused('bad_request', 'id: the alert is already resolved');
    return em.assign(alert, { assignee });
  });
};
