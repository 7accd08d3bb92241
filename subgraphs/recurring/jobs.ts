/** What tokens need in the background. Their payments' events do the work (follow-payments.ts); this finds what no event will ever tell of. */
import type pg from 'pg';
import { inTransaction, run, type Statement } from '../kernel/database/statement.ts';
import { done, type Job } from '../kernel/queue/run-job.ts';
import type { Payments } from './ask-payments.ts';
import { tokenMove } from './rules/token.ts';
import { lockTokens, storeTokens } from './store-token.ts';

export interface TokenJobs {
  readonly pool: pg.Pool;
  readonly payments: Pick<Payments, 'read'>;
  readonly now: () => Temporal.Instant;
}

/** Behind this age a token without a payment will get none: its creator was cut off, and did not come back under its key. */
const unboundAfter_min = 60;
const sweepMost = 200;

const oldest: Statement = {
  name: 'token_pending_oldest',
  text: `select merchant_id as "merchantId", id, binding_payment_id as "bindingPaymentId" from token
    where status = 'pending' and created_at <= $1 order by created_at limit $2`,
};

/** Ends the oldest pending tokens for which payments has no payment; gives how many. One whose payment lives is left to its events. */
export const endUnboundTokens = async ({ pool, payments, now }: TokenJobs): Promise<number> => {
  const before = now().subtract({ minutes: unboundAfter_min });
  const tokens = await run<{ merchantId: string; id: string; bindingPaymentId: string | null }>(pool, oldest, [before, sweepMost]);
  if (tokens.length === 0) return 0;
  const found = await payments.read(tokens.map(({ merchantId, id, bindingPaymentId }) => ({ merchantId, id: bindingPaymentId ?? id })));
  const unbound = tokens.filter((_, index) => !found[index]);
  await inTransaction(pool, async (client) => {
    const ended = (await lockTokens(client, unbound)).flatMap((token) => {
      const status = tokenMove(token.status, 'binding_ended');
      return status ? [{ ...token, status }] : [];
    });
    await storeTokens(client, ended);
  });
  return unbound.length;
};

/** The jobs of tokens. */
export const tokenJobs = (parts: TokenJobs): readonly Job[] => [
  {
    name: 'end-unbound-tokens',
    queue: 'schedules',
    every_ms: 60_000,
    parse: () => null,
    run: async () => {
      await endUnboundTokens(parts);
      return done;
    },
  },
];
