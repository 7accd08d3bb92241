/**
 * Handles a bank's answer to a final payout. Nothing is booked; a contradiction with the books
 * raises an alert for operators. A card payout that was given up (`recipient_data_lost`) is queried
 * for a day: its bank may still pay.
 */
import { raiseAlert } from '../kernel/alerts/raise-alert.ts';
import type { PayoutAnswer } from '../kernel/banks/payout-bank.ts';
import type { Database } from '../kernel/database/orm.ts';
import { run, type Statement } from '../kernel/database/statement.ts';
import type { Payout } from './entities.ts';
import { nextQuestionAfterLoss } from './rules/payout.ts';

/** The alert for a final answer that contradicts the payout's status; null when it does not. */
const contradiction = ({ status, failReason }: Payout, { kind }: PayoutAnswer): string | null => {
  if (status === 'failed' && kind === 'approved')
    return `The bank says that it paid this payout, which is failed (${failReason}) and was given back to the merchant.`;
  if (status !== 'succeeded' || (kind !== 'declined' && kind !== 'misrouted')) return null;
  return 'The bank says that it did not pay this payout, which is booked as paid.';
};

const reportContradiction = async (
  database: Database,
  payout: Payout,
  answer: PayoutAnswer,
  at: Temporal.Instant,
): Promise<void> => {
  const detail = contradiction(payout, answer);
  if (detail === null) return;
  const { merchantId, shopId, mode, id: subjectId } = payout;
  await raiseAlert(database.pool, {
    kind: 'bank_answer_contradicts',
    merchantId,
    shopId,
    mode,
    subjectId,
    detail,
    at,
  });
};

const askFailed: Statement = {
  name: 'payout.ask_failed',
  text: `update payout set ask_at = $4 where merchant_id = $1 and id = $2 and status = 'failed' and ask_at = $3`,
};

/** A failed payout is queried for a day, or until its bank's answer is final. */
const askLater = async (
  { pool }: Database,
  { merchantId, id, status, completedAt, askAt }: Payout,
  { kind }: PayoutAnswer,
  now: Temporal.Instant,
): Promise<void> => {
  if (status !== 'failed' || askAt === null || completedAt === null) return;
  const isOpen = kind === 'pending' || kind === 'unseen' || kind === 'unknown';
  const next = isOpen ? nextQuestionAfterLoss(completedAt, now) : null;
  await run(pool, askFailed, [merchantId, id, askAt, next]);
};

/** Records the answer: an alert where it contradicts the books, and the time of the next query. */
export const noteAnswerToFinal = async (
  database: Database,
  payout: Payout,
  answer: PayoutAnswer,
  now: Temporal.Instant,
): Promise<void> => {
  await reportContradiction(database, payout, answer, now);
  await askLater(database, payout, answer, now);
};
