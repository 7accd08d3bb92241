/**
 * The bank behind `sk_test_` keys (docs/contract.md#test-mode). It has its own records, answers
 * late as a bank does, and repeats its answer for a repeated order. The planned outcome decides.
 */
import type pg from 'pg';
import { createHash } from 'node:crypto';
import type { Database } from '../../platform/database/orm.ts';
import { inTransaction } from '../../platform/database/statement.ts';
import { buyerSteps } from '../bank.ts';
import type {
  Bank,
  Card,
  Question,
  SessionAnswer,
  SessionOrder,
  RefundAnswer,
  RefundOrder,
  Accepted,
  BankAnswer,
  PayerTraits,
  ReceiptAnswer,
  ReceiptOrder,
  ChargeAnswer,
  ChargeOrder,
} from '../bank.ts';
import type { SimulatorOperation } from '../entities.ts';
import {
  type BuyerMethod,
  lateAnswer_ms,
  type TimedPlan,
  decidesAloneAt,
} from '../../rules/banks.ts';
import type { FailureCode } from '../../rules/failure-code.ts';
import { brandOf, holderOf } from '../../rules/card.ts';
import { decidesAt, planCallbacks, silentUntil, type PlannedCallback } from './callbacks.ts';
import {
  simulatorConnector,
  confirmOperation,
  findOperation,
  insertOperation,
  openOperation,
  type Found,
  takeOrder,
  simulatorPayouts,
} from './operations.ts';
import { heldUntil, simulatorHolds } from './holds.ts';
import { receiptDelay_ms } from '../../rules/receipt.ts';
import { batched } from '../../platform/database/batch-calls.ts';
import { runRows, sqlFile } from '../../platform/database/sql-file.ts';
import { rfc3339 } from '../../../schema/scalars.ts';

/*
 * Saved methods. A method is its binding's own operation: it can be charged once that has succeeded.
 * The amount of a charge decides its outcome; no buyer is present, so a charge that requires an
 * action stays pending.
 */

const prefix = 'sim_saved_';

/** The simulated bank's reference of the method that an operation was paid with. */
const simulatorSaved = (operationId: string): string => `${prefix}${operationId}`;

type Ordered = Omit<Found, 'silentUntil' | 'holds'>;

const declinedAs = (failureCode: FailureCode) =>
  ({ kind: 'declined', failureCode, bankCode: failureCode }) as const;

/** A retrieval reference number that follows from the operation. */
const rrnOf = (operationId: string): string =>
  String(BigInt(`0x${operationId.slice(-8)}`)).padStart(12, '0');

const chargeMethods = sqlFile(import.meta.dirname, 'charge-methods.sql');
const answered = (
  { cardBrand, cardMask, cardHolder, ...ordered }: Ordered,
  { operationId, now }: ChargeOrder,
): ChargeAnswer => {
  if (ordered.answerAt === null || Temporal.Instant.compare(ordered.answerAt, now) > 0)
    return { kind: 'pending', askAt: ordered.answerAt };
  if (ordered.outcome === 'failed') return declinedAs(ordered.failureCode ?? 'do_not_honor');
  return {
    kind: 'approved',
    reference: ordered.reference,
    rrn: rrnOf(operationId),
    traits: { cardBrand, cardMask, cardHolder, phoneMask: null, payerBank: null },
  };
};

const sentRow = ({ merchantId, operationId, savedReference, planned, now }: ChargeOrder) => {
  const decidedAt = decidesAloneAt(planned, now);
  return {
    merchant_id: merchantId,
    operation_id: operationId,
    bound_id: savedReference.startsWith(prefix) ? savedReference.slice(prefix.length) : null,
    planned: planned?.outcome ?? 'succeeded',
    planned_code: planned?.failureCode ?? null,
    decided_at: decidedAt && rfc3339(decidedAt),
    ordered_at: rfc3339(now),
  };
};

/** Writes orders, those of one moment in one statement; null for one that is not new. */
const orderGathered = batched<ChargeOrder, Ordered | null>({
  name: chargeMethods.name,
  callerOf: ({ merchantId }) => merchantId,
  run: async (pool, charges) => {
    const merchantId = charges[0]?.merchantId ?? '';
    const rows = charges.map(sentRow);
    type Row = Ordered & { readonly operationId: string };
    const taken = await runRows<Row>(pool, chargeMethods, merchantId, rows, charges.length === 1);
    const found = new Map(taken.map((ordered) => [ordered.operationId, ordered]));
    return charges.map(({ operationId }) => found.get(operationId) ?? null);
  },
});

const chargeMethod = async (pool: pg.Pool, charge: ChargeOrder): Promise<ChargeAnswer> => {
  const ordered = (await orderGathered(pool, charge)) ?? (await findOperation(pool, charge));
  return ordered ? answered(ordered, charge) : declinedAs('authorization_revoked');
};

/* The simulated bank's refunds. The amount's last two digits decide. */

const refund = async (pool: pg.Pool, order: RefundOrder): Promise<RefundAnswer> => {
  const operation = await takeOrder(pool, order);
  if (!operation) return { kind: 'unknown' };
  const { reference, outcome, failureCode, answerAt } = operation;
  if (answerAt === null || Temporal.Instant.compare(answerAt, order.now) > 0)
    return { kind: 'pending', reference, askAt: answerAt };
  if (outcome !== 'failed') return { kind: 'approved', reference };
  return declinedAs(failureCode ?? 'refund_rejected');
};

/*
 * The simulated bank's cash register. A receipt is registered two seconds after it was made, with
 * made-up numbers, unless the payment's hint plans otherwise. A failed one is registered when it is
 * sent again. The register has no record: everything is in the order.
 */

/** So many digits that follow from the order; the first is 9, so that none is a card's number. */
const fiscalDigits = (
  { receiptId, attempt }: ReceiptOrder,
  what: string,
  length: number,
): string => {
  const hash = createHash('sha256').update(`${what} ${receiptId} ${attempt}`).digest('hex');
  return `9${(BigInt(`0x${hash}`) % 10n ** BigInt(length - 1)).toString().padStart(length - 1, '0')}`;
};

const register = (order: ReceiptOrder): ReceiptAnswer => {
  const { attempt, planned, createdAt, now } = order;
  const isAgain = attempt > 0;
  if (planned === 'pending') return { kind: 'pending', askAt: null };
  const registeredAt = isAgain ? now : createdAt.add({ milliseconds: receiptDelay_ms });
  if (Temporal.Instant.compare(registeredAt, now) > 0)
    return { kind: 'pending', askAt: registeredAt };
  if (planned === 'failed' && !isAgain)
    return { kind: 'failed', reason: 'The simulated cash register refused the receipt' };
  return {
    kind: 'registered',
    fiscalStorageNumber: fiscalDigits(order, 'storage', 16),
    fiscalDocumentNumber: fiscalDigits(order, 'document', 6),
    fiscalAttribute: fiscalDigits(order, 'attribute', 10),
    registeredAt,
  };
};

/* Test cards for the states of a saved method (docs/testing.md). */

const declinesToBeSaved = '2200000000000012';
const refusesFirstCharge = '2200000000000020';

/** The digits of a card that is to be saved; null when none is. */
const savedCard = ({ save, card }: SessionOrder): string | null =>
  save && card ? card.number.replaceAll(/\D/g, '') : null;

/** What was planned, but for a card that declines to be saved. */
const planOfSaving = (order: SessionOrder, planned: TimedPlan): TimedPlan =>
  savedCard(order) === declinesToBeSaved
    ? { outcome: 'failed', failureCode: 'do_not_honor', late: false }
    : planned;

/** `firstCharge` of a new operation: null except for a card that refuses its first charge. */
const firstChargeOf = (order: SessionOrder): string | null =>
  savedCard(order) === refusesFirstCharge ? order.operationId : null;

/** How long the simulated bank takes to decide once the buyer has continued. */
const answerDelay_ms: Record<BuyerMethod, number> = {
  cards: 1_000,
  sbp: 4_000,
  tpay: 3_000,
  sberpay: 3_000,
};

/** The part of a card that may be stored: its brand, the last 4 digits and the holder. */
const cardTraits = (
  card: Card | null,
): Pick<PayerTraits, 'cardBrand' | 'cardMask' | 'cardHolder'> => {
  if (!card) return { cardBrand: null, cardMask: null, cardHolder: null };
  const digits = card.number.replaceAll(/\D/g, '');
  return {
    cardBrand: brandOf(digits),
    cardMask: `**** **** **** ${digits.slice(-4)}`,
    cardHolder: holderOf(card),
  };
};

/** A card is confirmed only where its plan demands it. */
const stepOf = ({ method, pageUrl }: SessionOrder, { outcome }: TimedPlan) =>
  method === 'cards' && outcome !== 'requires_action'
    ? ({ step: 'wait', stepUrl: null } as const)
    : { step: buyerSteps[method], stepUrl: `${pageUrl}/bank` };

const accepted = (operation: Found, operationId: string): Accepted => {
  const number = BigInt(`0x${operationId.slice(-8)}`);
  const byPhone = operation.cardMask === null;
  return {
    reference: operation.reference,
    rrn: rrnOf(operationId),
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

/** When the bank decides a payment by itself; null: it waits for the buyer, or never answers. */
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

/** The bank's decision, or its opposite. */
const decision = (operation: Found, operationId: string, isApproved: boolean): BankAnswer => {
  const { holds, answerAt } = operation;
  if (isApproved && holds && answerAt)
    return {
      kind: 'authorized',
      captureBefore: heldUntil(answerAt),
      ...accepted(operation, operationId),
    };
  if (isApproved) return { kind: 'approved', ...accepted(operation, operationId) };
  return declinedAs(operation.failureCode ?? 'do_not_honor');
};

const answerTo = ({ operationId, now }: Question, operation: Found | null): BankAnswer => {
  if (!operation) return { kind: 'unseen' };
  const { silentUntil: silence, answerAt, outcome } = operation;
  if (silence && Temporal.Instant.compare(silence, now) > 0) return { kind: 'unknown' };
  if (answerAt === null) return { kind: 'pending', askAt: null };
  if (Temporal.Instant.compare(answerAt, now) > 0) return { kind: 'pending', askAt: answerAt };
  return decision(operation, operationId, outcome !== 'failed');
};

const callbackAnswer = (
  operation: Found | null,
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

export interface Simulator extends Bank {
  /**
   * It knows its own orders: the operation's id is enough. `confirms` is the buyer's action there
   * at this moment, confirm or refuse, where there is something to confirm.
   */
  ask(question: Question & { readonly confirms?: boolean }): Promise<BankAnswer>;
  /** What a callback reports. */
  answerOf(callback: PlannedCallback): Promise<BankAnswer>;
}

const openSession = async (pool: pg.Pool, order: SessionOrder): Promise<SessionAnswer> => {
  const asPlanned = order.planned ?? { outcome: 'succeeded', failureCode: null, late: false };
  const planned = planOfSaving(order, asPlanned);
  const { callbacks } = order;
  const decided = decidesAt(callbacks, sessionAnswerAt(planned, order), order);
  const silence = silentUntil(callbacks, order.now);
  const { merchantId, operationId, now } = order;
  const operation: SimulatorOperation = {
    merchantId,
    operationId,
    reference: `sim_${operationId}`,
    outcome: planned.outcome,
    failureCode: planned.failureCode,
    answerAt: decided,
    ...cardTraits(order.card),
    createdAt: now,
    silentUntil: silence,
    holds: order.holds ?? null,
    firstCharge: firstChargeOf(order),
  };
  if (!callbacks || !decided) await openOperation(pool, operation);
  else {
    // Together: a bank killed in between must not lose the callbacks that it was to send.
    await inTransaction(pool, async (client) => {
      await insertOperation(client, operation);
      await planCallbacks(client, order, callbacks, decided);
    });
  }
  if (silence) return { kind: 'unknown' };
  const { reference, cardBrand, cardMask } = operation;
  return {
    kind: 'opened',
    reference,
    ...stepOf(order, planned),
    traits: { cardBrand, cardMask },
    askAt: callbacks ? null : decided,
  };
};

export const openSimulator = (database: Pick<Database, 'pool'>): Simulator => ({
  connector: simulatorConnector,
  bankName: 'Simulator',
  methods: ['sbp', 'cards', 'tpay', 'sberpay'],
  currencies: null,
  cardsOn: 'our_page',
  sessionTtl_min: 20,
  ...simulatorPayouts(database.pool),
  savable: ['cards', 'sbp', 'tpay'],
  charge: (order) => chargeMethod(database.pool, order),
  refund: (order) => refund(database.pool, order),
  ...simulatorHolds(database.pool),
  receipt: async (order) => register(order),

  async answerOf(callback): Promise<BankAnswer> {
    return callbackAnswer(await findOperation(database.pool, callback), callback);
  },

  openSession: (order) => openSession(database.pool, order),

  async ask({ confirms, ...question }): Promise<BankAnswer> {
    const operation =
      confirms === undefined
        ? await findOperation(database.pool, question)
        : await confirmOperation(database.pool, { ...question, confirms });
    return answerTo(question, operation);
  },
});
