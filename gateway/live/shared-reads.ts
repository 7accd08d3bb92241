/**
 * Re-reads events for subscribers. Equal reads (query, variables, rights) are executed once per
 * event, and their result is shared. Who reads first pays (decision A-331).
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
import { tokensOfObjects } from '../graphql/document-cost.ts';
import type { Supergraph } from '../supergraph.ts';

/**
 * Results cached for each group of equal subscribers: the slower ones read what the fastest has
 * fetched.
 */
const sharedResults_max = 64;

/**
 * Reads an event with the selection. `data.liveEvent` is null when the event is gone or not the
 * caller's. Null when the caller has not the tokens for it.
 */
export type ReadEvent = (event: StreamedEvent) => Promise<ExecutionResult | null>;

/** How a subscriber pays for what is read for it. */
export interface EventPayment {
  /** The estimate of one read. */
  readonly tokens: number;
  /** Takes tokens; false when there are not enough. */
  readonly take: (tokens: number) => Promise<boolean>;
}

export interface SharedReads {
  /**
   * Joins the group with the same selection and rights. `leave` must be called when the
   * subscription ends.
   */
  join(
    selection: LiveSelection,
    call: Call,
    payment: EventPayment,
  ): { readonly read: ReadEvent; readonly leave: () => void };
}

interface Group {
  members: number;
  /** What a read costs: the estimate or, when it was larger, what a read has answered with. */
  tokens: number;
  readonly results: LRUCache<string, Promise<ExecutionResult | null>>;
}

/** Executes a read. */
type Execute = (event: StreamedEvent) => Promise<ExecutionResult>;

/** How many objects an answer has. */
const objectsIn = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0;
  const own = Array.isArray(value) ? 0 : 1;
  return Object.values(value).reduce<number>((sum, inner) => sum + objectsIn(inner), own);
};

/** Reads when it is paid for. What an answer has is what the next one costs. */
const readPaid = async (
  group: Group,
  execution: Execute,
  event: StreamedEvent,
  take: EventPayment['take'],
): Promise<ExecutionResult | null> => {
  if (!(await take(group.tokens))) return null;
  const result = await execution(event);
  group.tokens = Math.max(group.tokens, tokensOfObjects(objectsIn(result.data)));
  return result;
};

/** The result of a group's read, or null when nobody who asked for it could pay. */
const readOnce = async (
  { results }: Group,
  sequence: string,
  read: () => Promise<ExecutionResult | null>,
): Promise<ExecutionResult | null> => {
  for (let known = results.get(sequence); known; known = results.get(sequence)) {
    const result = await known;
    if (result) return result;
    // Another person with the same rights may have tokens of their own.
    if (results.get(sequence) === known) results.delete(sequence);
  }
  const result = read();
  results.set(sequence, result);
  return result;
};

/** Opens the sharing of reads. */
export const openSharedReads = (
  supergraph: Pick<Supergraph, 'apiSchema' | 'execute'>,
): SharedReads => {
  const groups = new Map<string, Group>();
  return {
    join: (selection, call, { tokens, take }) => {
      const name = groupName(selection, call.principal);
      const group = groups.get(name) ?? {
        members: 0,
        tokens,
        results: new LRUCache<string, Promise<ExecutionResult | null>>({ max: sharedResults_max }),
      };
      groups.set(name, group);
      group.members += 1;
      const throughGraph = readThroughGraph(supergraph, selection, call);
      const read: ReadEvent = selection.isSelfContained
        ? readFromEvent(supergraph, selection)
        : (event) => readPaid(group, throughGraph, event, take);
      return {
        read: (event) => readOnce(group, event.sequence, () => read(event)),
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
  ): Execute =>
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
  ): Execute =>
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
