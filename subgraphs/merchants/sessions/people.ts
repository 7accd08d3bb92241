/** Lists the people logged in to the console, and ends another person's session. */
import { writeEntry, type AuditedAction } from '../../platform/database/audit.ts';
import { inTransaction, run, type Statement } from '../../platform/database/statement.ts';
import { refuse, type Refusal } from '../../rules/refusal.ts';
import { isUuid } from '../../rules/ids.ts';
import type { OperatorPrincipal, Role } from '../../platform/access/principal.ts';
import type { Acting } from '../audit.ts';
import { sessionIdle_min } from './rules.ts';
import type { SessionDeps } from './sessions.ts';

/** A session as an administrator sees it, without its secret's digest. */
export interface PersonSession {
  readonly id: string;
  readonly subject: string;
  readonly role: Role;
  readonly merchantId: string | null;
  readonly createdAt: Temporal.Instant;
  readonly seenAt: Temporal.Instant;
  readonly endsAt: Temporal.Instant;
}

const shown_max = 200;

const shown = `id, subject, role, merchant_id as "merchantId", created_at as "createdAt", seen_at as "seenAt", ends_at as "endsAt"`;
const lasts = (now: string): string =>
  `ended_at is null and ends_at > ${now} and seen_at > ${now}::timestamptz - interval '${sessionIdle_min} minutes'`;
// An administrator of a merchant reaches only that merchant's people.
const within = (merchant: string): string =>
  `(${merchant}::uuid is null or merchant_id = ${merchant})`;

const listSessions: Statement = {
  name: 'console_session.list',
  text: `select ${shown} from console_session where ${lasts('$1')} and ${within('$2')} order by seen_at desc, id limit ${shown_max}`,
};

const endById: Statement = {
  name: 'console_session.end_by_id',
  text: `update console_session set ended_at = $1 where id = $3 and ${lasts('$1')} and ${within('$2')} returning ${shown}`,
};

/** The sessions that last now, within the caller's reach. */
export const findPeople = (
  { database }: Pick<SessionDeps, 'database'>,
  { merchantId }: OperatorPrincipal,
  now: Temporal.Instant,
): Promise<PersonSession[]> => run<PersonSession>(database.pool, listSessions, [now, merchantId]);

/**
 * Ends a person's session in every process within a second, with an audit entry; `not_found` when
 * it is over or outside the caller's reach.
 */
export const endPersonSession = async (
  { database, bus }: SessionDeps,
  acting: Acting & { readonly principal: OperatorPrincipal },
  id: string,
): Promise<PersonSession | Refusal> => {
  const none = refuse('not_found', 'there is no such session');
  if (!isUuid(id)) return none;
  const ended = await inTransaction(database.pool, async (client) => {
    const values = [acting.now(), acting.principal.merchantId, id];
    const [session] = await run<PersonSession>(client, endById, values);
    if (!session) return null;
    const { subject, role, merchantId } = session;
    const action: AuditedAction = {
      action: 'console_session.end',
      merchantId,
      subject: { kind: 'console_session', id },
    };
    await writeEntry(client, acting, action, { before: { subject, role }, after: null });
    return session;
  });
  if (!ended) return none;
  await bus.publish('sessions', { sessionId: id });
  return ended;
};
