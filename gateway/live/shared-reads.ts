/**
 * Re-reads events for subscribers: equal (query, variables, rights) are executed once per event and
 * shared by all who want it.
 */
import { createHash } from 'node:crypto';
import { execute, print, type ExecutionResult } from 'graphql';
import type { LiveKind, StreamedEvent } from '../../subgraphs/kernel/rules/event.ts';
import { Lru } from '../../subgraphs/kernel/service/lru.ts';
import type { Call, Principal } from '../../subgraphs/kernel/service/access/principal.ts';
import type { LiveSelection } from './selection.ts';
import { kindInGraph } from './stored-events.ts';
import type { Supergraph } from '../supergraph.ts';

/**
 * Results kept for each group of equal subscribers: the slower of them read what the fastest has
 * caused.
 */
const sharedResults_max = 64;

/**
 * Reads one event with the selection; `data.liveEvent` is null when the event is gone or not the
 * caller's.
 */
export type ReadEvent = (event: StreamedEvent) => Promise<ExecutionResult>;

export interface SharedReads {
  /**
   * Joins the subscribers with the same selection and rights. `leave` must be called when the
   * subscription ends.
   */
  join(
    selection: LiveSelection,
    call: Call,
  ): { readonly read: ReadEvent; readonly leave: () => void };
}

interface Group {
  members: number;
  readonly results: Lru<string, Promise<ExecutionResult>>;
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
        results: new Lru<string, Promise<ExecutionResult>>(sharedResults_max),
      };
      groups.set(name, group);
      group.members += 1;
      const read = selection.ofEventAlone
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

/** What of a caller decides what it may see. */
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

const typeOfKind: Readonly<Record<LiveKind, string>> = {
  'payment.created': 'PaymentCreatedEvent',
  'payment.status_changed': 'PaymentStatusChangedEvent',
  'payout.created': 'PayoutCreatedEvent',
  'payout.status_changed': 'PayoutStatusChangedEvent',
  'refund.created': 'RefundCreatedEvent',
  'subscription.status_changed': 'SubscriptionStatusChangedEvent',
};

/** What came over the bus holds every field of the event itself: nothing is asked for. */
const readFromEvent =
  (
    { apiSchema }: Pick<Supergraph, 'apiSchema'>,
    { query, idVariable, variables }: LiveSelection,
  ): ReadEvent =>
  async ({ sequence, kind, ...event }) =>
    execute({
      schema: apiSchema,
      document: query,
      rootValue: {
        liveEvent: {
          ...event,
          id: sequence,
          kind: kindInGraph[kind],
          __typename: typeOfKind[kind],
        },
      },
      variableValues: { ...variables, [idVariable]: sequence },
    });
