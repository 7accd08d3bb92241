/** Lists the people logged in to the console, and ends another person's session. */
import { randomUUID } from 'node:crypto';
import { makeConsoleLink } from '../../platform/access/link-person.ts';
import type { OperatorPrincipal, Role } from '../../platform/access/principal.ts';
import { writeEntry, type AuditedAction, type Acting } from '../../platform/database/audit.ts';
import { openKnownMerchants } from '../../platform/database/known-merchants.ts';
import type { Database } from '../../platform/database/orm.ts';
import { inTransaction, run, type Statement } from '../../platform/database/statement.ts';
import { isUuid } from '../../rules/ids.ts';
import { isEmail } from '../../rules/receipt-terms.ts';
import { refuse, type Refusal } from '../../rules/refusal.ts';
import { sessionIdle_min, invitationLife_h, type SessionDeps } from './sessions.ts';

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
    const action: AuditedAction = { action: 'console_session.end', merchantId, id };
    await writeEntry(client, acting, action, { before: { subject, role }, after: null });
    return session;
  });
  if (!ended) return none;
  await bus.publish('sessions', { sessionId: id });
  return ended;
};

// Invites people to the console by their e-mail address, where no issuer says who people are. The
// caller gets a one-time link to pass on; only its digest is stored.

export interface InvitationDeps {
  readonly database: Pick<Database, 'pool'>;
  readonly publicUrl: string;
  /** Where people log in; null: they are invited. */
  readonly issuer: string | null;
}

/** An invitation that waits. */
export interface PersonInvitation {
  readonly id: string;
  readonly subject: string;
  readonly role: Role;
  readonly merchantId: string | null;
  readonly invitedBy: string;
  readonly expiresAt: Temporal.Instant;
}

type ActingPerson = Acting & { readonly principal: OperatorPrincipal };

const linkColumns =
  'id, subject, role, merchant_id as "merchantId", invited_by as "invitedBy", expires_at as "expiresAt"';
const waits = (now: string): string => `id is not null and used_at is null and expires_at > ${now}`;

const list: Statement = {
  name: 'console_link.invitations',
  text: `select ${linkColumns} from console_link where ${waits('$1')} and ${within('$2')} order by expires_at desc, id limit ${shown_max}`,
};
// A newer invitation of a person takes the place of the one before.
const insert: Statement = {
  name: 'console_link.invite',
  text: `with gone as (delete from console_link where ${waits('$8')} and subject = $4 and merchant_id is not distinct from $6::uuid)
    insert into console_link (digest, id, expires_at, subject, role, merchant_id, invited_by) values ($1, $2, $3, $4, $5, $6, $7) returning ${linkColumns}`,
};
const remove: Statement = {
  name: 'console_link.withdraw',
  text: `delete from console_link where id = $3 and ${waits('$1')} and ${within('$2')} returning ${linkColumns}`,
};

/** The invitations that wait, within the caller's reach. */
export const findInvitations = (
  { database }: InvitationDeps,
  { merchantId }: OperatorPrincipal,
  now: Temporal.Instant,
): Promise<PersonInvitation[]> => run<PersonInvitation>(database.pool, list, [now, merchantId]);

interface Invited {
  readonly email: string;
  readonly role: Role;
  /** Null: the platform's staff. */
  readonly merchantId: string | null;
}

/**
 * Makes the link that lets a person in once, with an audit entry. `bad_request` for a wrong address
 * and where an issuer says who people are, `not_found` for a merchant that is not the caller's.
 */
export const invitePerson = async (
  { database, publicUrl, issuer }: InvitationDeps,
  acting: ActingPerson,
  { email, role, merchantId }: Invited,
): Promise<{ readonly url: string; readonly invitation: PersonInvitation } | Refusal> => {
  if (issuer !== null)
    return refuse('bad_request', `email: people come from ${issuer}; add the person there`);
  const subject = email.trim().toLowerCase();
  if (!isEmail(subject)) return refuse('bad_request', 'email: expected an e-mail address');
  const own = acting.principal.merchantId;
  const isReached = own === null || own === merchantId;
  const isKnown =
    merchantId === null ||
    (isUuid(merchantId) && (await openKnownMerchants(database.pool)([merchantId])));
  if (!isReached || !isKnown) return refuse('not_found', 'there is no such merchant');
  const { url, digest } = makeConsoleLink(publicUrl);
  const [id, at] = [randomUUID(), acting.now()];
  const expiresAt = at.add({ hours: invitationLife_h });
  const invitation = await inTransaction(database.pool, async (client) => {
    const values = [digest, id, expiresAt, subject, role, merchantId, acting.principal.subject, at];
    const [made] = await run<PersonInvitation>(client, insert, values);
    if (!made) throw new Error('an invitation was not written');
    const action: AuditedAction = { action: 'person.invite', merchantId, id: subject };
    await writeEntry(client, acting, action, { before: null, after: { role, expiresAt } });
    return made;
  });
  return { url, invitation };
};

/** Withdraws an invitation, with an audit entry; `not_found` when it does not wait. */
export const withdrawInvitation = async (
  { database }: InvitationDeps,
  acting: ActingPerson,
  id: string,
): Promise<PersonInvitation | Refusal> => {
  const none = refuse('not_found', 'there is no such invitation');
  if (!isUuid(id)) return none;
  return inTransaction(database.pool, async (client) => {
    const values = [acting.now(), acting.principal.merchantId, id];
    const [gone] = await run<PersonInvitation>(client, remove, values);
    if (!gone) return none;
    const { subject, role, merchantId } = gone;
    const action: AuditedAction = { action: 'person.invite_withdraw', merchantId, id: subject };
    await writeEntry(client, acting, action, { before: { role }, after: null });
    return gone;
  });
};
