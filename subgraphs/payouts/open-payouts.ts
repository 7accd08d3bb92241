/**
 * Creates payouts: one, or a page of a batch, in the caller's transaction. The merchant's row is
 * locked first. A separate statement then reads the available balance, so it sees everything
 * committed before the lock; no payout takes what another has reserved.
 */
import type pg from 'pg';
import { eventRow, insertEvents, type OutboxEvent } from '../platform/events/outbox.ts';
import type { ClaimingCaller } from '../platform/database/idempotency.ts';
import { rowJson, run, type Statement } from '../platform/database/statement.ts';
import { lockMerchant } from '../ledger/balance.ts';
import { deltaRows, insertRows, postingRows, type PostingSource } from '../ledger/post.ts';
import { effectiveRate } from '../ledger/rate.ts';
import type { FailureCode } from '../rules/failure-code.ts';
import type { MinorUnits } from '../rules/money.ts';
import type { Posting } from '../rules/postings.ts';
import { refuse, type Refusal } from '../rules/refusal.ts';
import type { Payout, StoredRecipient } from './entities.ts';
import { payoutNames, createdEvent, statusEvent } from './find-payouts.ts';
import { chargedRate, reserveEach, type PayoutTerms } from './rules/create.ts';
import { lostCard_s, type PayoutMethod, payoutDescription, payoutOpened } from './rules/payout.ts';

/** A payout to create. */
export interface Draft {
  readonly id: string;
  readonly terms: PayoutTerms;
  /** The bank that receives it. */
  readonly connector: string;
  /** The bank has already refused the recipient: the payout fails at once, reserving nothing. */
  readonly refusedAs: FailureCode | null;
}

/** A created payout, or the refusal: the available balance does not cover it. */
export type Opened = Payout | Refusal;

const uncovered = refuse(
  'insufficient_balance',
  'the payout and its fee exceed the available balance',
);

/** When payouts would take their shop's balance below its bound, which rolls them back. */
export const beyondBound = refuse(
  'insufficient_balance',
  'the payout would take the available balance of the shop below -(2^53-1)',
);

// The balance is row plus deltas in one statement, as in ledger/balance.
const preconditions: Statement = {
  name: 'payout.preconditions',
  text: `select terminal_id as "terminalId", coalesce(${effectiveRate('$1::uuid', '$2::uuid', '$5::text', '$6::timestamptz')}, 0) as "rateBps",
      coalesce((select sum(amount) from (
        select amount from balance where merchant_id = $1 and mode = $3 and currency = $4 and account = 'merchant'
        union all
        select amount from balance_delta where merchant_id = $1 and mode = $3 and currency = $4 and account = 'merchant') b), 0)::text as available
    from shop where merchant_id = $1 and id = $2`,
};

const store: Statement = {
  name: 'payout.open',
  text: `with opened as (insert into payout select row.* from json_populate_recordset(null::payout, $1::json) as row returning 1),
    booked as (${insertRows('posting', '$2')}), balanced as (${insertRows('balance_delta', '$3')}),
      published as (${insertEvents('$4', 'select 1')})
    select count(*) from opened`,
};

interface Preconditions {
  readonly terminalId: string;
  readonly rateBps: number;
  /** A sum: as text, whatever its size. */
  readonly available: string;
}

/** The stored part of a recipient; of a card only its last 4 digits. */
export const keptOf = ({ recipient }: PayoutTerms): StoredRecipient => ({
  recipientName: recipient.fullName,
  recipientPhone: recipient.way === 'sbp' ? recipient.phone : null,
  recipientBankId: recipient.way === 'sbp' ? recipient.bankId : null,
  recipientCardMask: recipient.way === 'card' ? recipient.cardNumber.slice(-4) : null,
  recipientAccount: recipient.way === 'account' ? recipient.accountNumber : null,
  recipientBik: recipient.way === 'account' ? recipient.bik : null,
  recipientInn: recipient.way === 'account' ? recipient.inn : null,
});

const payoutOf = (
  key: ClaimingCaller,
  { id, terms, connector, refusedAs }: Draft,
  terminalId: string,
  fee: MinorUnits,
  now: Temporal.Instant,
): Payout => {
  const { merchantId, shopId, mode } = key;
  const { method, amount, currency, orderId, metadata } = terms;
  const base = {
    merchantId,
    id,
    shopId,
    terminalId,
    mode,
    amount,
    currency,
    method,
    ...keptOf(terms),
    bankRef: null,
    orderId,
    metadata,
    createdAt: now,
    fee,
    connector,
    failReason: refusedAs,
    completedAt: refusedAs && now,
  };
  if (refusedAs) return { ...base, status: 'failed', sentAt: null, askAt: null };
  // Another process takes it up: a worker at once; for a card, after its call is certainly over.
  return terms.recipient.way === 'card'
    ? { ...base, status: 'pending', sentAt: now, askAt: now.add({ seconds: lostCard_s }) }
    : { ...base, status: 'pending', sentAt: null, askAt: now };
};

const eventsOf = (payout: Payout): readonly OutboxEvent[] =>
  payout.status === 'pending'
    ? [createdEvent(payout)]
    : [createdEvent(payout), statusEvent(payout, payout.createdAt)];

/** The common fields of a payout's postings. */
export const sourceOf = (payout: Payout, at: Temporal.Instant): PostingSource => ({
  merchantId: payout.merchantId,
  shopId: payout.shopId,
  mode: payout.mode,
  currency: payout.currency,
  sourceKind: 'payout',
  sourceId: payout.id,
  paymentId: null,
  payoutId: payout.id,
  description: payoutDescription(payout),
  at,
});

const write = async (
  client: pg.PoolClient,
  opened: readonly { payout: Payout; reserved: readonly Posting[] }[],
  now: Temporal.Instant,
): Promise<void> => {
  const [first] = opened;
  if (!first) return;
  const all = opened.flatMap(({ reserved }) => reserved);
  await run(client, store, [
    JSON.stringify(opened.map(({ payout }) => rowJson(payoutNames, payout))),
    JSON.stringify(
      opened.flatMap(({ payout, reserved }) => postingRows(sourceOf(payout, now), reserved)),
    ),
    // One shop, one mode, one currency: the whole page changes two balances.
    JSON.stringify(deltaRows(sourceOf(first.payout, now), all)),
    JSON.stringify(opened.flatMap(({ payout }) => eventsOf(payout)).map(eventRow)),
  ]);
};

/**
 * Creates payouts of one method for the caller's shop, in order, each independently; returns by the
 * draft's id each payout, or `insufficient_balance`. Refuses with `not_found` when the shop is gone.
 * Two round trips and the lock, for any number of payouts.
 */
export const openPayouts = async (
  client: pg.PoolClient,
  key: ClaimingCaller,
  method: PayoutMethod,
  drafts: readonly Draft[],
  now: Temporal.Instant,
): Promise<ReadonlyMap<string, Opened> | Refusal> => {
  const { merchantId, shopId, mode } = key;
  const [draft] = drafts;
  if (!draft) return new Map();
  const { currency } = draft.terms;
  if (!(await lockMerchant(client, merchantId)))
    return refuse('not_found', 'the shop of this key no longer exists');
  const [found] = await run<Preconditions>(client, preconditions, [
    merchantId,
    shopId,
    mode,
    currency,
    method,
    now,
  ]);
  if (!found) return refuse('not_found', 'the shop of this key no longer exists');
  // A payout that is already refused must be covered too, but takes nothing from those after it.
  const rate_bps = chargedRate(mode, found.rateBps);
  const reservations = reserveEach(
    BigInt(found.available),
    rate_bps,
    drafts.map(({ terms, refusedAs }) => ({ amount: terms.amount, kept: refusedAs === null })),
  );
  const made = drafts.flatMap((one, index) => {
    const reservation = reservations[index];
    if (!reservation) return [];
    const payout = payoutOf(key, one, found.terminalId, reservation.fee, now);
    return [{ payout, reserved: one.refusedAs ? [] : payoutOpened(reservation) }];
  });
  await write(client, made, now);
  return new Map<string, Opened>([
    ...drafts.map(({ id }) => [id, uncovered] as const),
    ...made.map(({ payout }) => [payout.id, payout] as const),
  ]);
};
