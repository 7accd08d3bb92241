/**
 * Re-reads events for subscribers. Equal reads (query, variables, rights) are executed once per
 * event, and their result is shared.
 */
import { createHash } from 'node:crypto';
import { execute, print, type ExecutionResult } from 'graphql';
import { LRUCache } from 'lru-cache';
import {
  eventTypeOf,
  graphKindOf,
  type StreamedEvent,
} from '../../subgraphs/kernel/rules/event.ts';
import type { Call, Principal } from '../../subgraphs/kernel/service/access/principal.ts';
import type { LiveSelection } from './selection.ts';
import type { Supergraph } from '../supergraph.ts';

/**
 * Results cached for each group of equal subscribers: the slower ones read what the fastest has
 * fetched.
 */
const sharedResults_max = 64;

/**
 * Reads an event with the selection. `data.liveEvent` is null when the event is gone or not the
 * caller's.
 */
export type ReadEvent = (event: StreamedEvent) => Promise<ExecutionResult>;

export interface SharedReads {
  /**
   * Joins the group with the same selection and rights. `leave` must be called when the
   * subscription ends.
   */
  join(
    selection: LiveSelection,
    call: Call,
  ): { readonly read: ReadEvent; readonly leave: () => void };
}

interface Group {
  members: number;
  readonly results: LRUCache<string, Promise<ExecutionResult>>;
}

/** Opens the sharing of reads. */
export const openSharedReads = (
  supergraph: Pick<Supergraph, 'apiSchema' | 'execute'>,
): SharedReads => {
  const groups = new Map<string, Group>();
  return {
    join: (selection, call) => {
      const name = groupName(selection, call.principal);
      const group = groups.get(name) ?? {
        members: 0,
        results: new LRUCache<string, Promise<ExecutionResult>>({ max: sharedResults_max }),
      };
      groups.set(name, group);
      group.members += 1;
      const read = selection.isSelfContained
        ? readFromEvent(supergraph, selection)
        : readThroughGraph(supergraph, selection, call);
      return {
        read: (event) => {
          const known = group.results.get(event.sequence);
          if (known) return known;
          const result = read(event);
          group.results.set(event.sequence, result);
          return result;
        },
        leave: () => {
          group.members -= 1;
          if (group.members === 0) groups.delete(name);
        },
      };
    },
  };
};

const groupName = ({ query, variables }: LiveSelection, principal: Principal): string =>
  createHash('sha256')
    .update(JSON.stringify([print(query), variables, rightsOf(principal)]))
    .digest('base64');

/** The properties of a caller that decide what it may read. */
const rightsOf = (principal: Principal): readonly unknown[] => {
  switch (principal.kind) {
    case 'key':
      return [
        'key',
        principal.merchantId,
        principal.shopId,
        principal.mode,
        principal.scopes.toSorted(),
      ];
    case 'operator':
      return ['operator', principal.role, principal.merchantId];
    case 'buyer':
      return ['buyer', principal.merchantId, principal.paymentId];
    case 'edge':
    case 'service':
      return [principal.kind, principal.name];
  }
};

const readThroughGraph =
  (
    supergraph: Pick<Supergraph, 'execute'>,
    { query, idVariable, variables }: LiveSelection,
    call: Call,
  ): ReadEvent =>
  (event) =>
    supergraph.execute(
      { document: query, variables: { ...variables, [idVariable]: event.sequence } },
      { ...call, liveEvent: event.sequence },
    );

/** The bus carries every field of the event itself, so that nothing is read. */
const readFromEvent =
  (
    supergraph: Pick<Supergraph, 'apiSchema'>,
    { query, idVariable, variables }: LiveSelection,
  ): ReadEvent =>
  async ({ sequence, kind, ...event }) =>
    execute({
      schema: supergraph.apiSchema,
      document: query,
      rootValue: {
        liveEvent: {
          ...event,
          id: sequence,
          kind: graphKindOf(kind),
          __typename: eventTypeOf(kind),
        },
      },
      variableValues: { ...variables, [idVariable]: sequence },
    });
