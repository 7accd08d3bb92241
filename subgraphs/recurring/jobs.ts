/**
 * Background jobs of tokens and subscriptions. Payment events do most of the work
 * (consume-payments.ts); these jobs find what is due, and cases without an event.
 */
import { raw } from '@mikro-orm/core';
import type pg from 'pg';
import { isNoDeadLetter, workBatch } from '../platform/alerts/dead-letters.ts';
import { followRows, type ClockParticipant } from '../platform/clock/keep-clocks.ts';
import { ConsumerOffsetEntity, EventEntity } from '../platform/database/entities.ts';
import { emOn } from '../platform/database/orm-connections.ts';
import { inTransaction } from '../platform/database/statement.ts';
import { periodic, sweep, type Job } from '../platform/queue/run-job.ts';
import { TokenEntity, type Token } from './entities.ts';
import { tokenMove } from './rules/token.ts';
import { chargeDue, type ChargingDeps } from './subscriptions/charge-due.ts';
import { dueAsks, dueSubscriptions } from './subscriptions/store-subscription.ts';
import { lockTokens, storeTokens } from './tokens/store-token.ts';
import type { Payments } from './ask-payments.ts';

interface TokenJobs {
  readonly pool: pg.Pool;
  readonly payments: Pick<Payments, 'read'>;
  readonly now: () => Temporal.Instant;
}

/** A token without a payment at this age gets none: its creator did not repeat the call. */
const unboundAfter_min = 60;
const sweep_max = 200;

/** So many pages of pending tokens are looked at in one run. */
const pages_max = 50;

/** The task under which tokens are set aside. */
const task = 'end-unbound-tokens';

type Place = Pick<Token, 'createdAt' | 'id'>;
const beginning: Place = {
  createdAt: Temporal.Instant.fromEpochMilliseconds(0),
  id: '00000000-0000-0000-0000-000000000000',
};

/** The oldest pending tokens of an age, behind a place. */
const findPending = (
  pool: pg.Pool,
  until: Temporal.Instant,
  { createdAt, id }: Place,
  limit: number,
) =>
  emOn(pool).find(
    TokenEntity,
    {
      status: 'pending',
      createdAt: { $lte: until },
      [raw('(created_at, id) > (?::timestamptz, ?::uuid)', [String(createdAt), id])]: [],
      [isNoDeadLetter(task, null)]: [],
    },
    { fields: ['bindingPaymentId', 'createdAt'], orderBy: { createdAt: 'asc', id: 'asc' }, limit },
  );

/** Ends the pending tokens without a payment; returns their number. Events end the others. */
export const endUnboundTokens = async (parts: TokenJobs): Promise<number> => {
  const { pool, now } = parts;
  const before = now().subtract({ minutes: unboundAfter_min });
  let [ended, place] = [0, beginning];
  for (let page = 0; page < pages_max; page += 1) {
    const from = place;
    const { result, limit } = await workBatch(pool, {
      task,
      limit: sweep_max,
      work: async (some) => endPage(parts, await findPending(pool, before, from, some)),
      first: async () => {
        const [token] = await findPending(pool, before, from, 1);
        return token ? { merchantId: token.merchantId, subjectId: token.id } : null;
      },
    });
    ended += result.ended;
    if (!result.last || result.seen < limit) break;
    place = result.last;
  }
  return ended;
};

/** Looks at a page of pending tokens, and ends those that are unbound. */
const endPage = async (
  { pool, payments, now }: TokenJobs,
  tokens: readonly (Place & Pick<Token, 'merchantId' | 'bindingPaymentId'>)[],
): Promise<{ ended: number; seen: number; last: Place | null }> => {
  if (tokens.length === 0) return { ended: 0, seen: 0, last: null };
  const found = await payments.read(
    tokens.map(({ merchantId, id, bindingPaymentId }) => ({
      merchantId,
      id: bindingPaymentId ?? id,
    })),
  );
  const unbound = tokens.filter((_, index) => !found[index]);
  await inTransaction(pool, async (client) => {
    const ended = (await lockTokens(client, unbound)).flatMap((token) => {
      const status = tokenMove(token.status, 'binding_ended');
      return status ? [{ before: token, after: { ...token, status }, at: now() }] : [];
    });
    await storeTokens(client, ended);
  });
  return { ended: unbound.length, seen: tokens.length, last: tokens.at(-1) ?? null };
};

interface RecurringJobs extends ChargingDeps {
  readonly now: () => Temporal.Instant;
  /** Ends long sweeps early. */
  readonly stopping: AbortSignal;
}

/** The sweep of subscriptions finds all due work; the schedule only wakes it. */
export const recurringJobs = ({ stopping, ...parts }: RecurringJobs): readonly Job[] => [
  periodic('end-unbound-tokens', 60_000, () => endUnboundTokens(parts)),
  sweep('charge-subscriptions', [dueSubscriptions.isDue, dueAsks.isDue], () =>
    chargeDue(parts, parts.now, { stopping }),
  ),
];

export const recurringClockParticipant = (deps: ChargingDeps): ClockParticipant => ({
  ...followRows(deps.pool, [dueSubscriptions, dueAsks]),
  work: (shop, now) => chargeDue(deps, () => now, { timeline: shop }),
  isUnderWay: async (shop) => {
    const em = emOn(deps.pool);
    const consumer = 'recurring';
    const { sequence } = await em.findOneOrFail(ConsumerOffsetEntity, { consumer });
    const behind = { ...shop, consumer, sequence: { $gt: sequence } } as const;
    return (await em.findOne(EventEntity, behind, { fields: ['id'] })) !== null;
  },
});
