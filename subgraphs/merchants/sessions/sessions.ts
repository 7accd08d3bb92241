/**
 * Console sessions, and one-time links for installations without an issuer. Only digests are
 * stored. When a session ends, the bus topic `sessions` is published after the commit, and caches
 * drop the session.
 */
import { randomUUID } from 'node:crypto';
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { unnamedPerson, type LinkPerson } from '../../platform/access/link-person.ts';
import type { OperatorPrincipal } from '../../platform/access/principal.ts';
import type { Bus } from '../../platform/bus/bus.ts';
import { writeEntry, type AuditedAction, type Acting } from '../../platform/database/audit.ts';
import { openKnownMerchants } from '../../platform/database/known-merchants.ts';
import { clientOf, forUpdate } from '../../platform/database/orm-connections.ts';
import type { OnDatabase } from '../../platform/database/orm.ts';
import { isUuid } from '../../rules/ids.ts';
import { ConsoleLinkEntity, ConsoleSessionEntity, type ConsoleSession } from '../entities.ts';

export interface SessionDeps extends OnDatabase<'pool' | 'fork'> {
  readonly bus: Bus;
}

// How long people stay logged in to the console.

/** A session ends so long after its login, however busy it was. */
const sessionLife_h = 12;
/** And so long after its last request. */
const sessionIdle_min = 60;
/** How long a one-time link can be used. */
const linkLife_min = 10;
/** How long an invitation can be used. */
export const invitationLife_h = 72;
/** Ended sessions and links are removed so long after their end. */
export const sessionKept_days = 30;

/** When a session ends unless it is used: the earlier of its idle and its absolute end. */
export const endOf = ({
  seenAt,
  endsAt,
}: Pick<ConsoleSession, 'seenAt' | 'endsAt'>): Temporal.Instant => {
  const idle = seenAt.add({ minutes: sessionIdle_min });
  return idle.epochMilliseconds < endsAt.epochMilliseconds ? idle : endsAt;
};

/** The sessions that last at a moment. */
export const lasting = (now: Temporal.Instant) => ({
  endedAt: null,
  endsAt: { $gt: now },
  seenAt: { $gt: now.subtract({ minutes: sessionIdle_min }) },
});

const kept = (now: Temporal.Instant): Temporal.Instant =>
  now.subtract({ hours: 24 * sessionKept_days });

/** Uses up the link with this digest; returns its person, null when it is used or expired. */
const takenBy = async (em: EntityManager, digest: string, at: Temporal.Instant) => {
  const usable = { digest, usedAt: null, expiresAt: { $gt: at } };
  const link = await em.findOne(ConsoleLinkEntity, usable, forUpdate);
  if (!link) return null;
  link.usedAt = at;
  const { subject, role, merchantId } = link;
  return subject === null || role === null ? unnamedPerson : { subject, role, merchantId };
};

/** Removes sessions that ended long ago, some at a time; other logins pass those. */
const removeOld = async (em: EntityManager, at: Temporal.Instant): Promise<void> => {
  const old = await em.find(
    ConsoleSessionEntity,
    { endsAt: { $lt: kept(at) } },
    { orderBy: { endsAt: 'asc' }, limit: 100, lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE },
  );
  for (const session of old) em.remove(session);
};

/**
 * Opens a session for a person named by the issuer, or by a valid one-time link with this digest,
 * which is used up. Null when the link is used or expired. The login is in the audit log.
 */
export const openSession = (
  { database }: SessionDeps,
  { requestId, now }: Acting,
  digest: string,
  by: { readonly person: LinkPerson } | { readonly link: string },
): Promise<ConsoleSession | null> =>
  database.fork().transactional(async (em) => {
    const at = now();
    const person = 'person' in by ? by.person : await takenBy(em, by.link, at);
    if (!person) return null;
    await removeOld(em, at);
    const { subject, role, merchantId } = person;
    const session = em.create(ConsoleSessionEntity, {
      digest,
      id: randomUUID(),
      subject,
      role,
      merchantId,
      createdAt: at,
      seenAt: at,
      endsAt: at.add({ hours: sessionLife_h }),
      endedAt: null,
    });
    const principal: OperatorPrincipal = { kind: 'operator', ...person };
    const acting = { principal, requestId, now };
    const action: AuditedAction = { action: 'console_session.open', merchantId, id: session.id };
    await writeEntry(await clientOf(em), acting, action, {
      before: null,
      after: { by: 'person' in by ? 'issuer' : 'link' },
    });
    return session;
  });

/** The same for a person named by the issuer. */
export const openNamedSession = async (
  deps: SessionDeps,
  acting: Acting,
  digest: string,
  person: LinkPerson,
): Promise<ConsoleSession> => {
  if (person.merchantId !== null && !isUuid(person.merchantId)) throw new Error('no merchant id');
  const session = await openSession(deps, acting, digest, { person });
  if (!session) throw new Error('a session without a link was refused');
  return session;
};

/**
 * Creates a one-time link with this digest for a person, or for an administrator without a name.
 * Returns when it expires, and null when the person's merchant does not exist.
 */
export const makeLink = async (
  { database }: Pick<SessionDeps, 'database'>,
  digest: string,
  person: LinkPerson | null,
  now: Temporal.Instant,
): Promise<Temporal.Instant | null> => {
  const merchantId = person?.merchantId ?? null;
  if (merchantId !== null && !(await openKnownMerchants(database.pool)([merchantId]))) return null;
  const expiresAt = now.add({ minutes: linkLife_min });
  const { subject = null, role = null } = person ?? {};
  const uninvited = { id: null, invitedBy: null, usedAt: null };
  const em = database.fork();
  await em.nativeDelete(ConsoleLinkEntity, { expiresAt: { $lt: kept(now) } });
  await em.insert(ConsoleLinkEntity, {
    digest,
    expiresAt,
    subject,
    role,
    merchantId,
    ...uninvited,
  });
  return expiresAt;
};

/** The session with this digest; null when there is none or it is over. */
export const findSessionBy = (
  { database }: SessionDeps,
  digest: string,
  now: Temporal.Instant,
): Promise<ConsoleSession | null> =>
  database.fork().findOne(ConsoleSessionEntity, { digest, ...lasting(now) });

/** Records that a session was used; at most one write a minute. */
export const noteSessionUse = async (
  { database }: SessionDeps,
  digest: string,
  now: Temporal.Instant,
): Promise<boolean> => {
  const stale = { digest, endedAt: null, seenAt: { $lte: now.subtract({ minutes: 1 }) } };
  return (await database.fork().nativeUpdate(ConsoleSessionEntity, stale, { seenAt: now })) > 0;
};

/** Ends a session in every process within a second; false when it was already over. */
export const endSessionBy = async (
  { database, bus }: SessionDeps,
  digest: string,
  now: Temporal.Instant,
): Promise<boolean> => {
  const em = database.fork();
  const unended = { digest, endedAt: null };
  const session = await em.findOne(ConsoleSessionEntity, unended);
  if (!session || (await em.nativeUpdate(ConsoleSessionEntity, unended, { endedAt: now })) === 0)
    return false;
  await bus.publish('sessions', { sessionId: session.id });
  return true;
};
