/**
 * Console sessions, and one-time links for installations without an issuer. Only digests are
 * stored. When a session ends, the bus topic `sessions` is published after the commit, and caches
 * drop the session.
 */
import { randomUUID } from 'node:crypto';
import { unnamedPerson } from '../../platform/access/link-person.ts';
import type { OperatorPrincipal, Role } from '../../platform/access/principal.ts';
import type { Bus } from '../../platform/bus/bus.ts';
import { writeEntry, type AuditedAction, type Acting } from '../../platform/database/audit.ts';
import { openKnownMerchants } from '../../platform/database/known-merchants.ts';
import type { Database } from '../../platform/database/orm.ts';
import {
  columns,
  inTransaction,
  run,
  type Runner,
  type Statement,
} from '../../platform/database/statement.ts';
import { isUuid } from '../../rules/ids.ts';
import type { ConsoleSession } from '../entities.ts';

export interface SessionDeps {
  readonly database: Pick<Database, 'pool'>;
  readonly bus: Bus;
}

/** The person who logs in. */
export interface Person {
  readonly subject: string;
  readonly role: Role;
  /** Null: all merchants. */
  readonly merchantId: string | null;
}

const returned = columns([
  'digest',
  'id',
  'subject',
  'role',
  'merchantId',
  'createdAt',
  'seenAt',
  'endsAt',
  'endedAt',
]);

// How long people stay logged in to the console.

/** A session ends so long after its login, however busy it was. */
const sessionLife_h = 12;
/** And so long after its last request. */
export const sessionIdle_min = 60;
/** How long a one-time link can be used. */
const linkLife_min = 10;
/** How long an invitation can be used. */
export const invitationLife_h = 72;
/** Ended sessions and links are removed so long after their end. */
export const sessionKept_days = 30;

/** A session as it is kept, as far as its end depends on it. */
interface SessionTimes {
  /** Its last request, kept to the minute. */
  readonly seenAt: Temporal.Instant;
  /** Its absolute end. */
  readonly endsAt: Temporal.Instant;
}

/** When a session ends unless it is used: the earlier of its idle and its absolute end. */
export const endOf = ({ seenAt, endsAt }: SessionTimes): Temporal.Instant => {
  const idle = seenAt.add({ minutes: sessionIdle_min });
  return idle.epochMilliseconds < endsAt.epochMilliseconds ? idle : endsAt;
};

const insertSession: Statement = {
  name: 'console_session.insert',
  text: `with gone as (delete from console_session where digest = any (array(select digest from console_session
      where ends_at < $6::timestamptz - interval '${sessionKept_days} days' order by ends_at limit 100 for update skip locked)))
    insert into console_session (digest, id, subject, role, merchant_id, created_at, seen_at, ends_at)
    values ($1, $2, $3, $4, $5, $6, $6, $7) returning ${returned}`,
};

const takeLink: Statement = {
  name: 'console_link.take',
  text: 'update console_link set used_at = $2 where digest = $1 and used_at is null and expires_at > $2 returning subject, role, merchant_id as "merchantId"',
};

const insertLink: Statement = {
  name: 'console_link.insert',
  text: `with gone as (delete from console_link where expires_at < $2::timestamptz - interval '${sessionKept_days} days')
    insert into console_link (digest, expires_at, subject, role, merchant_id) values ($1, $3, $4, $5, $6)`,
};

/** Uses up the link with this digest; returns its person, null when it is used or expired. */
const takenBy = async (client: Runner, link: string, at: Temporal.Instant) => {
  const [taken] = await run<Person | { readonly subject: null }>(client, takeLink, [link, at]);
  if (!taken) return null;
  return taken.subject === null ? unnamedPerson : taken;
};

const findSession: Statement = {
  name: 'console_session.find',
  text: `select ${returned} from console_session where digest = $1 and ended_at is null and ends_at > $2
    and seen_at > $2::timestamptz - interval '${sessionIdle_min} minutes'`,
};

const noteSeen: Statement = {
  name: 'console_session.note_seen',
  text: `update console_session set seen_at = $2 where digest = $1 and ended_at is null
    and seen_at <= $2::timestamptz - interval '1 minute' returning id`,
};

const endSession: Statement = {
  name: 'console_session.end',
  text: 'update console_session set ended_at = $2 where digest = $1 and ended_at is null returning id',
};

/**
 * Opens a session for a person named by the issuer, or by a valid one-time link with this digest,
 * which is used up. Null when the link is not valid. The login is in the audit log.
 */
const open = (
  { database }: SessionDeps,
  { requestId, now }: Acting,
  digest: string,
  by: { readonly person: Person } | { readonly link: string },
): Promise<ConsoleSession | null> =>
  inTransaction(database.pool, async (client) => {
    const at = now();
    const person = 'person' in by ? by.person : await takenBy(client, by.link, at);
    if (!person) return null;
    const { subject, role, merchantId } = person;
    const [session] = await run<ConsoleSession>(client, insertSession, [
      digest,
      randomUUID(),
      subject,
      role,
      merchantId,
      at,
      at.add({ hours: sessionLife_h }),
    ]);
    if (!session) throw new Error('a session was not written');
    const principal: OperatorPrincipal = { kind: 'operator', ...person };
    const acting = { principal, requestId, now };
    const action: AuditedAction = { action: 'console_session.open', merchantId, id: session.id };
    await writeEntry(client, acting, action, {
      before: null,
      after: { by: 'person' in by ? 'issuer' : 'link' },
    });
    return session;
  });

/** Opens a session for a person named by the issuer. */
export const openSession = async (
  deps: SessionDeps,
  acting: Acting,
  digest: string,
  person: Person,
): Promise<ConsoleSession> => {
  if (person.merchantId !== null && !isUuid(person.merchantId)) throw new Error('no merchant id');
  const session = await open(deps, acting, digest, { person });
  if (!session) throw new Error('a session without a link was refused');
  return session;
};

/** Opens a session from a one-time link; null when the link is used or expired. */
export const useLink = (
  deps: SessionDeps,
  acting: Acting,
  link: string,
  digest: string,
): Promise<ConsoleSession | null> => open(deps, acting, digest, { link });

/**
 * Creates a one-time link with this digest for a person, or for an administrator without a name.
 * Returns when it expires, and null when the person's merchant does not exist.
 */
export const makeLink = async (
  { database }: Pick<SessionDeps, 'database'>,
  digest: string,
  person: Person | null,
  now: Temporal.Instant,
): Promise<Temporal.Instant | null> => {
  const merchantId = person?.merchantId ?? null;
  if (merchantId !== null && !(await openKnownMerchants(database.pool)([merchantId]))) return null;
  const expiresAt = now.add({ minutes: linkLife_min });
  const { subject = null, role = null } = person ?? {};
  await run(database.pool, insertLink, [digest, now, expiresAt, subject, role, merchantId]);
  return expiresAt;
};

/** The session with this digest; null when there is none or it is over. */
export const findSessionBy = async (
  { database }: SessionDeps,
  digest: string,
  now: Temporal.Instant,
): Promise<ConsoleSession | null> =>
  (await run<ConsoleSession>(database.pool, findSession, [digest, now]))[0] ?? null;

/** Records that a session was used; at most one write a minute. */
export const noteSessionUse = async (
  { database }: SessionDeps,
  digest: string,
  now: Temporal.Instant,
): Promise<boolean> => (await run(database.pool, noteSeen, [digest, now])).length > 0;

/** Ends a session in every process within a second; false when it was already over. */
export const endSessionBy = async (
  { database, bus }: SessionDeps,
  digest: string,
  now: Temporal.Instant,
): Promise<boolean> => {
  const ended = await run<{ id: string }>(database.pool, endSession, [digest, now]);
  for (const { id } of ended) await bus.publish('sessions', { sessionId: id });
  return ended.length > 0;
};
