/** Expires undecided drafts. */
import { workBatch } from '../alerts/dead-letters.ts';
import type { Timeline } from '../clock/due.ts';
import type { Acting } from '../database/audit.ts';
import type { Database } from '../database/orm.ts';
import { inTransaction } from '../database/statement.ts';
import type { Draft, DraftStore } from './store-drafts.ts';

/** How many drafts one round takes. */
const round_max = 200;

const expireRound = <Row extends Draft>(
  store: DraftStore<Row>,
  { pool }: Pick<Database, 'pool'>,
  timeline: Timeline,
  now: Temporal.Instant,
  limit: number,
): Promise<number> =>
  inTransaction(pool, async (client) => {
    const acting: Acting = {
      principal: { kind: 'service', name: `expire-${store.name.replace('_', '-')}s` },
      requestId: '',
      now: () => now,
    };
    const due = await store.lives.due(client, timeline, now, limit);
    for (const draft of due) {
      const after = { ...draft, status: 'expired', decidedAt: now } as const;
      await store.move(client, after);
      await store.record(client, acting, 'expire', { before: draft, after });
    }
    return due.length;
  });

/** Expires the drafts that are due on a timeline, in rounds. Returns their number. */
export const expireDrafts = async <Row extends Draft>(
  store: DraftStore<Row>,
  database: Pick<Database, 'pool'>,
  clock: () => Temporal.Instant,
  timeline: Timeline = null,
): Promise<number> => {
  for (let seen = 0; ;) {
    const now = clock();
    const { result, limit } = await workBatch(database.pool, {
      task: store.lives.task,
      limit: round_max,
      work: (most) => expireRound(store, database, timeline, now, most),
      first: () => store.lives.first(database.pool, timeline, now),
    });
    seen += result;
    if (result < limit) return seen;
  }
};
