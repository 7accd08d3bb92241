/** Lists the people logged in to the console, and ends another person's session. */
import { randomUUID } from 'node:crypto';
import type {
  MutationpersonInviteArgs,
  PersonInvitation,
  PersonInvited,
} from '../../../schema/generated/merchants.ts';
import { makeConsoleLink } from '../../platform/access/link-person.ts';
import { writeEntry, type AuditedAction } from '../../platform/database/audit.ts';
import { given } from '../../platform/database/keyset.ts';
import { openKnownMerchants } from '../../platform/database/known-merchants.ts';
import { clientOf, forUpdate } from '../../platform/database/orm-connections.ts';
import type { OnDatabase } from '../../platform/database/orm.ts';
import type { PersonActing } from '../../platform/drafts/drafts.ts';
import { isUuid } from '../../rules/ids.ts';
import { isEmail } from '../../rules/receipt.ts';
import { refuse, type Refusal } from '../../rules/refusal.ts';
import {
  ConsoleLinkEntity,
  ConsoleSessionEntity,
  type ConsoleLink,
  type ConsoleSession,
} from '../entities.ts';
import { invitationLife_h, lasting, type SessionDeps } from './sessions.ts';

const shown_max = 200;

/** The sessions that last now, within the caller's reach. */
export const findPeople = (
  { database }: Pick<SessionDeps, 'database'>,
  { principal: { merchantId }, now }: PersonActing,
): Promise<ConsoleSession[]> =>
  database
    .fork()
    .find(
      ConsoleSessionEntity,
      { ...lasting(now()), ...given({ merchantId }) },
      { orderBy: { seenAt: 'desc', id: 'asc' }, limit: shown_max },
    );

/**
 * Ends a person's session in every process within a second, with an audit entry; `not_found` when
 * it is over or outside the caller's reach.
 */
export const endPersonSession = async (
  { database, bus }: SessionDeps,
  acting: PersonActing,
  id: string,
): Promise<ConsoleSession | Refusal> => {
  const none = refuse('not_found', 'there is no such session');
  if (!isUuid(id)) return none;
  const now = acting.now();
  const own = given({ merchantId: acting.principal.merchantId });
  const ended = await database.fork().transactional(async (em) => {
    const where = { id, ...lasting(now), ...own };
    const session = await em.findOne(ConsoleSessionEntity, where, forUpdate);
    if (!session) return null;
    session.endedAt = now;
    const { subject, role, merchantId } = session;
    const action: AuditedAction = { action: 'console_session.end', merchantId, id };
    const states = { before: { subject, role }, after: null };
    await writeEntry(await clientOf(em), acting, action, states);
    return session;
  });
  if (!ended) return none;
  await bus.publish('sessions', { sessionId: id });
  return ended;
};

// Invites people to the console by their e-mail address, where no issuer says who people are. The
// caller gets a one-time link to pass on; only its digest is stored.

export interface InvitationDeps extends OnDatabase<'pool' | 'fork'> {
  readonly publicUrl: string;
  /** Where people log in; null: they are invited. */
  readonly issuer: string | null;
}

const waiting = (now: Temporal.Instant) => ({
  id: { $ne: null },
  usedAt: null,
  expiresAt: { $gt: now },
});

const isInvitation = (link: ConsoleLink): link is ConsoleLink & PersonInvitation =>
  link.id !== null;

/** The invitations that wait, within the caller's reach. */
export const findInvitations = async (
  { database }: InvitationDeps,
  { principal: { merchantId }, now }: PersonActing,
): Promise<PersonInvitation[]> => {
  const where = { ...waiting(now()), ...given({ merchantId }) };
  const order = { orderBy: { expiresAt: 'desc', id: 'asc' }, limit: shown_max } as const;
  return (await database.fork().find(ConsoleLinkEntity, where, order)).filter(isInvitation);
};

/**
 * Makes the link that lets a person in once, with an audit entry. `bad_request` for a wrong address
 * and where an issuer says who people are, `not_found` for a merchant that is not the caller's.
 */
export const invitePerson = async (
  { database, publicUrl, issuer }: InvitationDeps,
  acting: PersonActing,
  { email, role, merchantId = null }: MutationpersonInviteArgs,
): Promise<PersonInvited | Refusal> => {
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
  const at = acting.now();
  const expiresAt = at.add({ hours: invitationLife_h });
  const invitedBy = acting.principal.subject;
  const invitation = { id: randomUUID(), subject, role, merchantId, invitedBy, expiresAt };
  await database.fork().transactional(async (em) => {
    // A newer invitation of a person takes the place of the one before.
    await em.nativeDelete(ConsoleLinkEntity, { ...waiting(at), subject, merchantId });
    await em.insert(ConsoleLinkEntity, { ...invitation, digest, usedAt: null });
    const action: AuditedAction = { action: 'person.invite', merchantId, id: subject };
    const states = { before: null, after: { role, expiresAt } };
    await writeEntry(await clientOf(em), acting, action, states);
  });
  return { url, invitation };
};

/** Withdraws an invitation, with an audit entry; `not_found` when it does not wait. */
export const withdrawInvitation = async (
  { database }: InvitationDeps,
  acting: PersonActing,
  id: string,
): Promise<PersonInvitation | Refusal> => {
  const none = refuse('not_found', 'there is no such invitation');
  if (!isUuid(id)) return none;
  const own = given({ merchantId: acting.principal.merchantId });
  return database.fork().transactional(async (em) => {
    const where = { ...waiting(acting.now()), id, ...own };
    const gone = await em.findOne(ConsoleLinkEntity, where, forUpdate);
    if (!gone || !isInvitation(gone)) return none;
    em.remove(gone);
    const { subject, role, merchantId } = gone;
    const action: AuditedAction = { action: 'person.invite_withdraw', merchantId, id: subject };
    await writeEntry(await clientOf(em), acting, action, { before: { role }, after: null });
    return gone;
  });
};
