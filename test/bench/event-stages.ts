/**
 * Where the time between an event's commit and its arrival goes. PostgreSQL notes when an event was
 * numbered and when its delivery was leased; the attempt states when it began.
 */
import type pg from 'pg';
import { median } from './rounds.ts';

/** Unix milliseconds by event id (`evt_...`). */
export type Moments = ReadonlyMap<string, number>;

/** The stages, in milliseconds of the median event. */
export interface Stages {
  /** From the commit until the relay's statement begins: its wake-up. */
  readonly woken: number;
  /** Until the event is numbered. */
  readonly numbered: number;
  /** Until its delivery has a lease: 0 where the statement that numbers it gives the lease, too. */
  readonly leased: number;
  /** Until the attempt begins: the commit, and the answer to the worker. */
  readonly begun: number;
  /** Until the receiver has it. */
  readonly posted: number;
}

const noting = `
  create table noted_stage (event_id uuid, stage text, at timestamptz);
  create function note_numbered() returns trigger language plpgsql as $$
  begin
    insert into noted_stage values (new.id, 'woken', statement_timestamp()), (new.id, 'numbered', clock_timestamp());
    return null;
  end $$;
  create function note_leased() returns trigger language plpgsql as $$
  begin
    insert into noted_stage values (new.event_id, 'leased', clock_timestamp());
    return null;
  end $$;
  create trigger note_numbered after update of sequence on event for each row execute function note_numbered();
  create trigger note_made after insert on webhook_delivery for each row
    when (new.lease_until is not null) execute function note_leased();
  create trigger note_claimed after update of lease_until on webhook_delivery for each row
    when (new.lease_until is not null) execute function note_leased()`;

/** Has PostgreSQL note the stages from now on: some microseconds for each event. */
export const noteStages = async (pool: pg.Pool): Promise<void> => void (await pool.query(noting));

interface Noted {
  readonly id: string;
  readonly woken_ms: number;
  readonly numbered_ms: number;
  readonly leased_ms: number;
  readonly begun_ms: number;
}

const read = `
  select 'evt_' || noted.event_id as id,
    min(extract(epoch from noted.at)) filter (where stage = 'woken')::float8 * 1000 as woken_ms,
    min(extract(epoch from noted.at)) filter (where stage = 'numbered')::float8 * 1000 as numbered_ms,
    min(extract(epoch from noted.at)) filter (where stage = 'leased')::float8 * 1000 as leased_ms,
    min(extract(epoch from attempt.at))::float8 * 1000 as begun_ms
  from noted_stage as noted join webhook_delivery as delivery on delivery.event_id = noted.event_id
    join webhook_attempt as attempt on attempt.merchant_id = delivery.merchant_id and attempt.delivery_id = delivery.id
  group by noted.event_id`;

/** The stages of events that were committed and have arrived; null when none was noted. */
export const readStages = async (
  pool: pg.Pool,
  committed: Moments,
  arrived: Moments,
): Promise<Stages | null> => {
  const rows = (await pool.query<Noted>(read)).rows.filter(
    ({ id }) => committed.has(id) && arrived.has(id),
  );
  if (rows.length === 0) return null;
  const half = (of: (row: Noted) => number): number => median(rows.map(of));
  return {
    woken: half(({ id, woken_ms }) => woken_ms - (committed.get(id) ?? Number.NaN)),
    numbered: half(({ numbered_ms, woken_ms }) => numbered_ms - woken_ms),
    leased: half(({ leased_ms, numbered_ms }) => leased_ms - numbered_ms),
    begun: half(({ begun_ms, leased_ms }) => begun_ms - leased_ms),
    posted: half(({ id, begun_ms }) => (arrived.get(id) ?? Number.NaN) - begun_ms),
  };
};
