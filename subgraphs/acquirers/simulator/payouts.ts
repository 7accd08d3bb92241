/**
 * The simulated bank's payouts. The amount's last two digits decide; some recipients have a fixed
 * outcome, whatever the amount (docs/testing.md).
 */
import type pg from 'pg';
import type { FailureCode } from '../../rules/failure-code.ts';
import type { Recipient } from '../../rules/recipient.ts';
import { findOperation, takeOrder, type Found } from './operations.ts';
import type { PayoutAnswer, PayoutBank, PayoutQuestion, RecipientVerdict } from '../payout-bank.ts';

/**
 * A recipient whose order is not answered: it has arrived, and a query finds it; or it was lost on
 * the way, and the bank never saw it.
 */
type Silence = 'answer_lost' | 'order_lost';

const silences: Readonly<Record<string, Silence>> = {
  '+79000000003': 'answer_lost',
  '2200000000000053': 'answer_lost',
  '2200000000000061': 'order_lost',
};

/** Phones that the directory of SBP refuses. */
const refusedPhones: Readonly<Record<string, FailureCode>> = {
  '+79000000001': 'recipient_not_in_sbp',
  '+79000000002': 'recipient_check_failed',
};

/** An unassigned member id and an unassigned BIK: the router does not know where to go. */
const nobody = /^0+$/;

/** A card whose payout the router loses before it is accepted. */
const unroutableCard = '2200000000000079';

const isUnroutable = (recipient: Recipient): boolean => {
  switch (recipient.way) {
    case 'sbp':
      return nobody.test(recipient.bankId);
    case 'card':
      return recipient.cardNumber === unroutableCard;
    case 'account':
      return nobody.test(recipient.bik);
  }
};

const verdictOf = (recipient: Recipient): RecipientVerdict => {
  if (isUnroutable(recipient)) return { kind: 'misrouted' };
  const failureCode = recipient.way === 'sbp' ? refusedPhones[recipient.phone] : undefined;
  return failureCode ? { kind: 'declined', failureCode, reference: null } : { kind: 'acceptable' };
};

const silenceOf = (recipient: Recipient): Silence | null => {
  switch (recipient.way) {
    case 'sbp':
      return silences[recipient.phone] ?? null;
    case 'card':
      return silences[recipient.cardNumber] ?? null;
    case 'account':
      return null;
  }
};

const answerOf = (
  {
    reference,
    outcome,
    failureCode,
    answerAt: at,
  }: Pick<Found, 'reference' | 'outcome' | 'failureCode' | 'answerAt'>,
  now: Temporal.Instant,
): PayoutAnswer => {
  if (at === null || Temporal.Instant.compare(at, now) > 0)
    return { kind: 'pending', reference, askAt: at };
  return outcome === 'failed'
    ? { kind: 'declined', failureCode: failureCode ?? 'do_not_honor', reference }
    : { kind: 'approved', reference };
};

/** The payouts of the simulator on our own database. */
export const simulatorPayouts = (pool: pg.Pool): PayoutBank => ({
  payoutWays: ['sbp', 'card', 'account'],

  listSbpBanks: async () => [
    { memberId: '100000009999', name: 'Банк-симулятор', nameEn: 'Simulator Bank' },
  ],

  checkRecipient: async (recipient) => verdictOf(recipient),

  async pay(order): Promise<PayoutAnswer> {
    const verdict = verdictOf(order.recipient);
    if (verdict.kind !== 'acceptable') return verdict;
    const silence = silenceOf(order.recipient);
    if (silence === 'order_lost') return { kind: 'unknown' };
    const taken = await takeOrder(pool, order);
    if (!taken || (silence === 'answer_lost' && taken.fresh)) return { kind: 'unknown' };
    return answerOf(taken, order.now);
  },

  async askPayout(question: PayoutQuestion): Promise<PayoutAnswer> {
    const found = await findOperation(pool, question);
    return found ? answerOf(found, question.now) : { kind: 'unseen' };
  },
});
