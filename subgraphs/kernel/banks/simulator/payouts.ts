/**
 * The simulated bank's payouts. Decision D-30: the amount's last two digits decide; and some
 * recipients have a fate of their own, whatever the amount (TEST.md beside this file).
 */
import { run, type Runner, type Statement } from '../../database/statement.ts';
import type { FailureCode } from '../../rules/failure-code.ts';
import type { PlannedOutcome } from '../../rules/buyer.ts';
import { decidesAloneAt } from '../../rules/plan.ts';
import type { Recipient } from '../../rules/recipient.ts';
import type { PayoutAnswer, PayoutBank, PayoutQuestion, RecipientVerdict } from '../payout-bank.ts';

/**
 * A recipient whose order is not answered: it has arrived, and is found when the bank is asked; or
 * it was lost on the way, and the bank never saw it.
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

/** Nobody's member id, and nobody's BIK: the router does not know where to go. */
const nobody = /^0+$/;

/** A card whose payout the router loses before anything is accepted. */
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

// A repeated order finds the first. One that is being taken at this very moment is not seen yet:
// then there is no row, and no answer.
const take: Statement = {
  name: 'simulator.take_payout',
  text: `with taken as (insert into simulator_operation (merchant_id, operation_id, reference, outcome, failure_code, answer_at, created_at)
      values ($1, $2, $3, $4, $5, $6, $7) on conflict (merchant_id, operation_id) do nothing returning *)
    select reference, outcome, failure_code as "failureCode", answer_at as "answerAt", true as fresh from taken
    union all select reference, outcome, failure_code, answer_at, false from simulator_operation where merchant_id = $1 and operation_id = $2`,
};

const find: Statement = {
  name: 'simulator.find_payout',
  text: `select reference, outcome, failure_code as "failureCode", answer_at as "answerAt" from simulator_operation where merchant_id = $1 and operation_id = $2`,
};

interface Taken {
  readonly reference: string;
  readonly outcome: PlannedOutcome;
  readonly failureCode: FailureCode | null;
  readonly answerAt: Temporal.Instant | null;
}

const answerOf = (taken: Taken, now: Temporal.Instant): PayoutAnswer => {
  const { reference, outcome, failureCode, answerAt: at } = taken;
  if (at === null || Temporal.Instant.compare(at, now) > 0)
    return { kind: 'pending', reference, askAt: at };
  return outcome === 'failed'
    ? { kind: 'declined', failureCode: failureCode ?? 'do_not_honor', reference }
    : { kind: 'approved', reference };
};

/** The payouts of the simulator on our own database. */
export const simulatorPayouts = (pool: Runner): PayoutBank => ({
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
    const { merchantId, operationId, planned, now } = order;
    const plan = [planned?.outcome ?? 'succeeded', planned?.failureCode ?? null];
    const [taken] = await run<Taken & { fresh: boolean }>(pool, take, [
      merchantId,
      operationId,
      `sim_${operationId}`,
      ...plan,
      decidesAloneAt(planned, now),
      now,
    ]);
    if (!taken || (silence === 'answer_lost' && taken.fresh)) return { kind: 'unknown' };
    return answerOf(taken, now);
  },

  async askPayout({ merchantId, operationId, now }: PayoutQuestion): Promise<PayoutAnswer> {
    const [taken] = await run<Taken>(pool, find, [merchantId, operationId]);
    return taken ? answerOf(taken, now) : { kind: 'unseen' };
  },
});
