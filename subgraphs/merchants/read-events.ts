/** The event log as the live stream tells it: one event by its sequence, and what came after one. */
import { columns, run, type Runner, type Statement } from '../kernel/database/statement.ts';
import type { StreamKind } from '../kernel/rules/event.ts';
import type { Mode } from '../kernel/rules/mode.ts';

export interface EventRow {
  readonly merchantId: string;
  /** Null while the event is in the outbox, and then nobody is told of it. */
  readonly sequence: bigint;
  readonly shopId: string;
  readonly mode: Mode;
  readonly subjectId: string;
  readonly streamKind: StreamKind;
  readonly payload: Record<string, unknown>;
  readonly createdAt: Temporal.Instant;
}

const eventColumns = columns(['merchantId', 'sequence', 'shopId', 'mode', 'subjectId', 'streamKind', 'payload', 'createdAt']);

const one: Statement = { name: 'event_by_sequence', text: `select ${eventColumns} from event where sequence = $1 and stream_kind is not null` };

/** The event with this sequence number; null when there is none on the stream. */
export const findEvent = async (runner: Runner, sequence: string): Promise<EventRow | null> => {
  if (!/^\d{1,18}$/.test(sequence)) return null;
  const [row] = await run<EventRow>(runner, one, [sequence]);
  return row ?? null;
};
