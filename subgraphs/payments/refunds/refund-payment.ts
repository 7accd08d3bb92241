/**
 * Writes new refunds, and reserves their money. Refunds of one merchant that are ordered at the
 * same moment share a transaction: the payments' rows are locked, and each refund is decided from
 * what those before it have left.
 */
import type pg from 'pg';
import { reason_max_chars } from '../../../schema/limits.ts';
import type { NewTerms } from '../../acquirers/entities.ts';
import { insertTerms, termsRow, type GivenReceipt } from '../../acquirers/receipt-terms.ts';
import type { Banks } from '../../acquirers/route.ts';
import { withinBound } from '../../ledger/balance.ts';
import { writeEntries, type WrittenEntry } from '../../platform/database/audit.ts';
import { batched } from '../../platform/database/batch-calls.ts';
import { releaseUnused, tryClaims } from '../../platform/database/claim-page.ts';
import {
  createOnce,
  type Created,
  answerUnderKey,
  claimOf,
  type CallClaim,
  type IdempotencyArgument,
} from '../../platform/database/idempotency.ts';
import { MerchantEntity } from '../../platform/database/entities.ts';
import { emOn } from '../../platform/database/orm-connections.ts';
import type { Database } from '../../platform/database/orm.ts';
import {
  newRowId,
  inTransaction,
  unlessHeld,
  type Runner,
} from '../../platform/database/statement.ts';
import { rememberTrace } from '../../platform/database/subject-trace.ts';
import { isUuid } from '../../rules/ids.ts';
import type { MinorUnits } from '../../rules/money.ts';
import { refundOpened } from '../../rules/postings.ts';
import { receiptCurrencyMistake, sumMistake } from '../../rules/receipt.ts';
import {
  isRefusal,
  refuse,
  type Refusal,
  refuseMistakes,
  metadataMistakes,
  textMistake,
} from '../../rules/refusal.ts';
import { actingOf, isOfCaller, type PaymentCaller, type PersonCaller } from '../parts.ts';
import type { Refund } from '../entities.ts';
import { loadRefunds } from '../find-payments.ts';
import { lockFreePayments, lockPayment, storeLocked, type LockedPayment } from '../lock-payment.ts';
import { partReceiptMistake } from '../receipts/part-receipt.ts';
import { order_max_s } from '../rules/order.ts';
import type { PaymentChange } from '../store-payment.ts';
import { refundCreated, refundedByPeople, refundEntry, newRefund } from './record-refund.ts';
import { capturedOf, personLimit, refundAmount, supportLimit } from '../rules/amounts.ts';
import { sendRefund } from './send-refund.ts';

/** A refund that a key or a person orders. */
interface RefundOpening extends Omit<CallClaim, 'caller'> {
  readonly caller: PaymentCaller;
  readonly banks: Banks;
  readonly paymentId: string;
  /** Null or 0: the whole remainder. */
  readonly amount: bigint | null;
  readonly reason: string | null;
  readonly metadata: Record<string, string> | null;
  /** Null: what the payment's own receipt says. `written`: its terms stand under its id. */
  readonly receipt: GivenReceipt | 'written' | null;
  /** For the audit log. */
  readonly requestId: string;
}

interface Opened {
  readonly refund: Refund;
  readonly change: PaymentChange;
  readonly entry: WrittenEntry;
  /** The terms of its own receipt; empty if it has none. */
  readonly terms: readonly NewTerms[];
}

/** The payment with the amount that is to be refunded of it, or the refusal. */
export const agreedRefund = async (
  client: pg.PoolClient,
  locked: LockedPayment | null,
  { caller, amount, receipt }: Pick<RefundOpening, 'caller' | 'amount' | 'receipt'>,
): Promise<(LockedPayment & { readonly amount: MinorUnits }) | Refusal> => {
  if (!locked || !isOfCaller(locked.payment, caller))
    return refuse('not_found', 'there is no such payment');
  const { payment, refunds } = locked;
  const agreed = refundAmount(payment, refunds, amount);
  if (isRefusal(agreed)) return agreed;
  const isGiven = receipt !== null && receipt !== 'written';
  const mistake = isGiven
    ? (receiptCurrencyMistake(payment.currency) ?? sumMistake(receipt.terms, agreed.amount))
    : receipt === null &&
      agreed.amount < capturedOf(payment) &&
      (await partReceiptMistake(client, caller, payment, 'refund'));
  return mistake || { payment, refunds, ...agreed };
};

/** How much of a payment support refunds by itself, as its merchant set it. */
export const readSupportMax = async (runner: Runner, merchantId: string): Promise<bigint> => {
  const set = { fields: ['supportRefundMax'] } as const;
  const merchant = await emOn(runner).findOne(MerchantEntity, { id: merchantId }, set);
  return merchant?.supportRefundMax ?? 0n;
};

const limitOf = async (
  client: pg.PoolClient,
  { principal, merchantId }: PersonCaller,
  { payment, refunds, amount }: LockedPayment & { readonly amount: MinorUnits },
  reason: string | null,
): Promise<Refusal | null> => {
  if (principal.role === 'support') {
    const max = await readSupportMax(client, merchantId);
    const limit = supportLimit(payment, refunds, amount, max);
    if (limit) return limit;
  }
  const before = await refundedByPeople(client, payment, refunds);
  return personLimit(principal.role, before + amount, reason);
};

/** The new refund with its effect on the payment, or the refusal. */
export const decideRefund = async (
  client: pg.PoolClient,
  locked: LockedPayment | null,
  opening: Omit<RefundOpening, 'claim'>,
): Promise<Opened | Refusal> => {
  const { caller, banks, reason, metadata, receipt, requestId, resourceId: id, at } = opening;
  const agreed = await agreedRefund(client, locked, opening);
  if (isRefusal(agreed)) return agreed;
  const { payment } = agreed;
  const limit = caller.kind === 'person' && (await limitOf(client, caller, agreed, reason));
  if (limit) return limit;
  const bank = banks.bankOf(payment);
  if (isRefusal(bank)) return bank;
  const askAt = at.add({ seconds: order_max_s });
  const asked = { id, amount: agreed.amount, reason, metadata, askAt };
  const repeated = newRefund(payment, asked, at);
  const refund = receipt === null ? repeated : { ...repeated, receiptTermsId: id };
  const whose = { ...payment, subjectId: id, paymentId: payment.id, createdAt: at };
  return {
    refund,
    change: {
      patch: {},
      postings: [],
      events: () => [refundCreated(refund, at)],
      refund: { row: refund, postings: refundOpened({ amount: agreed.amount }) },
    },
    entry: refundEntry(actingOf(caller, requestId, at), payment, refund),
    terms: receipt === null || receipt === 'written' ? [] : [termsRow(receipt, whose)],
  };
};

const paymentOf = ({ caller: { merchantId }, paymentId }: RefundOpening) => ({
  merchantId,
  paymentId,
});

const openAlone = (pool: pg.Pool, opening: RefundOpening): Promise<Created<Refund> | Refusal> => {
  const { merchantId } = opening.caller;
  const find = async (id: string): Promise<Refund | null> =>
    (await loadRefunds(pool, [{ merchantId, id }]))[0] ?? null;
  return createOnce(pool, { ...opening, find }, async (client) => {
    const locked = await lockPayment(client, paymentOf(opening), opening.at);
    const opened = await decideRefund(client, locked, opening);
    if (isRefusal(opened) || !locked) return isRefusal(opened) ? opened : opened.refund;
    await storeLocked(client, locked, opened.change, opening.at);
    await insertTerms(client, opened.terms);
    await writeEntries(client, [opened.entry]);
    return opened.refund;
  });
};

type Answer = Created<Refund> | Refusal;

const openTogether = (
  pool: pg.Pool,
  openings: readonly RefundOpening[],
): Promise<readonly (Answer | 'left')[]> =>
  inTransaction(pool, async (client) => {
    const locked = await lockFreePayments(client, openings.map(paymentOf));
    const reached = openings.filter(({ paymentId }) => locked.of(paymentId));
    const mine = await tryClaims(client, reached);
    const entries: WrittenEntry[] = [];
    const terms: NewTerms[] = [];
    const unused: RefundOpening[] = [];
    const answerOf = async (opening: RefundOpening): Promise<Answer | 'left'> => {
      const payment = locked.of(opening.paymentId);
      if (!payment || !mine.has(opening.resourceId)) return 'left';
      const opened = await decideRefund(client, payment, opening);
      if (isRefusal(opened)) {
        unused.push(opening);
        return opened;
      }
      locked.change(opening.paymentId, opened.change, opening.at);
      entries.push(opened.entry);
      terms.push(...opened.terms);
      return { made: opened.refund, replayed: false };
    };
    // One after the other: each is decided from what those before it have left.
    const answers: (Answer | 'left')[] = [];
    for (const opening of openings) answers.push(await answerOf(opening));
    await releaseUnused(client, unused);
    await locked.store();
    await insertTerms(client, terms);
    await writeEntries(client, entries);
    return answers;
  });

const openGathered = batched<RefundOpening, Answer>({
  name: 'refund.open',
  callerOf: ({ caller }) => caller.merchantId,
  run: unlessHeld(openTogether),
  alone: openAlone,
});

/**
 * Makes a refund of a payment of the caller's shop, or finds the one that an earlier call with the
 * same idempotency key made. Refuses with `not_found`, `payment_not_succeeded`, `already_refunded`,
 * `amount_exceeds_remainder`, `route_not_configured`, or about the key; nothing was made then.
 * Rejects where a balance would pass its bound (`ledger/balance`).
 */
const openRefund = async (pool: pg.Pool, opening: RefundOpening): Promise<Answer> => {
  const { caller, resourceId: subjectId } = opening;
  await rememberTrace(pool, { merchantId: caller.merchantId, subjectId });
  // Earlier refunds by people are read from the audit log, which a batch writes only at its end.
  return caller.kind === 'person' ? openAlone(pool, opening) : openGathered(pool, opening);
};

// Refunds a payment (docs/contract.md#refunds). The refund is written and its money reserved before
// the bank is called. A crash in between leaves a pending refund whose order is repeated under the
// same id, so the bank refunds once.

interface RefundRequest {
  readonly paymentId: string;
  /** Null or 0: the whole remainder. */
  readonly amount: bigint | null;
  readonly reason: string | null;
  /** The caller's own pairs; absent: none. */
  readonly metadata?: Record<string, string>;
  /** The refunded items; absent: those of the payment's own receipt. */
  readonly receipt?: GivenReceipt | null;
  /** For the audit log. */
  readonly requestId?: string;
  readonly idempotency?: IdempotencyArgument;
}

/** The refusal where a balance stands at its lower bound. */
export const beyondBound = refuse(
  'insufficient_balance',
  'the refund would take the available balance below -(2^53-1)',
);

/**
 * Creates a refund of a payment of the caller's and orders it at the bank, or finds the one that
 * an earlier call with the same idempotency key created, once the bank has answered that. Gives it
 * as it is then: final when the bank decided at once, else pending. Refuses with `not_found`, `bad_request`,
 * `payment_not_succeeded`, `already_refunded`, `amount_exceeds_remainder`, `insufficient_balance`
 * (of a balance at its lower bound), `route_not_configured`, or about the key.
 */
export const refundPayment = async (
  database: Database,
  banks: Banks,
  caller: PaymentCaller,
  request: RefundRequest,
  now: Temporal.Instant,
) => {
  const { idempotency, requestId: _, receipt = null, ...input } = request;
  const named = { ...input, ...(receipt ? { receipt: receipt.terms } : {}) };
  const claim = claimOf(idempotency, 'refundCreate', named, true);
  if (isRefusal(claim)) return claim;
  if (!isUuid(request.paymentId)) return refuse('not_found', 'there is no such payment');
  const { paymentId, amount, reason, metadata = null, requestId = '' } = request;
  const wrong = refuseMistakes([
    textMistake('reason', reason, 0, reason_max_chars),
    ...metadataMistakes(metadata),
  ]);
  if (wrong) return wrong;
  const { merchantId } = caller;
  const id = newRowId();
  const claimed = { caller, claim, resourceId: id };
  const asked = { banks, paymentId, amount, reason, metadata, receipt, requestId, at: now };
  const making = openRefund(database.pool, { ...claimed, ...asked });
  const created = await withinBound(making, beyondBound);
  if (isRefusal(created)) return created;
  if (created.replayed) return { refund: created.made, replayed: true };
  const refund = await answerUnderKey(
    database.pool,
    claimed,
    async () =>
      (await sendRefund(database, banks, { merchantId, refundId: id }, now)) ?? created.made,
  );
  return { refund, replayed: false };
};
