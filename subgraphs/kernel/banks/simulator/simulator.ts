/**
 * The bank behind `sk_test_` keys. It keeps its own records, answers late as a bank does, and
 * repeats its answer for a repeated order. Decision D-30: the planned outcome decides. Contract
 * "Modes": no real bank is called.
 */
import type pg from 'pg';
import type { Database } from '../../database/orm.ts';
import { inTransaction, run, type Statement } from '../../database/statement.ts';
import type { Bank, Card, Question, RefundAnswer, SessionAnswer, SessionOrder } from '../bank.ts';
import type { BankAnswer, PayerTraits } from '../bank-answer.ts';
import type { BankStep, BuyerMethod } from '../../rules/buyer.ts';
import { holderOf } from '../../rules/card.ts';
import { decidesAloneAt, lateAnswer_ms, type TimedPlan } from '../../rules/plan.ts';
import type { SimulatorOperation } from '../entities.ts';
import {
  decidesAt,
  openCallbacks,
  planCallbacks,
  silentUntil,
  type Callbacks,
  type PlannedCallback,
} from './callbacks.ts';
import { simulatorConnector } from './decline.ts';
import { simulatorSaved, simulatorTokens } from './tokens.ts';
import { simulatorPayouts } from './payouts.ts';

/** How long the simulated bank takes to decide once the buyer has gone on. */
const answerDelay_ms: Record<BuyerMethod, number> = {
  cards: 1_000,
  sbp: 4_000,
  tpay: 3_000,
  sberpay: 3_000,
};

const open: Statement = {
  name: 'simulator.open',
  text: `insert into simulator_operation (merchant_id, operation_id, reference, outcome, failure_code, answer_at, card_brand, card_mask, card_holder, created_at, silent_until)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) on conflict (merchant_id, operation_id) do nothing`,
};

const found = `reference, outcome, failure_code as "failureCode", answer_at as "answerAt", card_brand as "cardBrand", card_mask as "cardMask", card_holder as "cardHolder",
      silent_until as "silentUntil"`;

const find: Statement = {
  name: 'simulator.find',
  text: `select ${found} from simulator_operation where merchant_id = $1 and operation_id = $2`,
};

// The first confirmation decides; an operation that would answer by itself answers now; one planned
// as pending never does. The row is given in any case: it is what the bank answers.
const undecided = `outcome <> 'pending' and (answer_at is null or answer_at > $3)`;
const confirm: Statement = {
  name: 'simulator.confirm',
  text: `update simulator_operation set answer_at = case when ${undecided} then $3 else answer_at end,
      outcome = case when not (${undecided}) or ($4 and outcome = 'failed') then outcome when $4 then 'succeeded' else 'failed' end,
      failure_code = case when $4 or not (${undecided}) then failure_code else 'authentication_failed' end
    where merchant_id = $1 and operation_id = $2 returning ${found}`,
};

const brands: readonly (readonly [RegExp, string])[] = [
  [/^220[0-4]/, 'Mir'],
  [/^4/, 'Visa'],
  [/^(5[1-5]|2[2-7])/, 'Mastercard'],
  [/^62/, 'UnionPay'],
];

/** What may be kept of a card: its brand, the last 4 digits and the holder. */
const cardTraits = (
  card: Card | null,
): Pick<PayerTraits, 'cardBrand' | 'cardMask' | 'cardHolder'> => {
  if (!card) return { cardBrand: null, cardMask: null, cardHolder: null };
  const digits = card.number.replaceAll(/\D/g, '');
  const brand = brands.find(([pattern]) => pattern.test(digits))?.[1] ?? null;
  return {
    cardBrand: brand,
    cardMask: `**** **** **** ${digits.slice(-4)}`,
    cardHolder: holderOf(card),
  };
};

const stepOf = (order: SessionOrder): { step: BankStep; stepUrl: string | null } => {
  switch (order.method) {
    case 'cards':
      return order.planned?.outcome === 'requires_action'
        ? { step: 'three_d_secure', stepUrl: `${order.pageUrl}/bank` }
        : { step: 'wait', stepUrl: null };
    case 'sbp':
      return { step: 'qr', stepUrl: `${order.pageUrl}/bank` };
    case 'tpay':
    case 'sberpay':
      return { step: 'redirect', stepUrl: `${order.pageUrl}/bank` };
  }
};

type Found = Pick<
  SimulatorOperation,
  | 'reference'
  | 'outcome'
  | 'failureCode'
  | 'answerAt'
  | 'cardBrand'
  | 'cardMask'
  | 'cardHolder'
  | 'silentUntil'
>;

const approved = (operation: Found, operationId: string): BankAnswer => {
  const number = BigInt(`0x${operationId.slice(0, 8)}`);
  const byPhone = operation.cardMask === null;
  return {
    kind: 'approved',
    reference: operation.reference,
    rrn: String(number).padStart(12, '0'),
    savedReference: simulatorSaved(operationId),
    traits: {
      cardBrand: operation.cardBrand,
      cardMask: operation.cardMask,
      cardHolder: operation.cardHolder,
      phoneMask: byPhone
        ? `+7 *** ***-${String(number % 100n).padStart(2, '0')}-${String((number / 100n) % 100n).padStart(2, '0')}`
        : null,
      payerBank: byPhone ? 'Simulator Bank' : null,
    },
  };
};

/**
 * When the simulated bank decides a payment by itself; null: it waits for the buyer, or never
 * answers (decision D-30).
 */
const sessionAnswerAt = (
  { outcome, late }: TimedPlan,
  { method, now }: SessionOrder,
): Temporal.Instant | null => {
  const wait_ms = answerDelay_ms[method];
  switch (outcome) {
    case 'succeeded':
    case 'failed':
      return now.add({ milliseconds: wait_ms });
    case 'pending':
      return late ? now.add({ milliseconds: wait_ms + lateAnswer_ms }) : null;
    case 'requires_action':
      return null;
  }
};

/** What the bank decided, or the contrary of it. */
const decision = (operation: Found, operationId: string, isApproved: boolean): BankAnswer => {
  if (isApproved) return approved(operation, operationId);
  const failureCode = operation.failureCode ?? 'do_not_honor';
  return { kind: 'declined', failureCode, bankCode: failureCode };
};

/** What is answered to a question about an operation. */
const answerTo = ({ operationId, now }: Question, operation: Found | undefined): BankAnswer => {
  if (!operation) return { kind: 'unseen' };
  const { silentUntil: silence, answerAt, outcome } = operation;
  if (silence && Temporal.Instant.compare(silence, now) > 0) return { kind: 'unknown' };
  if (answerAt === null) return { kind: 'pending', askAt: null };
  if (Temporal.Instant.compare(answerAt, now) > 0) return { kind: 'pending', askAt: answerAt };
  return decision(operation, operationId, outcome !== 'failed');
};

/** What a callback reports of an operation. */
const callbackAnswer = (
  operation: Found | undefined,
  { operationId, kind }: PlannedCallback,
): BankAnswer => {
  if (!operation) return { kind: 'unknown' };
  switch (kind) {
    case 'pending':
      return { kind: 'pending', askAt: null };
    case 'decision':
      return decision(operation, operationId, operation.outcome !== 'failed');
    case 'opposite':
      return decision(operation, operationId, operation.outcome === 'failed');
  }
};

const refundAnswer = (
  { reference, outcome, failureCode, answerAt }: Found,
  now: Temporal.Instant,
): RefundAnswer => {
  if (answerAt === null || Temporal.Instant.compare(answerAt, now) > 0)
    return { kind: 'pending', reference, askAt: answerAt };
  if (outcome !== 'failed') return { kind: 'approved', reference };
  const code = failureCode ?? 'refund_rejected';
  return { kind: 'declined', failureCode: code, bankCode: code };
};

export interface Simulator extends Bank {
  /**
   * It knows its own orders: the operation's id is enough. `confirms` is what a buyer does there at
   * this moment, confirm or refuse, where there is something to confirm.
   */
  ask(question: Question & { readonly confirms?: boolean }): Promise<BankAnswer>;
  /** The callbacks that it sends, as planned. */
  readonly callbacks: Callbacks;
  /** What a callback reports. */
  answerOf(callback: PlannedCallback): Promise<BankAnswer>;
}

const openSession = async (pool: pg.Pool, order: SessionOrder): Promise<SessionAnswer> => {
  const planned = order.planned ?? { outcome: 'succeeded', failureCode: null, late: false };
  const { callbacks } = order;
  const decided = decidesAt(callbacks, sessionAnswerAt(planned, order), order);
  const silence = silentUntil(callbacks, order.now);
  const reference = `sim_${order.operationId}`;
  const { cardBrand, cardMask, cardHolder } = cardTraits(order.card);
  const { merchantId, operationId, now } = order;
  const values = [
    merchantId,
    operationId,
    reference,
    planned.outcome,
    planned.failureCode,
    decided,
    cardBrand,
    cardMask,
    cardHolder,
    now,
    silence,
  ];
  if (!callbacks || !decided) await run(pool, open, values);
  else {
    // Together: a bank that is killed in between must not forget the callbacks that it was to send.
    await inTransaction(pool, async (client) => {
      await run(client, open, values);
      await planCallbacks(client, order, callbacks, decided);
    });
  }
  if (silence) return { kind: 'unknown' };
  return {
    kind: 'opened',
    reference,
    ...stepOf(order),
    traits: { cardBrand, cardMask },
    askAt: callbacks ? null : decided,
  };
};

/** The simulator on our own database. */
export const openSimulator = (database: Pick<Database, 'pool'>): Simulator => ({
  connector: simulatorConnector,
  bankName: 'Simulator',
  methods: ['sbp', 'cards', 'tpay', 'sberpay'],
  cardsOn: 'our_page',
  sessionTtl_min: 20,
  ...simulatorPayouts(database.pool),
  ...simulatorTokens(database),
  callbacks: openCallbacks(database.pool),

  async answerOf(callback): Promise<BankAnswer> {
    const [operation] = await run<Found>(database.pool, find, [
      callback.merchantId,
      callback.operationId,
    ]);
    return callbackAnswer(operation, callback);
  },

  openSession: (order) => openSession(database.pool, order),

  async ask({ confirms, ...question }): Promise<BankAnswer> {
    const { merchantId, operationId, now } = question;
    const key = [merchantId, operationId];
    const [operation] =
      confirms === undefined
        ? await run<Found>(database.pool, find, key)
        : await run<Found>(database.pool, confirm, [...key, now, confirms]);
    return answerTo(question, operation);
  },

  async refund({ merchantId, operationId, planned, now }): Promise<RefundAnswer> {
    const { outcome, failureCode } = planned ?? { outcome: 'succeeded', failureCode: null };
    const noCard = [null, null, null];
    await run(database.pool, open, [
      merchantId,
      operationId,
      `sim_${operationId}`,
      outcome,
      failureCode,
      decidesAloneAt(planned, now),
      ...noCard,
      now,
      null,
    ]);
    const [operation] = await run<Found>(database.pool, find, [merchantId, operationId]);
    return operation ? refundAnswer(operation, now) : { kind: 'unknown' };
  },
});
