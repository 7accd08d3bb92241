/**
 * Following the event log by its sequence, each event once: the position moves in the transaction
 * of the effects, under the lock of its row. The relay gives numbers in their order, so that behind
 * a number that was seen no smaller one appears (`kernel/events/relay`).
 */
import type pg from 'pg';
import type { Follower } from '../rules/follower.ts';
import { inTransaction, run, type Runner, type Statement } from '../database/statement.ts';

/** An event that its follower must not miss. */
export interface FollowedEvent {
  readonly sequence: bigint;
  readonly merchantId: string;
  /** The payment, payout or refund. */
  readonly subjectId: string;
}

const readPosition: Statement = {
  name: 'follow.position',
  text: 'select sequence from follower_position where follower = $1',
};

const readEvents: Statement = {
  name: 'follow.events',
  text: `select sequence, merchant_id as "merchantId", subject_id as "subjectId" from event where follower = $1 and sequence > $2 order by sequence limit $3`,
};

const movePosition: Statement = {
  name: 'follow.move',
  text: 'update follower_position set sequence = $3 where follower = $1 and sequence = $2 returning 1',
};

/** Events that wait for a follower, and the position behind which they were found. */
export interface Waiting {
  readonly follower: Follower;
  readonly position: bigint;
  readonly events: readonly FollowedEvent[];
}

/** The next events of a follower, oldest first, at most so many. */
export const readWaiting = async (
  runner: Runner,
  follower: Follower,
  most: number,
): Promise<Waiting> => {
  const [row] = await run<{ sequence: bigint }>(runner, readPosition, [follower]);
  if (!row) throw new Error(`the follower ${follower} has no position`);
  return {
    follower,
    position: row.sequence,
    events: await run<FollowedEvent>(runner, readEvents, [follower, row.sequence, most]),
  };
};

/**
 * Carries out the effects of events and moves the position behind them, in one transaction. False
 * when somebody else has followed meanwhile: nothing has happened then.
 */
export const followWaiting = (
  pool: pg.Pool,
  { follower, position, events }: Waiting,
  effects: (client: pg.PoolClient) => Promise<void>,
): Promise<boolean> => {
  const last = events.at(-1)?.sequence ?? position;
  return inTransaction(pool, async (client) => {
    const moved = await run(client, movePosition, [follower, position, last]);
    if (moved.length === 0) return false;
    await effects(client);
    return true;
  });
};

const putAside: Statement = {
  name: 'follow.put_aside',
  text: `insert into followed_later (merchant_id, follower, sequence, subject_id, tries, due_at) values ($1, $2, $3, $4, 1, now() + interval '1 second')`,
};

/**
 * Sets an event aside whose effects failed, and moves the position behind it. False when somebody
 * else has followed meanwhile.
 */
export const setAside = (pool: pg.Pool, waiting: Waiting, event: FollowedEvent): Promise<boolean> =>
  followWaiting(pool, { ...waiting, events: [event] }, async (client) => {
    const { merchantId, sequence, subjectId } = event;
    await run(client, putAside, [merchantId, waiting.follower, sequence, subjectId]);
  });

const readAside: Statement = {
  name: 'follow.aside',
  text: `select sequence, merchant_id as "merchantId", subject_id as "subjectId" from followed_later where follower = $1 and due_at <= now() order by due_at limit $2`,
};

const endAside: Statement = {
  name: 'follow.end_aside',
  text: 'delete from followed_later where merchant_id = $1 and follower = $2 and sequence = $3 returning 1',
};

// Twice as long after each failure, up to an hour.
const delayAside: Statement = {
  name: 'follow.delay_aside',
  text: `update followed_later set tries = tries + 1, due_at = now() + least(power(2, least(tries, 12)), 3600) * interval '1 second'
    where merchant_id = $1 and follower = $2 and sequence = $3`,
};

/** Events that were set aside and are due, longest due first. */
export const readSetAside = (
  runner: Runner,
  follower: Follower,
  most: number,
): Promise<FollowedEvent[]> => run(runner, readAside, [follower, most]);

/**
 * Carries out the effects of an event that was set aside, once; when they fail again it is tried
 * later, and this rejects.
 */
export const followSetAside = async (
  pool: pg.Pool,
  follower: Follower,
  { merchantId, sequence }: FollowedEvent,
  effects: (client: pg.PoolClient) => Promise<void>,
): Promise<void> => {
  const key = [merchantId, follower, sequence];
  try {
    await inTransaction(pool, async (client) => {
      const ended = await run(client, endAside, key);
      if (ended.length > 0) await effects(client);
    });
  } catch (error) {
    await run(pool, delayAside, key);
    throw error;
  }
};
