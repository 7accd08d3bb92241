/** Receipts and orders of them, for tests of the connectors alone. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { SessionOrder, ReceiptAnswer, ReceiptOrder } from '../../subgraphs/acquirers/bank.ts';
import type { OpenedBank } from '../../subgraphs/acquirers/connector.ts';
import { minorUnits } from '../../subgraphs/rules/money.ts';
import type { PaymentMode, ReceiptTerms } from '../../subgraphs/rules/receipt.ts';
import { cardOf } from './harness.ts';
import { eventually } from '../support/eventually.ts';

export const merchantId = randomUUID();
export const now = (): Temporal.Instant => Temporal.Now.instant();

/** A receipt of one thing at `amount` kopecks. */
export const receiptOf = (
  amount: number,
  paymentMode: PaymentMode | null = null,
): ReceiptTerms => ({
  customer: { email: 'ivanov@example.com', phone: '+79161234567', fullName: null, inn: null },
  taxSystem: 1,
  items: [
    {
      description: 'Чай',
      quantity: '1.000',
      price: minorUnits(amount),
      vatCode: 11,
      paymentSubject: 'commodity',
      paymentMode,
      measure: 'piece',
      markCode: null,
    },
  ],
});

export const sessionOf = (
  operationId: string,
  amount: number,
  more: Partial<SessionOrder> = {},
) => ({
  merchantId,
  shopId: randomUUID(),
  operationId,
  amount: minorUnits(amount),
  currency: 'RUB',
  method: 'cards' as const,
  card: cardOf(),
  planned: null,
  callbacks: null,
  pageUrl: 'http://127.0.0.1:9/pay/x',
  sessionUntil: now().add({ minutes: 10 }),
  reference: null,
  now: now(),
  ...more,
});

/** What the tests know of a movement. */
export interface Known {
  readonly operationId: string;
  readonly reference: string;
}

export const questionOf = (
  payment: Known,
  amount: number,
  terms: ReceiptTerms,
  more: Partial<ReceiptOrder> = {},
): ReceiptOrder => ({
  merchantId,
  receiptId: randomUUID(),
  attempt: 0,
  type: 'payment',
  payment,
  refund: null,
  amount: minorUnits(amount),
  currency: 'RUB',
  terms,
  planned: null,
  createdAt: now(),
  now: now(),
  ...more,
});

export const receiptBank = (bank: OpenedBank) => {
  const { receipt } = bank;
  assert.ok(receipt);
  return receipt;
};

/** Asks until the receipt has come to an end. */
export const ended = (bank: OpenedBank, order: ReceiptOrder): Promise<ReceiptAnswer> =>
  eventually(async () => {
    const answer = await receiptBank(bank)({ ...order, now: now() });
    return (answer.kind === 'registered' || answer.kind === 'failed') && answer;
  }, 'the end of the receipt');
