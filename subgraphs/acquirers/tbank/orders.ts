/**
 * Orders at T-Bank and their payments. Each call of `Init` makes a payment, so an order may have
 * several. They are found by our own id, with `CheckOrder`.
 */
import type { BuyerMethod } from '../../rules/buyer.ts';
import type { CheckEcho, Ordered } from '../check-echo.ts';
import type { ApiAnswer, Client } from './client.ts';
import type { CashRegister } from './config.ts';
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

export const unknown = { kind: 'unknown' } as const;
/** It waits, and no job queries it any more: an alert was raised. */
export const stopped = { kind: 'pending', askAt: null } as const;

/** Whether a payment of an order is the one that was ordered. */
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

/**
 * The payment that decides an order's result: one with money, else one that may still get some,
 * else the last.
 */
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
  const answer = await client.call({
    method: 'CheckOrder',
    params: { OrderId: operationId },
    repeatable: true,
  });
  // 255: there is no such order.
  if (answer.kind === 'rejected' && answer.code === '255') return [];
  return answer.kind === 'answered' ? readOrder(answer.body) : null;
};

/** Where the buyer pays; null when the bank gives none. */
export const stepOf = async (
  { client }: PaymentCalls,
  method: BuyerMethod,
  { id }: Pick<WirePayment, 'id'>,
  init: unknown,
) => {
  const readable = (answer: ApiAnswer): unknown =>
    answer.kind === 'answered' ? answer.body : null;
  switch (method) {
    case 'sbp': {
      const url = readQr(
        readable(
          await client.call({
            method: 'GetQr',
            params: { PaymentId: id, DataType: 'PAYLOAD' },
            repeatable: true,
          }),
        ),
      );
      return url === null ? null : { step: 'qr' as const, stepUrl: url };
    }
    case 'tpay': {
      const url = readLink(
        readable(await client.read(`/TinkoffPay/transactions/${id}/versions/2.0/link`)),
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
