/**
 * Reads events of the stream that are no longer in memory, as a service, through the merchants
 * subgraph.
 */
import { randomUUID } from 'node:crypto';
import type { LiveEventKind } from '../../schema/generated/operations.ts';
import { dotted } from '../../schema/wire.ts';
import {
  liveKinds,
  type LiveKind,
  type StreamedEvent,
} from '../../subgraphs/kernel/rules/event.ts';
import type { ReadEventsAfter } from './live-events.ts';
import type { Supergraph } from '../supergraph.ts';

/** The stream's kind as the graph names it: enum values hold no dot. */
export const kindInGraph: Readonly<Record<LiveKind, LiveEventKind>> = {
  'payment.created': 'payment_created',
  'payment.status_changed': 'payment_status_changed',
  'payout.created': 'payout_created',
  'payout.status_changed': 'payout_status_changed',
  'refund.created': 'refund_created',
  'subscription.status_changed': 'subscription_status_changed',
};

/** The stream's kind that the graph names so. Throws when there is none. */
export const kindOfGraph = (name: string): LiveKind => {
  const kind = liveKinds.find((known) => known === dotted(name));
  if (!kind) throw new Error(`no kind of the stream is named ${name}`);
  return kind;
};

/** Reads through the operation `ReadEventsAfter`. Rejects when it cannot be asked. */
export const storedEvents = (supergraph: Pick<Supergraph, 'operation'>): ReadEventsAfter => {
  const operation = supergraph.operation('ReadEventsAfter');
  return async (after, { audience, kinds }, first) => {
    const variables = {
      after,
      first,
      ...audience,
      kinds: Array.from(kinds, (kind) => kindInGraph[kind]),
    };
    const { data, errors } = await operation.run(variables, {
      principal: { kind: 'edge', name: 'gateway' },
      requestId: randomUUID(),
    });
    const [error] = errors ?? [];
    if (error) throw error;
    return data?.liveEventsAfter?.map(readEvent) ?? null;
  };
};

type Stored = Omit<StreamedEvent, 'sequence' | 'kind' | 'subjectId'> & {
  readonly id: string;
  readonly kind: LiveEventKind;
};

/**
 * Each kind's payload opens with the id of what it is about (contract "Realtime stream", decision
 * D-77).
 */
const readEvent = ({ id, kind, payload, ...rest }: Stored): StreamedEvent => ({
  ...rest,
  sequence: id,
  kind: kindOfGraph(kind),
  payload,
  subjectId: String(payload['id']),
});
