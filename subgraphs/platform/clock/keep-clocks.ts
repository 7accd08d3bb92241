/**
 * Lives the time of shops with test clocks: does what is due by such a clock, and advances it from
 * one moment for which something waits to the next, so that everything happens in the order and at
 * the time in which it would have happened. The sweeps of the real time leave these shops alone.
 *
 * One process keeps a clock at a time, by an advisory lock. Dying on the way loses nothing: the
 * clock stands where it was, and the next one continues.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import * as v from 'valibot';
import { EventEntity } from '../database/entities.ts';
import { awaitCommits, isSharded } from '../database/sql-file.ts';
import { emOn } from '../database/orm-connections.ts';
import { run, type Runner, type Statement } from '../database/statement.ts';
import { done, type Job, type JobOutcome, jobWithPayload, retryIn } from '../queue/run-job.ts';
import type { Due, Timeline } from './due.ts';
import { findClock, shownAt } from './test-clocks.ts';

type Shop = NonNullable<Timeline>;

/** One part of the service that lets things wait for a moment. */
export interface ClockParticipant {
  /**
   * SQL: each a `from` with its `where`, over the table `clock` of all clocks (`merchant_id`,
   * `shop_id`, and `at`, which it shows), that selects those that make something due.
   */
  readonly due: readonly string[];
  /**
   * The earliest moment after `now` for which something of the shop waits; null when nothing does.
   */
  next(shop: Shop, now: Temporal.Instant): Promise<Temporal.Instant | null>;
  /**
   * Does the work due by `now`, or begins it where it waits for an outside party; returns how much
   * that was.
   */
  work(shop: Shop, now: Temporal.Instant): Promise<number>;
  /** Whether something of the shop is still on its way from one part of the service to another. */
  isUnderWay?(shop: Shop): Promise<boolean>;
}

interface ClockDeps {
  readonly pool: pg.Pool;
  /** Sessions of PostgreSQL itself: the lock on a clock belongs to one. */
  readonly sessions: pg.Pool;
  /** The real time. */
  readonly now: () => Temporal.Instant;
  readonly participants: readonly ClockParticipant[];
  /** Adds a `keep-test-clock` job for each shop that has none. */
  readonly wake: (shops: readonly Shop[]) => Promise<void>;
  /** When it is aborted the clocks stand until the next start. */
  readonly stopping: AbortSignal;
}

/**
 * How often what is under way between processes is looked at, and after how many rounds a moment
 * that never comes to rest is a mistake.
 */
const look_ms = 10;
const rounds_max = 20_000;
/**
 * A run of the job ends after so long and is queued again, so that a year does not hold one of the
 * queue's places.
 */
const run_ms = 5_000;
/**
 * How long the run of a clock that advances waits for what is under way. What takes longer, such as
 * a receiver of webhooks that hangs, keeps this clock alone waiting: the run gives its place and
 * its connection back, and looks again later. A clock that does not advance is kept again when
 * something is due by it.
 */
const patience_ms = 1_000;
const lookAgain_ms = 250;
/**
 * So many clocks are kept by one process at the same time: fewer than the queue of the schedules
 * has places, and a pool connections.
 */
const kept_max = 5;

/** Moves a clock that advances to `$3`; `$5` is the target that it has reached, null on the way. */
const step: Statement = {
  name: 'test_clock.step',
  text: `update test_clock set clock_at = $3, set_at = $4, target_at = nullif(target_at, $5)
    where merchant_id = $1 and shop_id = $2 and target_at is not null and clock_at <= $3`,
};
/** The clocks that advance, and those that make something due: joined, however many there are. */
const withWork = (participants: readonly ClockParticipant[]): Statement => ({
  name: 'test_clock.with_work',
  text: `with clock as materialized (select merchant_id, shop_id, target_at, ${shownAt('$1')} as at from test_clock)
    select merchant_id as "merchantId", shop_id as "shopId" from clock where target_at is not null
    ${participants.flatMap(({ due }) => due.map((from) => `union select clock.merchant_id, clock.shop_id ${from}`)).join('\n    ')}`,
});

/**
 * Does all that is due at one moment, and what follows from it at the same moment. False when
 * something is still under way.
 */
const settle = async (
  { pool, participants, stopping }: ClockDeps,
  shop: Shop,
  now: Temporal.Instant,
  wait_ms: number,
): Promise<boolean> => {
  let worked_ms = performance.now();
  const isAtOnce = !(await isSharded(pool));
  let isSeen = isAtOnce;
  for (let round = 0; round < rounds_max; round += 1) {
    if (stopping.aborted) return false;
    // Looked at before the work: what arrives between them is done in the next round.
    const moreComes = await isUnderWay(pool, participants, shop);
    let worked = 0;
    for (const participant of participants) worked += await participant.work(shop, now);
    if (worked > 0) worked_ms = performance.now();
    if (worked > 0 || moreComes) isSeen = isAtOnce;
    if (worked > 0) continue;
    if (!moreComes && isSeen) return true;
    if (!moreComes) {
      // What follows may be committed and not yet seen on every machine.
      await awaitCommits(pool);
      isSeen = true;
      continue;
    }
    if (performance.now() - worked_ms >= wait_ms) return false;
    await sleep(look_ms);
  }
  throw new Error(`shop ${shop.shopId} does not come to rest at ${now.toString()}`);
};

const isUnderWay = async (
  pool: Runner,
  participants: readonly ClockParticipant[],
  shop: Shop,
): Promise<boolean> => {
  const { merchantId, shopId } = shop;
  const unrelayed = { merchantId, shopId, sequence: null };
  if (await emOn(pool).findOne(EventEntity, unrelayed, { fields: ['id'] })) return true;
  for (const participant of participants) if (await participant.isUnderWay?.(shop)) return true;
  return false;
};

/** The earliest of some moments; null when there is none. */
const earliest = (instants: readonly (Temporal.Instant | null)[]): Temporal.Instant | null =>
  instants
    .filter((instant) => instant !== null)
    .toSorted((one, other) => Temporal.Instant.compare(one, other))[0] ?? null;

/** How a participant follows a clock by the rows that wait in its tables. */
export const followRows = (
  runner: Runner,
  waiting: readonly Pick<Due<object>, 'byClock' | 'next'>[],
): Pick<ClockParticipant, 'due' | 'next'> => ({
  due: waiting.map(({ byClock }) => byClock),
  next: async (shop, now) =>
    earliest(await Promise.all(waiting.map((due) => due.next(runner, shop, now)))),
});

/** Advances one clock until nothing is left to do now; `retry` when an advance continues. */
const keep = async (deps: ClockDeps, shop: Shop): Promise<JobOutcome> => {
  const { pool, participants, stopping } = deps;
  const key = [shop.merchantId, shop.shopId];
  const until_ms = performance.now() + run_ms;
  for (;;) {
    const clock = await findClock(pool, shop, deps.now());
    if (!clock) return done;
    const { at, targetAt } = clock;
    const isAtRest = await settle(deps, shop, at, targetAt === null ? 0 : patience_ms);
    if (targetAt === null || stopping.aborted) return done;
    if (!isAtRest) return retryIn(lookAgain_ms);
    if (Temporal.Instant.compare(at, targetAt) >= 0) {
      await run(pool, step, [...key, targetAt, deps.now(), targetAt]);
      return done;
    }
    const next =
      earliest([
        targetAt,
        ...(await Promise.all(participants.map((participant) => participant.next(shop, at)))),
      ]) ?? targetAt;
    await run(pool, step, [...key, next, deps.now(), null]);
    if (performance.now() > until_ms) return retryIn(1);
  }
};

const lockClock: Statement = {
  name: 'test_clock.lock',
  text: 'select pg_try_advisory_lock(hashtextextended($1, 0)) as held',
};
const unlockClock: Statement = {
  name: 'test_clock.unlock',
  text: 'select pg_advisory_unlock(hashtextextended($1, 0))',
};

/** Keeps a clock unless another process does. */
const keepAlone = async (deps: ClockDeps, shop: Shop): Promise<JobOutcome> => {
  const client = await deps.sessions.connect();
  let broken = true;
  try {
    const name = `test-clock/${shop.merchantId}/${shop.shopId}`;
    const [lock] = await run<{ held: boolean }>(client, lockClock, [name]);
    const outcome = lock?.held ? await keep(deps, shop) : done;
    if (lock?.held) await run(client, unlockClock, [name]);
    broken = false;
    return outcome;
  } finally {
    // A session whose state is not known is closed, which gives the lock back.
    client.release(broken);
  }
};

/** The job that keeps one shop's test clock: enqueued when it is set. */
export const keepClockJob = 'keep-test-clock';

/**
 * The jobs of test clocks. The sweep finds every clock that has work by itself; the wake-up only
 * makes it prompt.
 */
export const clockJobs = (deps: ClockDeps): readonly Job[] => {
  const found = withWork(deps.participants);
  let keptNow = 0;
  return [
    jobWithPayload({
      name: keepClockJob,
      queue: 'schedules',
      payload: v.object({ merchantId: v.string(), shopId: v.string() }),
      run: async (shop) => {
        if (keptNow === kept_max) return retryIn(lookAgain_ms);
        keptNow += 1;
        try {
          return await keepAlone(deps, shop);
        } finally {
          keptNow -= 1;
        }
      },
    }),
    {
      name: 'sweep-test-clocks',
      queue: 'schedules',
      due: [`exists (${found.text})`],
      dueWhereSharded: 'exists (select 1 from test_clock)',
      run: async () => {
        await deps.wake(await run<Shop>(deps.pool, found, [deps.now()]));
        return done;
      },
    },
  ];
};
