/**
 * Re-reads events for subscribers. Equal reads (query, variables, rights) are executed once per
 * event, and their result is shared. Of one caller a few run at a time, each statement of theirs in
 * the lane, and there are so many different ones at most.
 */
import { createHash } from 'node:crypto';
import { execute, print, type ExecutionResult, type GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';
import {
  eventTypeOf,
  graphKindOf,
  type StreamedEvent,
} from '../../subgraphs/kernel/rules/event.ts';
import { laneOf } from '../../subgraphs/kernel/service/access/lane-of.ts';
import type { Call, Principal } from '../../subgraphs/kernel/service/access/principal.ts';
import { openNamedQuota } from '../callers/quota.ts';
import { codedError } from '../graphql/coded-error.ts';
import type { LiveSelection } from './selection.ts';
import type { Supergraph } from '../supergraph.ts';

/**
 * Results cached for each group of equal subscribers: the slower ones read what the fastest has
 * fetched.
 */
const sharedResults_max = 64;
/** Reads of one caller that run at a time: each new one is planned and compiled. */
const readsAtOnce_max = 4;
/** Different selections that one caller subscribes to at a time. */
const selections_max = 100;

/** Reads an event with the selection. `data.liveEvent` is null when the event is gone or not the caller's. */
export type ReadEvent = (event: StreamedEvent) => Promise<ExecutionResult>;

export interface SharedReads {
  /**
   * Joins the group with the same selection and rights. `leave` must be called when the
   * subscription ends. Gives `rate_limited` when the caller has as many different selections as it
   * may.
   */
  join(
    selection: LiveSelection,
    call: Call,
  ): { readonly read: ReadEvent; readonly leave: () => void } | GraphQLError;
}

interface Group {
  members: number;
  readonly results: LRUCache<string, Promise<ExecutionResult>>;
  /** Gives back its place among the caller's selections. */
  readonly end: () => void;
}

const tooMany = (): GraphQLError =>
  codedError(
    'rate_limited',
    `Your subscriptions may select ${selections_max} different things at a time.`,
  );

/** Runs so many at a time for each name; further ones wait, first come, first served. */
const openTurns = (atOnce: number) => {
  const turns = new Map<string, { running: number; readonly waiting: (() => void)[] }>();
  return async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
    const own = turns.get(name) ?? { running: 0, waiting: [] };
    turns.set(name, own);
    if (own.running < atOnce) own.running += 1;
    else await new Promise<void>((resolve) => own.waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The place is passed on directly, so that a newcomer cannot overtake a waiting read.
      const next = own.waiting.shift();
      if (next) next();
      else if (--own.running === 0) turns.delete(name);
    }
  };
};

/** Opens the sharing of reads. */
export const openSharedReads = (
  supergraph: Pick<Supergraph, 'apiSchema' | 'execute'>,
): SharedReads => {
  const groups = new Map<string, Group>();
  const selections = openNamedQuota(selections_max);
  const inTurn = openTurns(readsAtOnce_max);
  const begin = (name: string, owner: string | null): Group | null => {
    const end = owner === null ? () => {} : selections.take(owner);
    if (!end) return null;
    const group: Group = {
      members: 0,
      results: new LRUCache<string, Promise<ExecutionResult>>({ max: sharedResults_max }),
      end,
    };
    groups.set(name, group);
    return group;
  };
  return {
    join: (selection, call) => {
      const name = groupName(selection, call);
      // The contract's stream is not in the lane: no document of its merchant holds it up.
      const owner = call.isInLane ? laneOf(call.principal) : null;
      const group = groups.get(name) ?? begin(name, owner);
      if (!group) return tooMany();
      group.members += 1;
      const read = selection.isSelfContained
        ? readFromEvent(supergraph, selection)
        : readThroughGraph(supergraph, selection, call);
      return {
        read: (event) => {
          const known = group.results.get(event.sequence);
          if (known) return known;
          const result = owner === null ? read(event) : inTurn(owner, () => read(event));
          group.results.set(event.sequence, result);
          result.catch(() => group.results.delete(event.sequence));
          return result;
        },
        leave: () => {
          group.members -= 1;
          if (group.members > 0) return;
          groups.delete(name);
          group.end();
        },
      };
    },
  };
};

const groupName = ({ query, variables }: LiveSelection, { principal, isInLane }: Call): string =>
  createHash('sha256')
    .update(JSON.stringify([print(query), variables, rightsOf(principal), isInLane]))
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
