/**
 * Reads the event log for the live stream: one event by its sequence number, and the events after
 * it.
 */
import { columns, run, type Runner, type Statement } from '../platform/database/statement.ts';
import type { LiveKind } from '../rules/event.ts';
import type { Mode } from '../rules/mode.ts';

export interface EventRow {
  readonly merchantId: string;
  /** Null while the event is in the outbox and not yet published. */
  readonly sequence: bigint;
  readonly shopId: string;
  readonly mode: Mode;
  readonly subjectId: string;
  readonly streamKind: LiveKind;
  readonly payload: Record<string, unknown>;
  readonly createdAt: Temporal.Instant;
}

const eventColumns = columns([
  'merchantId',
  'sequence',
  'shopId',
  'mode',
  'subjectId',
  'streamKind',
  'payload',
  'createdAt',
]);

const one: Statement = {
  name: 'event.by_sequence',
  text: `select ${eventColumns} from event where sequence = $1 and stream_kind is not null`,
};

/** The event with this sequence number; null when there is none on the stream. */
export const findEvent = async (runner: Runner, sequence: string): Promise<EventRow | null> => {
  if (!/^\d{1,18}$/.test(sequence)) return null;
  const [row] = await run<EventRow>(runner, one, [sequence]);
  return row ?? null;
};

const newest: Statement = {
  name: 'event.is_resumable',
  text: `select 1 from event where sequence = $1 and created_at >= $2`,
};

const behind: Statement = {
  name: 'event.behind',
  text: `select ${eventColumns} from event
    where sequence > $1 and stream_kind is not null and ($3::uuid is null or merchant_id = $3) and ($4::uuid is null or shop_id = $4)
      and ($5::text is null or mode = $5) and ($6::uuid is null or subject_id = $6) and ($7::text[] is null or stream_kind = any ($7))
    order by sequence limit $2`,
};

/** How far back a stream can resume. */
const resumable_h = 24;

interface EventFilter {
  readonly merchantId?: string | null | undefined;
  readonly shopId?: string | null | undefined;
  readonly mode?: Mode | null | undefined;
  readonly subjectId?: string | null | undefined;
  readonly kinds?: readonly LiveKind[] | null | undefined;
}

/**
 * Events after `after`, oldest first, at most `limit`; null when `after` is not an event of the
 * last 24 hours.
 */
export const findEventsBehind = async (
  runner: Runner,
  after: string,
  limit: number,
  filter: EventFilter,
  now: Temporal.Instant,
): Promise<EventRow[] | null> => {
  if (!/^\d{1,18}$/.test(after)) return null;
  const known = await run(runner, newest, [after, now.subtract({ hours: resumable_h })]);
  if (known.length === 0) return null;
  const { merchantId, shopId, mode, subjectId, kinds } = filter;
  return run(runner, behind, [
    after,
    limit,
    merchantId ?? null,
    shopId ?? null,
    mode ?? null,
    subjectId ?? null,
    kinds ?? null,
  ]);
};
