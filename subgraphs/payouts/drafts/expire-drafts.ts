/** Expires undecided drafts. */
import { workBatch } from '../../kernel/alerts/set-aside.ts';
import type { Timeline } from '../../kernel/clock/due.ts';
import type { Acting } from '../../kernel/database/audit.ts';
import type { Database } from '../../kernel/database/orm.ts';
import { inTransaction } from '../../kernel/database/statement.ts';
import { draftLives, moveDraft, recordDraft } from './store-draft.ts';

/** How many drafts one round takes. */
const round_max = 200;

const expireRound = (
  { pool }: Pick<Database, 'pool'>,
  timeline: Timeline,
  now: Temporal.Instant,
  limit: number,
): Promise<number> =>
  inTransaction(pool, async (client) => {
    const acting: Acting = {
      principal: { kind: 'service', name: 'expire-payout-drafts' },
      requestId: '',
      now: () => now,
    };
    const due = await draftLives.due(client, timeline, now, limit);
    for (const draft of due) {
      const after = { ...draft, status: 'expired', decidedAt: now } as const;
      await moveDraft(client, after);
      await recordDraft(client, acting, 'expire', { before: draft, after });
    }
    return due.length;
  });

/** Expires the drafts that are due on a timeline, in rounds. Returns their number. */
export const expireDrafts = async (
  database: Pick<Database, 'pool'>,
  clock: () => Temporal.Instant,
  timeline: Timeline = null,
): Promise<number> => {
  for (let seen = 0; ;) {
    const now = clock();
    const { result, limit } = await workBatch(database.pool, {
      task: draftLives.task,
      limit: round_max,
      work: (most) => expireRound(database, timeline, now, most),
      first: () => draftLives.first(database.pool, timeline, now),
    });
    seen += result;
    if (result < limit) return seen;
  }
};
