/**
 * Brings the next question about a payout forward to now, because its bank says that something has
 * happened.
 */
import type { Database } from '../kernel/database/orm.ts';
import { run, type Statement } from '../kernel/database/statement.ts';

// Only what the bank has accepted, and cards, which are never ordered again, so that a notification
// never makes an order. What a worker holds just now is asked about again, and so is what was
// stopped, and a card payout that was given up.
const hurry: Statement = {
  name: 'payout.hurry',
  text: `update payout set ask_at = $3 where merchant_id = $1 and id = $2 and mode = 'live' and (ask_at is null or ask_at > $3)
    and (status = 'pending' and (bank_ref is not null or method = 'payouts_card') or fail_reason = 'recipient_data_lost') returning 1`,
};

/** Whether there is something to ask. */
export const hurryPayout = async (
  { pool }: Pick<Database, 'pool'>,
  merchantId: string,
  id: string,
  now: Temporal.Instant,
): Promise<boolean> => (await run(pool, hurry, [merchantId, id, now])).length > 0;
