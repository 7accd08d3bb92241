/**
 * Maintains the totals by the hour: follows the numbered events, and counts their subjects. A
 * payment's own transaction writes nothing for it. The offset moves in the transaction of the
 * counting: a kill anywhere counts nothing twice. A full recount is a walk, one page between two
 * batches of events.
 */
import type pg from 'pg';
import {
  inTransaction,
  run,
  type Runner,
  type Statement,
} from '../../platform/database/statement.ts';
import { ConsumerOffsetEntity } from '../../platform/database/entities.ts';
import { emOn, forUpdate } from '../../platform/database/orm-connections.ts';
import { consumeNext, consumeRetries, type ConsumedEvent } from '../../platform/events/consume.ts';
import { sweep, type Job } from '../../platform/queue/run-job.ts';
import { TotalsWalkEntity } from '../entities.ts';
import { countFacts } from './count-facts.ts';

interface TotalsDeps {
  readonly pool: pg.Pool;
  readonly stopping: AbortSignal;
}

const consumer = 'totals';
/** Events of a batch: of thousands of changes of one payment only the last is counted. */
const batch_max_events = 2_000;
const page_rows = 1_000;
/** A run ends even while events arrive; the next one continues. */
const rounds_max = 100;

const readWaiting: Statement = {
  name: 'totals.events',
  text: `select (select sequence from consumer_offset where consumer = '${consumer}') as offset,
      event.sequence, merchant_id as "merchantId", subject_id as "subjectId"
    from event
    where event.sequence > (select sequence from consumer_offset where consumer = '${consumer}')
    order by event.sequence limit $1`,
};

/** Lets one transaction count at a time. */
const hold = (client: pg.PoolClient) =>
  emOn(client).findOneOrFail(ConsumerOffsetEntity, { consumer }, forUpdate);

const countingOn = (pool: pg.Pool) =>
  ({
    pool,
    consumer,
    task: 'count-totals',
    effectsOf: async (events: readonly ConsumedEvent[]) => async (client: pg.PoolClient) => {
      await hold(client);
      await countFacts(client, events);
    },
  }) as const;

/** Counts the next events of the log, at most so many; returns how many it passed. */
export const followEvents = async (
  pool: pg.Pool,
  max: number = batch_max_events,
): Promise<number> => {
  type Waiting = ConsumedEvent & { readonly offset: bigint };
  const events = await run<Waiting>(pool, readWaiting, [max]);
  return consumeNext(countingOn(pool), { consumer, offset: events[0]?.offset ?? 0n, events });
};

const pageOf = (name: string): Statement => ({
  name: `totals.page_${name}`,
  text: `select merchant_id as "merchantId", id as "subjectId" from ${name}
    where (merchant_id, id) > ($1::uuid, $2::uuid) order by merchant_id, id limit $3`,
});
const pages = { payment: pageOf('payment'), payout: pageOf('payout') };

const takeWalk = async (runner: Runner) => {
  const [walk] = await emOn(runner).findAll(TotalsWalkEntity, {
    orderBy: { name: 'asc' },
    limit: 1,
  });
  return walk ?? null;
};

const countPage = async (client: pg.PoolClient, rows: number): Promise<boolean> => {
  await hold(client);
  const walk = await takeWalk(client);
  if (!walk) return false;
  const { name, atMerchantId, atId } = walk;
  const values = [atMerchantId, atId, rows];
  const page = await run<{ merchantId: string; subjectId: string }>(client, pages[name], values);
  await countFacts(client, page);
  const last = page.at(-1);
  const to = last && { atMerchantId: last.merchantId, atId: last.subjectId };
  if (to) await emOn(client).nativeUpdate(TotalsWalkEntity, { name }, to);
  else await emOn(client).nativeDelete(TotalsWalkEntity, { name });
  return true;
};

/** Counts the next page of what is to be counted anew; false when there is none. */
export const walkOlder = async (pool: pg.Pool, rows: number = page_rows): Promise<boolean> =>
  (await takeWalk(pool)) !== null && inTransaction(pool, (client) => countPage(client, rows));

const due = [
  `exists (select 1 from event
    where sequence > (select sequence from consumer_offset where consumer = '${consumer}'))`,
  `exists (select 1 from consumer_retry where consumer = '${consumer}' and due_at <= $1)`,
  'exists (select 1 from totals_walk)',
];

/** The background's part of the totals. Events come first: a long walk does not delay them. */
export const totalsJobs = ({ pool, stopping }: TotalsDeps): readonly Job[] => [
  sweep('count-totals', due, async () => {
    await consumeRetries(countingOn(pool), batch_max_events);
    for (let round = 0; round < rounds_max && !stopping.aborted; round += 1) {
      const passed = await followEvents(pool);
      if (passed < batch_max_events && !(await walkOlder(pool))) break;
    }
  }),
];
