/** The sessions of the console, for the edge alone. */
import type {
  MutationResolvers,
  QueryResolvers,
  Resolvers,
} from '../../../schema/generated/merchants.ts';
import { roles, type Role } from '../../platform/access/principal.ts';
import { personOf, type PersonActing } from '../../platform/drafts/drafts.ts';
import type { SubgraphContext } from '../../platform/graph/subgraph.ts';
import { merchantOf, asType, refusal } from '../../platform/access/access.ts';
import {
  findInvitations,
  invitePerson,
  withdrawInvitation,
  type InvitationDeps,
  endPersonSession,
  findPeople,
} from './people.ts';
import {
  endOf,
  endSessionBy,
  findSessionBy,
  makeLink,
  noteSessionUse,
  openNamedSession,
  openSession,
  type SessionDeps,
} from './sessions.ts';

export type PeopleDeps = SessionDeps & InvitationDeps;

const roleOf = (name: string): Role => {
  const role = roles.find((known) => known === name);
  if (!role) throw refusal('bad_request', `role: expected one of ${roles.join(', ')}`);
  return role;
};

export const sessionFields: Pick<Resolvers, 'ConsoleSession'> = {
  ConsoleSession: { until: endOf },
};

const actingPerson = (context: SubgraphContext): PersonActing => {
  const acting = personOf(context);
  // Refuses whose own merchant is none.
  if (acting.principal.merchantId !== null) merchantOf(acting.principal, null);
  return acting;
};

export const sessionQueries = (deps: PeopleDeps): QueryResolvers => ({
  personInvitations: (_, __, context) => findInvitations(deps, actingPerson(context)),
  personSessions: (_, __, context) => findPeople(deps, actingPerson(context)),
  consoleSession: (_, { digest }, { now }) => findSessionBy(deps, digest, now()),
});

export const sessionMutations = (deps: PeopleDeps): MutationResolvers => ({
  personInvite: async (_, input, context) =>
    asType('PersonInvited', await invitePerson(deps, actingPerson(context), input)),
  personInvitationWithdraw: async (_, { id }, context) =>
    asType('PersonInvitation', await withdrawInvitation(deps, actingPerson(context), id)),
  consoleSessionOpen: (_, { digest, subject, role, merchantId }, context) =>
    openNamedSession(deps, context, digest, {
      subject,
      role: roleOf(role),
      merchantId: merchantId ?? null,
    }),
  consoleSessionUseNote: (_, { digest }, { now }) => noteSessionUse(deps, digest, now()),
  consoleSessionEnd: (_, { digest }, { now }) => endSessionBy(deps, digest, now()),
  consoleLinkMake: (_, { digest, subject, role, merchantId }, { now }) => {
    const person = subject
      ? { subject, role: roleOf(role ?? ''), merchantId: merchantId ?? null }
      : null;
    return makeLink(deps, digest, person, now());
  },
  consoleLinkUse: (_, { link, digest }, context) => openSession(deps, context, digest, { link }),
  personSessionEnd: async (_, { id }, context) =>
    asType('PersonSession', await endPersonSession(deps, actingPerson(context), id)),
});
