/**
 * Gives an order to a payout's bank, and to the next bank of the shop's routes only when that one
 * surely did not accept it. Which bank may have a payout is on its row before the bank is called,
 * so that a crash asks the same one; only whoever gives the first order of all may pass it on,
 * because a later one can be refused a connection while an earlier one has arrived.
 */
import type { Bank } from '../kernel/banks/bank.ts';
import type { PayoutAnswer, PayoutOrderAnswer } from '../kernel/banks/payout-bank.ts';
import type { Banks } from '../kernel/banks/route.ts';
import type { Database } from '../kernel/database/orm.ts';
import { columns, run, type Statement } from '../kernel/database/statement.ts';
import { minorUnits } from '../kernel/rules/money.ts';
import { timedPlanOfAmount } from '../kernel/rules/plan.ts';
import type { Recipient } from '../kernel/rules/recipient.ts';
import { isRefused } from '../kernel/rules/refusal.ts';
import type { Logger } from '../kernel/service/tracing/telemetry.ts';
import { callForPayout } from './call-bank.ts';
import type { Payout } from './entities.ts';
import { payoutNames } from './find-payouts.ts';
import { lease_s, lostCard_s, nextTry, unseenFor_h, wayOf } from './rules/payout.ts';

export interface OrderingParts {
  readonly database: Database;
  readonly banks: Banks;
  readonly log: Logger;
}

export interface Order {
  readonly payout: Payout;
  readonly recipient: Recipient;
  /** Whether no bank can have this payout yet. */
  readonly isFirst: boolean;
  readonly now: () => Temporal.Instant;
}

/** An answer, and the payout that it is about: its bank may be another by now. */
export interface Ordered {
  readonly payout: Payout;
  readonly answer: PayoutAnswer;
}

const unknown = { kind: 'unknown' } as const;

const callBank = (
  { log }: OrderingParts,
  bank: Bank,
  { payout, recipient, isFirst, now }: Order,
): Promise<PayoutOrderAnswer> =>
  callForPayout(log, payout.id, (signal) =>
    bank.pay({
      merchantId: payout.merchantId,
      operationId: payout.id,
      amount: minorUnits(payout.amount),
      currency: payout.currency,
      recipient,
      planned: payout.mode === 'test' ? timedPlanOfAmount(payout.amount) : null,
      sentAt: payout.sentAt ?? payout.createdAt,
      isFirst,
      now: now(),
      signal,
    }),
  );

// Whoever took the payout up meanwhile has moved ask_at: then the order is theirs, and nothing is
// passed on.
const move: Statement = {
  name: 'payout.move_to_bank',
  text: `update payout set connector = $5, sent_at = $6, ask_at = $7
    where merchant_id = $1 and id = $2 and connector = $3 and ask_at = $4 and status = 'pending' and bank_ref is null returning ${columns(payoutNames)}`,
};

const moveTo = async (
  { database }: OrderingParts,
  payout: Payout,
  connector: string,
  sentAt: Temporal.Instant | null,
  askAt: Temporal.Instant,
) => {
  const [moved] = await run<Payout>(database.pool, move, [
    payout.merchantId,
    payout.id,
    payout.connector,
    payout.askAt,
    connector,
    sentAt,
    askAt,
  ]);
  return moved ?? null;
};

/** The banks that a payout can still be given, the preferred first. */
const othersThan = async (
  { banks }: OrderingParts,
  { merchantId, shopId, mode, method, currency }: Payout,
  tried: ReadonlySet<string>,
): Promise<readonly Bank[]> => {
  const candidates = await banks.candidates({
    merchantId,
    shopId,
    mode,
    operation: 'payout',
    method: wayOf[method],
    currency,
  });
  return isRefused(candidates) ? [] : candidates.filter(({ connector }) => !tried.has(connector));
};

/**
 * Nobody has it: it waits to be given to the preferred bank as if for the first time. A card's
 * number is gone by then, so that its payout is asked about.
 */
const giveUp = async (
  parts: OrderingParts,
  { payout, recipient, now }: Order,
): Promise<Ordered> => {
  const [preferred] = recipient.way === 'card' ? [] : await othersThan(parts, payout, new Set());
  const waiting =
    preferred &&
    (await moveTo(parts, payout, preferred.connector, null, nextTry(payout.createdAt, now())));
  return {
    payout: waiting ?? payout,
    answer: waiting ? { kind: 'pending', reference: null, askAt: waiting.askAt } : unknown,
  };
};

/** Whether what the bank does not know cannot be on its way there any more. */
const isLongUnseen = ({ sentAt }: Payout, now: Temporal.Instant): boolean =>
  sentAt !== null && Temporal.Instant.compare(sentAt.add({ hours: unseenFor_h }), now) <= 0;

/**
 * Gives the order to the payout's bank, or to the first of the others that may have accepted it.
 * Nothing of the answer is applied.
 */
export const orderPayout = async (
  parts: OrderingParts,
  bank: Bank,
  order: Order,
): Promise<Ordered> => {
  const { recipient, isFirst, now } = order;
  const hold_s = recipient.way === 'card' ? lostCard_s : lease_s;
  const tried = new Set<string>();
  let [at, { payout }] = [bank, order];
  for (;;) {
    const answer = await callBank(parts, at, { ...order, payout });
    if (answer.kind === 'unseen' && isLongUnseen(payout, now()))
      return giveUp(parts, { ...order, payout });
    if (answer.kind !== 'unaccepted') return { payout, answer };
    if (!isFirst) return { payout, answer: unknown };
    tried.add(at.connector);
    const [next] = await othersThan(parts, payout, tried);
    if (!next) return giveUp(parts, { ...order, payout });
    const moved = await moveTo(
      parts,
      payout,
      next.connector,
      now(),
      now().add({ seconds: hold_s }),
    );
    if (!moved) return { payout, answer: unknown };
    [at, payout] = [next, moved];
  }
};
