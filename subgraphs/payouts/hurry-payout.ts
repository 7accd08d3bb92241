/** Moves a payout's next bank query to now, after a notification from its bank. */
import type { Database } from '../kernel/database/orm.ts';
import { run, type Statement } from '../kernel/database/statement.ts';

// Only payouts that the bank has accepted, and cards, which are never ordered again: a notification
// never causes an order. Leased payouts are queried again, and so are stopped ones and card payouts
// that were given up.
const hurry: Statement = {
  name: 'payout.hurry',
  text: `update payout set ask_at = $3 where merchant_id = $1 and id = $2 and mode = 'live' and (ask_at is null or ask_at > $3)
    and (status = 'pending' and (bank_ref is not null or method = 'payouts_card') or fail_reason = 'recipient_data_lost') returning 1`,
};

/** Whether there is something to query. */
export const hurryPayout = async (
  { pool }: Pick<Database, 'pool'>,
  merchantId: string,
  id: string,
  now: Temporal.Instant,
): Promise<boolean> => (await run(pool, hurry, [merchantId, id, now])).length > 0;
