/**
 * What a bank's answer to a payout means that is final already. Nothing is booked; money that moved
 * otherwise than the books say is an alert for the operators. A card payout that was given up
 * (`recipient_data_lost`) is asked about for a day: its bank may pay after all.
 */
import { raiseAlert } from '../kernel/alerts/raise-alert.ts';
import type { PayoutAnswer } from '../kernel/banks/payout-bank.ts';
import type { Database } from '../kernel/database/orm.ts';
import { run, type Statement } from '../kernel/database/statement.ts';
import type { Payout } from './entities.ts';
import { nextQuestionAfterLoss } from './rules/payout.ts';

/**
 * What a final answer that says the opposite of what the payout already is means; null when it does
 * not.
 */
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

/** A failed payout is asked about for a day, until its bank has answered finally. */
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

/** Notes the answer: an alert where it contradicts the books, and when the bank is asked next. */
export const noteAnswerToFinal = async (
  database: Database,
  payout: Payout,
  answer: PayoutAnswer,
  now: Temporal.Instant,
): Promise<void> => {
  await reportContradiction(database, payout, answer, now);
  await askLater(database, payout, answer, now);
};
