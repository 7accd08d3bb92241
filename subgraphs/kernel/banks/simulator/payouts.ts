/**
 * The simulated bank's payouts. The amount's last two digits decide; some recipients have a fixed
 * outcome, whatever the amount (docs/testing.md).
 */
import type pg from 'pg';
import { batched } from '../../database/batch-calls.ts';
import { boundWait } from '../../database/idempotency.ts';
import { run, type Statement } from '../../database/statement.ts';
import type { FailureCode } from '../../rules/failure-code.ts';
import type { PlannedOutcome } from '../../rules/buyer.ts';
import { decidesAloneAt } from '../../rules/plan.ts';
import type { Recipient } from '../../rules/recipient.ts';
import type {
  PayoutAnswer,
  PayoutBank,
  PayoutOrder,
  PayoutQuestion,
  RecipientVerdict,
} from '../payout-bank.ts';

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

// A repeated order finds the first. An order in progress at this very moment is not visible yet:
// then there is no row, and no answer.
const take: Statement = {
  name: 'simulator.take_payouts',
  text: `with sent as materialized (select * from unnest((select $2::uuid[]), (select $3::text[]), (select $4::text[]),
        (select $5::timestamptz[]), (select $6::timestamptz[])) as sent (operation_id, planned, planned_code, decided_at, ordered_at)),
    taken as (insert into simulator_operation (merchant_id, operation_id, reference, outcome, failure_code, answer_at, created_at)
      select $1::uuid, operation_id, 'sim_' || operation_id, planned, planned_code, decided_at, ordered_at from sent where ${boundWait}
      on conflict (merchant_id, operation_id) do nothing returning *)
    select operation_id as "operationId", reference, outcome, failure_code as "failureCode", answer_at as "answerAt", true as fresh from taken
    union all select operation_id, reference, outcome, failure_code, answer_at, false from simulator_operation
      where merchant_id = $1 and operation_id in (select operation_id from sent)`,
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

interface Ordered extends Taken {
  readonly operationId: string;
  /** Whether no order came before. */
  readonly fresh: boolean;
}

const takeAll = async (
  pool: pg.Pool,
  orders: readonly PayoutOrder[],
): Promise<readonly (Ordered | null)[]> => {
  const rows = await run<Ordered>(pool, take, [
    orders[0]?.merchantId,
    orders.map(({ operationId }) => operationId),
    orders.map(({ planned }) => planned?.outcome ?? 'succeeded'),
    orders.map(({ planned }) => planned?.failureCode ?? null),
    orders.map(({ planned, now }) => decidesAloneAt(planned, now)),
    orders.map(({ now }) => now),
  ]);
  const found = new Map(rows.map((row) => [row.operationId, row]));
  return orders.map(({ operationId }) => found.get(operationId) ?? null);
};

const takeGathered = batched<PayoutOrder, Ordered | null>({
  name: take.name,
  callerOf: ({ merchantId }) => merchantId,
  perCaller: true,
  run: takeAll,
});

const answerOf = (taken: Taken, now: Temporal.Instant): PayoutAnswer => {
  const { reference, outcome, failureCode, answerAt: at } = taken;
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
    const taken = await takeGathered(pool, order);
    if (!taken || (silence === 'answer_lost' && taken.fresh)) return { kind: 'unknown' };
    return answerOf(taken, order.now);
  },

  async askPayout({ merchantId, operationId, now }: PayoutQuestion): Promise<PayoutAnswer> {
    const [taken] = await run<Taken>(pool, find, [merchantId, operationId]);
    return taken ? answerOf(taken, now) : { kind: 'unseen' };
  },
});
