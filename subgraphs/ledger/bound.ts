/**
 * The bounds of a balance. A merchant's balance in one mode and currency stays between -(2^53-1)
 * and 2^53-1, in each shop and over all of them, so that every reader of JSON keeps it exact.
 * PostgreSQL itself refuses the booking that would pass a bound, under any concurrency (the trigger
 * `bound` of `balance_delta`); the booking code then decides what happens to the fact.
 */
import { largestAmount } from '../rules/money.ts';
import type { Refusal } from '../rules/refusal.ts';
import { run, type Runner, type Statement } from '../platform/database/statement.ts';
import { errorCode } from '../platform/tracing/error-code.ts';

const beyondBound = 'PSB01';

/**
 * Whether an error is PostgreSQL's refusal of a booking that would pass a bound. Nothing of the
 * booking's statement has happened then.
 */
export const isBeyondBound = (error: unknown): boolean => errorCode(error) === beyondBound;

/**
 * What a booking comes to, or `refusal` when it would pass a bound. The booking's transaction must
 * be over by then.
 */
export const withinBound = async <Booked>(
  booking: Promise<Booked>,
  refusal: Refusal,
): Promise<Booked | Refusal> => {
  try {
    return await booking;
  } catch (error) {
    if (isBeyondBound(error)) return refusal;
    throw error;
  }
};

// The folded rows alone: unfolded deltas are far too small to matter, and a read of them would wait
// for a backlog.
const owned: Statement = {
  name: 'balance.folded',
  text: `select coalesce(sum(amount), 0)::text as owned from balance where merchant_id = $1 and mode = $2 and currency = $3`,
};

/**
 * Whether a live merchant's balance has room for a payment, checked before a bank takes the buyer's
 * money: afterwards it cannot be refused.
 */
export const hasRoom = async (
  runner: Runner,
  {
    merchantId,
    currency,
    amount,
  }: { readonly merchantId: string; readonly currency: string; readonly amount: bigint },
): Promise<boolean> => {
  const [row] = await run<{ owned: string }>(runner, owned, [merchantId, 'live', currency]);
  return BigInt(row?.owned ?? 0) + amount <= largestAmount;
};
