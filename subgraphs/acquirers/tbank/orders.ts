/**
 * Orders at T-Bank and their payments. Each call of `Init` makes a payment, so an order may have
 * several. They are found by our own id, with `CheckOrder`.
 */
import { bodyOf } from '../bank-http.ts';
import { emOn } from '../../platform/database/orm-connections.ts';
import { run, type Runner, type Statement } from '../../platform/database/statement.ts';
import type { BuyerMethod } from '../../rules/banks.ts';
import type { PayerTraits, RefundOrder } from '../bank.ts';
import type { CheckEcho, Ordered } from '../check-echo.ts';
import { BankOrderEntity } from '../entities.ts';
import type { Client, CashRegister } from './client.ts';
import {
  isSameAmount,
  meaningOf,
  readLink,
  readOrder,
  readPaymentUrl,
  readQr,
  type WirePayment,
} from './wire.ts';

export interface PaymentCalls {
  readonly client: Client;
  readonly pool: Runner;
  readonly checkEcho: CheckEcho;
  /** The address for the bank's notifications of a merchant's payments. */
  readonly callbackUrl: (merchantId: string) => string;
  /** Null: the terminal has none, and no receipts. */
  readonly register: CashRegister | null;
  /** How many days a hold lasts. */
  readonly hold_d: number;
}

/** How often to query a payment that waits for its buyer; notifications arrive sooner. */
export const askEvery_s = 15;

/** What it tells of the buyer's means of payment. */
export const noTraits: PayerTraits = {
  cardBrand: null,
  cardMask: null,
  cardHolder: null,
  phoneMask: null,
  payerBank: null,
};

export const isOrdered = (
  { checkEcho }: Pick<PaymentCalls, 'checkEcho'>,
  ordered: Ordered,
  { id, orderId, amount }: WirePayment,
): Promise<boolean> =>
  checkEcho(ordered, {
    id,
    operationId: orderId,
    amount: amount === null ? 'no amount' : `${amount} kopecks`,
    isSame: isSameAmount(amount, ordered.amount, ordered.currency),
  });

/** The payment that decides: one with money, else one that may still get some, else the last. */
export const decidingPayment = (payments: readonly WirePayment[]): WirePayment | undefined => {
  const rank = { paid: 0, held: 1, given_up: 2, open: 3, failed: 4 } as const;
  return payments.toSorted(
    (one, other) =>
      rank[meaningOf(one.status)] - rank[meaningOf(other.status)] ||
      Number(other.id) - Number(one.id),
  )[0];
};

/**
 * The payments of an operation; null when they cannot be read. An order that is not known has none.
 */
export const paymentsOf = async (
  { client }: Pick<PaymentCalls, 'client'>,
  operationId: string,
): Promise<readonly WirePayment[] | null> => {
  const answer = await client.call('CheckOrder', { OrderId: operationId });
  // 255: there is no such order.
  if (answer.kind === 'rejected' && answer.code === '255') return [];
  return readOrder(bodyOf(answer));
};

/** The payment of a movement, else the one that decides; undefined when the bank gives none. */
export const movedPayment = async (
  calls: Pick<PaymentCalls, 'client'>,
  { operationId, reference }: RefundOrder['payment'],
): Promise<WirePayment | undefined> => {
  const payments = (await paymentsOf(calls, operationId)) ?? [];
  return payments.find(({ id }) => id === reference) ?? decidingPayment(payments);
};

/** Where the buyer pays; null when the bank gives none. */
export const stepOf = async (
  { client }: PaymentCalls,
  method: BuyerMethod,
  { id }: Pick<WirePayment, 'id'>,
  init: unknown,
) => {
  switch (method) {
    case 'sbp': {
      const url = readQr(
        bodyOf(await client.call('GetQr', { PaymentId: id, DataType: 'PAYLOAD' })),
      );
      return url === null ? null : { step: 'qr' as const, stepUrl: url };
    }
    case 'tpay': {
      const url = readLink(
        bodyOf(await client.read(`/TinkoffPay/transactions/${id}/versions/2.0/link`)),
      );
      return url === null ? null : { step: 'redirect' as const, stepUrl: url };
    }
    case 'cards': {
      const url = readPaymentUrl(init);
      return url === null ? null : { step: 'redirect' as const, stepUrl: url };
    }
    case 'sberpay':
      return null;
  }
};

// Orders to banks that have no idempotency key for them: an order is claimed here, durably, before
// it is sent, so that it is sent once, however many processes handle it and wherever they die.

/** An order of an operation that belongs to another one, as a refund does to a payment. */
export interface ClaimedOrder {
  readonly merchantId: string;
  readonly subjectId: string;
  readonly operationId: string;
  readonly now: Temporal.Instant;
}

const claim: Statement = {
  name: 'bank_order.claim',
  text: `insert into bank_order (merchant_id, subject_id, operation_id, sent_at) values ($1, $2, $3, $4)
    on conflict (merchant_id, subject_id, operation_id) do update set sent_at = excluded.sent_at where bank_order.sent_at < $5::timestamptz
    returning 1`,
};

/** Whether the order may be sent now: it is unclaimed, or, with `before`, unclaimed since then. */
export const claimOrder = async (
  pool: Runner,
  { merchantId, subjectId, operationId, now }: ClaimedOrder,
  before: Temporal.Instant | null,
): Promise<boolean> =>
  (await run(pool, claim, [merchantId, subjectId, operationId, now, before])).length > 0;

/** When an order was claimed last; null: the claim was released. */
export const claimedAt = async (
  pool: Runner,
  { merchantId, subjectId, operationId }: ClaimedOrder,
): Promise<Temporal.Instant | null> => {
  const key = { merchantId, subjectId, operationId };
  return (await emOn(pool).findOne(BankOrderEntity, key))?.sentAt ?? null;
};

/** Releases the claim of an order that certainly was not sent. */
export const giveClaimBack = async (
  pool: Runner,
  { merchantId, subjectId, operationId }: ClaimedOrder,
): Promise<void> => {
  await emOn(pool).nativeDelete(BankOrderEntity, { merchantId, subjectId, operationId });
};

export const claimsOf = (pool: Runner, merchantId: string, subjectId: string): Promise<number> =>
  emOn(pool).count(BankOrderEntity, { merchantId, subjectId });
