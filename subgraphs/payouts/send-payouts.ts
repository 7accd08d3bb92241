/**
 * Gives payouts to their banks, and asks what became of them, when their time has come. A worker
 * takes what is due for itself first (a lease, and the moment of the first order), so that of
 * several workers one gives the order; a repeated order is under the payout's id, which is the
 * bank's idempotency key. Card payouts are given by the process that made them (`create-payout`);
 * here they are only asked about, since nobody has the number any more.
 */
import type pg from 'pg';
import type { Bank } from '../kernel/banks/bank.ts';
import { readByTurns, type Owner } from '../kernel/clock/due-owners.ts';
import { dueOn, inRealTime, ofShop, type Timeline } from '../kernel/clock/due.ts';
import { eachAlone, workBatch } from '../kernel/alerts/set-aside.ts';
import { columns, inTransaction, run, type Statement } from '../kernel/database/statement.ts';
import { inTraceOf } from '../kernel/database/subject-trace.ts';
import { minorUnits } from '../kernel/rules/money.ts';
import type { KeptRecipient } from '../kernel/rules/recipient.ts';
import { isRefused } from '../kernel/rules/refusal.ts';
import { applyPayoutAnswer } from './apply-payout-answer.ts';
import { callForPayout } from './call-bank.ts';
import type { Payout } from './entities.ts';
import { payoutNames } from './find-payouts.ts';
import { orderPayout, type Ordered, type OrderingParts } from './order-payout.ts';
import { lease_s } from './rules/payout.ts';

export type SendingParts = OrderingParts;

/** The recipient as it was kept; null for a card, whose number was not. */
const keptRecipient = (payout: Payout): KeptRecipient | null => {
  const fullName = payout.recipientName;
  switch (payout.method) {
    case 'payouts_sbp':
      return {
        way: 'sbp',
        phone: payout.recipientPhone ?? '',
        bankId: payout.recipientBankId ?? '',
        fullName,
      };
    case 'payouts_account':
      return {
        way: 'account',
        accountNumber: payout.recipientAccount ?? '',
        bik: payout.recipientBik ?? '',
        inn: payout.recipientInn,
        fullName,
      };
    case 'payouts_card':
      return null;
  }
};

/** A payout that is this worker's for the time of a lease. */
type Taken = Payout & {
  /** Whether it was given to no bank before. */
  readonly isFirst: boolean;
};

const askOrOrder = async (
  parts: SendingParts,
  bank: Bank,
  { isFirst, ...payout }: Taken,
  now: () => Temporal.Instant,
): Promise<Ordered> => {
  const recipient = keptRecipient(payout);
  const { merchantId, id: operationId, bankRef: reference } = payout;
  if (recipient && reference === null)
    return orderPayout(parts, bank, { payout, recipient, isFirst, now });
  const question = {
    merchantId,
    operationId,
    reference,
    amount: minorUnits(payout.amount),
    currency: payout.currency,
    sentAt: payout.sentAt ?? payout.createdAt,
    now: now(),
  };
  return {
    payout,
    answer: await callForPayout(parts.log, payout.id, () => bank.askPayout(question)),
  };
};

/** Does what a payout is due for. */
const sendPayout = async (
  parts: SendingParts,
  taken: Taken,
  now: () => Temporal.Instant,
): Promise<void> => {
  const { merchantId, id: subjectId } = taken;
  await inTraceOf(
    parts.database.pool,
    { merchantId, subjectId },
    { kind: 'internal', name: 'send payout' },
    async () => {
      const bank = parts.banks.bankOf(taken);
      // A connector that this installation lost answers nothing: the payout waits for it.
      const { payout, answer } = isRefused(bank)
        ? { payout: taken, answer: { kind: 'unknown' } as const }
        : await askOrOrder(parts, bank, taken, now);
      await applyPayoutAnswer(parts.database, payout, answer, now());
    },
  );
};

/** Payouts that wait for a moment to be sent or asked about. */
export const payoutAsks = dueOn<Pick<Payout, 'merchantId' | 'id'>>({
  name: 'payout_asks',
  table: 'payout',
  at: 'ask_at',
  columns: 'merchant_id as "merchantId", id',
});

const take = (
  whose: string,
): string => `update payout set sent_at = coalesce(payout.sent_at, $1), ask_at = $2
  from (select id, sent_at from payout as waiting where waiting.merchant_id = $4 and ask_at <= $1 and ${whose} and ${payoutAsks.notAside('waiting', '$4')}
    order by ask_at limit $3 for update of waiting skip locked) due
  where payout.merchant_id = $4 and payout.id = due.id returning ${columns(payoutNames, 'payout')}, due.sent_at is null as "isFirst"`;
const takeOfMerchant: Statement = { name: 'payout.take', text: take(inRealTime('waiting')) };
const takeOfShop: Statement = { name: 'payout.take_of_shop', text: take(ofShop('waiting', 4)) };

/**
 * As many as are given to banks at once by one run; a few calls' time is then well within the
 * lease.
 */
const page = 20;

const takeDue = async (
  client: pg.PoolClient,
  at: Temporal.Instant,
  limit: number,
  timeline: Timeline,
): Promise<Taken[]> => {
  const until = at.add({ seconds: lease_s });
  if (timeline) {
    const { merchantId, shopId } = timeline;
    return run<Taken>(client, takeOfShop, [at, until, limit, merchantId, shopId]);
  }
  const takeOf = ({ merchantId, count }: Owner): Promise<Taken[]> =>
    run<Taken>(client, takeOfMerchant, [at, until, count, merchantId]);
  if (limit === page) return payoutAsks.readByTurns(client, at, limit, takeOf);
  // A page that failed is tried again by age, in which the row that fails is found.
  return readByTurns(await payoutAsks.owners(client, at, limit), takeOf);
};

/**
 * Sends one page of what is due on a timeline, longest due first; how many there were. A full page
 * is shared by the merchants. One that fails is set aside; rejects after the whole page with what
 * failed.
 */
export const sendDuePayouts = async (
  parts: SendingParts,
  now: () => Temporal.Instant,
  timeline: Timeline = null,
): Promise<number> => {
  const at = now();
  const { pool } = parts.database;
  const { task } = payoutAsks;
  const first = () => payoutAsks.first(pool, timeline, at);
  const { result: due } = await workBatch(pool, {
    task,
    limit: page,
    work: (limit) => inTransaction(pool, (client) => takeDue(client, at, limit, timeline)),
    first,
  });
  const subjectOf = ({ merchantId, id }: Taken) => ({ merchantId, subjectId: id });
  await eachAlone(pool, { task, limit: page, subjectOf }, due, (payout) =>
    sendPayout(parts, payout, now),
  );
  return due.length;
};
