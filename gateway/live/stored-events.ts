/**
 * Reads events of the stream that are no longer in memory, as the gateway itself, through the
 * merchants subgraph.
 */
import { randomUUID } from 'node:crypto';
import type { LiveEventKind } from '../../schema/generated/operations.ts';
import { graphKindOf, liveKindOf, type StreamedEvent } from '../../subgraphs/rules/event.ts';
import type { LiveFilter } from './audience.ts';
import type { Supergraph } from '../supergraph.ts';

/**
 * Reads stored events behind `after` that the filter selects, oldest first, at most `first`; null
 * when `after` is not an event of the last 24 hours.
 */
export type ReadEventsAfter = (
  after: string,
  filter: LiveFilter,
  first: number,
) => Promise<readonly StreamedEvent[] | null>;

/** Reads through the operation `ReadEventsAfter`. Rejects when the subgraph is unavailable. */
export const storedEvents = (supergraph: Pick<Supergraph, 'operation'>): ReadEventsAfter => {
  const operation = supergraph.operation('ReadEventsAfter');
  return async (after, { audience, kinds }, first) => {
    const variables = {
      after,
      first,
      ...audience,
      kinds: Array.from(kinds, (kind) => graphKindOf(kind)),
    };
    const { data, errors } = await operation.run(variables, {
      principal: { kind: 'edge', name: 'gateway' },
      requestId: randomUUID(),
      isInLane: false,
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
 * The payload of each kind begins with the id of its subject (docs/contract.md#stream-payloads).
 */
const readEvent = ({ id, kind, payload, ...rest }: Stored): StreamedEvent => ({
  ...rest,
  sequence: id,
  kind: liveKindOf(kind),
  payload,
  subjectId: String(payload['id']),
});
