/**
 * Sends an order to a payout's bank, and to the next bank of the shop's routes only when the first
 * certainly did not accept it. The row names the bank before it is called, so after a crash the
 * same bank is queried. Only the sender of the very first order may move it to another bank: a
 * later connection may be refused although an earlier order has arrived.
 */
import { once } from 'node:events';
import type { Bank } from '../acquirers/bank.ts';
import type {
  PayoutAnswer,
  PayoutOrderAnswer,
  RecipientVerdict,
} from '../acquirers/payout-bank.ts';
import type { Banks } from '../acquirers/route.ts';
import type { Database } from '../platform/database/orm.ts';
import { emOn } from '../platform/database/orm-connections.ts';
import type { Logger } from '../platform/tracing/telemetry.ts';
import { timedPlanOfAmount } from '../rules/banks.ts';
import { minorUnits } from '../rules/money.ts';
import type { Recipient } from '../rules/recipient.ts';
import { isRefusal } from '../rules/refusal.ts';
import {
  lease_s,
  lostCard_s,
  nextTry,
  unseenFor_h,
  wayOf,
  callDeadline_s,
} from './rules/payout.ts';
import { PayoutEntity, type Payout } from './entities.ts';

export interface OrderingDeps {
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

/** An answer and its payout, whose bank may have changed. */
export interface Ordered {
  readonly payout: Payout;
  readonly answer: PayoutAnswer;
}

const unknown = { kind: 'unknown' } as const;

/**
 * Calls a bank about a payout, or about a recipient before there is one, and waits until the
 * deadline. An error is an unknown answer, never a failure; the log names it but not its text, which
 * may contain what was sent.
 */
export const callWithin = async <Answer extends PayoutOrderAnswer | RecipientVerdict>(
  deadline_s: number,
  log: Logger,
  payoutId: string | null,
  call: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer | typeof unknown> => {
  const signal = AbortSignal.timeout(deadline_s * 1_000);
  const answered = call(signal).catch((error: unknown) => {
    log.warn(
      { payoutId, error: error instanceof Error ? error.name : 'not an error' },
      'a call to a bank about a payout failed',
    );
    return unknown;
  });
  return Promise.race([answered, once(signal, 'abort').then(() => unknown)]);
};

const callBank = (
  { log }: OrderingDeps,
  bank: Bank,
  { payout, recipient, isFirst, now }: Order,
): Promise<PayoutOrderAnswer> =>
  callWithin(callDeadline_s, log, payout.id, (signal) =>
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

// If another worker has taken the payout, `askAt` has changed; the order is then left to that
// worker.
const moveTo = async (
  { database }: OrderingDeps,
  payout: Payout,
  connector: string,
  sentAt: Temporal.Instant | null,
  askAt: Temporal.Instant,
) => {
  const { merchantId, id } = payout;
  const read = { merchantId, id, connector: payout.connector, askAt: payout.askAt };
  const waiting = { ...read, status: 'pending', bankRef: null } as const;
  const moved = { connector, sentAt, askAt };
  const count = await emOn(database.pool).nativeUpdate(PayoutEntity, waiting, moved);
  return count > 0 ? { ...payout, ...moved } : null;
};

/** The banks that may still receive a payout, the preferred first. */
const othersThan = async (
  { banks }: OrderingDeps,
  { merchantId, shopId, mode, method, currency }: Payout,
  tried: ReadonlySet<string>,
): Promise<readonly Bank[]> => {
  const shop = { merchantId, shopId, mode, currency };
  const served = { ...shop, operation: 'payout', method: wayOf[method] } as const;
  const candidates = await banks.candidates(served);
  return isRefusal(candidates) ? [] : candidates.filter(({ connector }) => !tried.has(connector));
};

/**
 * No bank has it: it returns to the preferred bank as if new. A card's number is lost by then, so
 * its payout is queried.
 */
const giveUp = async (deps: OrderingDeps, { payout, recipient, now }: Order): Promise<Ordered> => {
  const [preferred] = recipient.way === 'card' ? [] : await othersThan(deps, payout, new Set());
  const waiting =
    preferred &&
    (await moveTo(deps, payout, preferred.connector, null, nextTry(payout.createdAt, now())));
  return {
    payout: waiting ?? payout,
    answer: waiting ? { kind: 'pending', reference: null, askAt: waiting.askAt } : unknown,
  };
};

/** Whether an order unknown to the bank can no longer be on its way there. */
const isLongUnseen = ({ sentAt }: Payout, now: Temporal.Instant): boolean =>
  sentAt !== null && Temporal.Instant.compare(sentAt.add({ hours: unseenFor_h }), now) <= 0;

/**
 * Sends the order to the payout's bank, or to the first of the others that may have accepted it.
 * Does not apply the answer.
 */
export const orderPayout = async (
  deps: OrderingDeps,
  bank: Bank,
  order: Order,
): Promise<Ordered> => {
  const { recipient, isFirst, now } = order;
  const hold_s = recipient.way === 'card' ? lostCard_s : lease_s;
  const tried = new Set<string>();
  let [at, { payout }] = [bank, order];
  for (;;) {
    const answer = await callBank(deps, at, { ...order, payout });
    if (answer.kind === 'unseen' && isLongUnseen(payout, now()))
      return giveUp(deps, { ...order, payout });
    if (answer.kind !== 'unaccepted') return { payout, answer };
    if (!isFirst) return { payout, answer: unknown };
    tried.add(at.connector);
    const [next] = await othersThan(deps, payout, tried);
    if (!next) return giveUp(deps, { ...order, payout });
    const moved = await moveTo(deps, payout, next.connector, now(), now().add({ seconds: hold_s }));
    if (!moved) return { payout, answer: unknown };
    [at, payout] = [next, moved];
  }
};
