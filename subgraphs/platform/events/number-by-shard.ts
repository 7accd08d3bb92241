/**
 * Numbers the events of the outbox where the tables are sharded: shard by shard, the one with the
 * oldest event first. A shard's numbers are drawn after those of the previous shard are committed,
 * so that a reader of a number never sees a smaller one appear: the rows of several machines become
 * visible one machine after another.
 */
import type pg from 'pg';
import { run, type Statement } from '../database/statement.ts';
import {
  batch_max,
  batchOf,
  inOutboxOf,
  madeLanes,
  numberedColumns,
  type Batch,
  type NumberedRow,
  type NumberEvents,
} from './number-events.ts';

/** The merchants of one shard whose events wait, and how many of these events to read. */
interface WaitingShard {
  readonly merchantIds: readonly string[];
  readonly count: number;
}

/** SQL: the merchants of the shard, which are the parameter `$1`. */
const ofShard = '= any ($1::uuid[])';

const waitingShards: Statement = {
  name: 'relay.waiting_shards',
  text: `select array_agg(distinct merchant_id) as "merchantIds", count(*)::int as count
    from (select merchant_id, position from event where ${inOutboxOf('event.merchant_id')} order by position limit $1) as oldest
    group by get_shard_id_for_distribution_column('event', merchant_id) order by min(position)`,
};

/**
 * SQL: the waiting events of the shard; every table in it names the shard, including the dead-letter
 * table.
 */
const oldestOfShard = `from event where event.merchant_id ${ofShard}
  and ${inOutboxOf(`event.merchant_id and dead_letter.merchant_id ${ofShard}`)} order by position`;

const lockShard: Statement = {
  name: 'relay.lock_shard',
  text: `select count(*)::int as count from (select 1 ${oldestOfShard} limit $2 for update) as held`,
};

const drawNumbers: Statement = {
  name: 'relay.draw_numbers',
  text: `select nextval('event_sequence_seq') as sequence from generate_series(1, $1)`,
};

// Rows are read again before they get a number: another session may have committed theirs
// meanwhile.
const numberingOf = (deliveriesOf: (events: string, ofEndpoints: string) => string): Statement => ({
  name: 'relay.number_shard',
  text: `
    with batch as materialized (
      select merchant_id, id, created_at, given.sequence
      from (select merchant_id, id, created_at, row_number() over (order by position) as place ${oldestOfShard} limit $2) as oldest
      join unnest($3::int8[]) with ordinality as given (sequence, place) on given.place = oldest.place
    ), numbered as (
      update event set sequence = batch.sequence from batch
      where event.merchant_id ${ofShard} and event.merchant_id = batch.merchant_id and event.id = batch.id
        and event.created_at = batch.created_at and event.sequence is null
      returning event.*
    ), ${deliveriesOf('numbered', `endpoint.merchant_id ${ofShard}`)}
    select ${numberedColumns}, ${madeLanes} as lanes from numbered order by sequence`,
});

const findShards = (client: pg.PoolClient, limit: number): Promise<WaitingShard[]> =>
  run<WaitingShard>(client, waitingShards, [limit]);

/**
 * Waits until no other session numbers events: the previous relay's coordinator may have been lost
 * between the two phases of a commit, which Citus ends later.
 */
export const awaitEarlierNumbers = async (client: pg.PoolClient): Promise<void> => {
  for (const { merchantIds } of await findShards(client, batch_max))
    await run(client, lockShard, [merchantIds, batch_max]);
};

/** Numbering, as `numberAtOnce` does it in one database. */
export const numberByShard = (
  client: pg.PoolClient,
  deliveriesOf: (events: string, ofEndpoints: string) => string,
): NumberEvents => {
  const numberShard = numberingOf(deliveriesOf);
  return async (limit) => {
    const batches: Omit<Batch, 'isFull'>[] = [];
    let found = 0;
    for (const { merchantIds, count } of await findShards(client, limit)) {
      found += count;
      try {
        const drawn = await run<{ sequence: bigint }>(client, drawNumbers, [count]);
        const numbers = drawn.map(({ sequence }) => sequence);
        const rows = await run<NumberedRow>(client, numberShard, [merchantIds, count, numbers]);
        const last = rows.at(-1)?.sequence;
        if (last !== undefined) batches.push(batchOf(rows, last));
      } catch (error) {
        // What is numbered is announced; the next batch begins with what failed.
        if (batches.length === 0) throw error;
        break;
      }
    }
    const last = batches.at(-1)?.last;
    return last === undefined
      ? null
      : {
          isFull: found === limit,
          last,
          lanes: batches.flatMap(({ lanes }) => lanes),
          consumers: batches.flatMap(({ consumers }) => consumers),
          events: batches.flatMap(({ events }) => events),
        };
  };
};
