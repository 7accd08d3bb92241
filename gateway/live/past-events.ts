/**
 * The scope for past events. The stream itself needs none, live or resumed. Past events with the
 * objects that they concern, however, are the registries in another form, and need the registries'
 * scope.
 */
import { GraphQLError, visit, type DocumentNode } from 'graphql';
import { accessRefusal } from '../../subgraphs/platform/access/access.ts';
import type { Principal } from '../../subgraphs/platform/access/principal.ts';

/**
 * Refuses past events with their objects to a key that may not read the registries, with
 * `scope_required`; null when the caller may.
 */
export const refusePastObjects = (principal: Principal): GraphQLError | null => {
  const lack = principal.kind === 'key' ? accessRefusal('Query.payments', principal) : null;
  return lack === null
    ? null
    : new GraphQLError(`past events: ${lack}`, {
        extensions: { code: 'scope_required', http: { status: 403 } },
      });
};

/** The same check for a client's document that selects events by their ids. */
export const refusePastEvents = (
  document: DocumentNode,
  principal: Principal,
): GraphQLError | null => {
  let asks = false;
  visit(document, { Field: ({ name }) => void (asks ||= name.value === 'liveEvent') });
  return asks ? refusePastObjects(principal) : null;
};
