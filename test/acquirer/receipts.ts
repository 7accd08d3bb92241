/**
 * Receipts at the emulated YooKassa, by its scenario "payment and receipt at the same time": made
 * as money is held, taken or given back, and registered a moment later.
 */
import {
  kopecks,
  type Amount,
  type BookedPayment,
  type BookedReceipt,
  type BookedRefund,
  type Books,
  type GivenReceipt,
} from './books.ts';
import { delayOf, doesFail, type ReceiptBehaviour } from './register.ts';

/** The sum of items, each rounded half up to a kopeck. */
export const sumOf = (items: GivenReceipt['items']): bigint =>
  items.reduce((sum, { amount, quantity }) => {
    const thousandths = BigInt(Math.round(quantity * 1_000));
    return sum + (kopecks(amount) * thousandths + 500n) / 1_000n;
  }, 0n);

/** What is wrong with a receipt for an amount; null when nothing is. */
export const wrongReceipt = (given: GivenReceipt | undefined, amount: Amount): string | null =>
  given && sumOf(given.items) !== kopecks(amount)
    ? 'The items of the receipt do not sum to the amount'
    : null;

const decimal = (sum: bigint): string => `${sum / 100n}.${String(sum % 100n).padStart(2, '0')}`;

/** A receipt as the API shows it. */
export const receiptView = (receipt: BookedReceipt): object => {
  const { id, type, paymentId, refundId, status, items, sum, number, registeredAt } = receipt;
  return {
    id,
    type,
    ...(paymentId === null ? {} : { payment_id: paymentId }),
    ...(refundId === null ? {} : { refund_id: refundId }),
    status,
    items,
    settlements: [{ type: receipt.settlement, amount: { value: decimal(sum), currency: 'RUB' } }],
    ...(registeredAt
      ? {
          fiscal_storage_number: '9288000100115785',
          fiscal_document_number: String(number),
          fiscal_attribute: String(2_617_600_000 + number),
          registered_at: registeredAt.toISOString(),
        }
      : {}),
  };
};

/** Whose receipt is made, and of what. */
type Made = Pick<BookedReceipt, 'account' | 'type' | 'paymentId' | 'refundId' | 'settlement'>;

/** The cash register of the emulated shops. */
export class CashRegister {
  readonly #books: Books;
  readonly #behaviour: () => ReceiptBehaviour;

  constructor(books: Books, behaviour: () => ReceiptBehaviour) {
    this.#books = books;
    this.#behaviour = behaviour;
  }

  /** Makes a receipt, and registers it after a moment. */
  make(of: Made, items: readonly any[]): BookedReceipt {
    const { receipts } = this.#books;
    const sum = sumOf(items);
    const same = [...receipts.values()].filter(
      (each) =>
        each.type === of.type &&
        each.paymentId === of.paymentId &&
        each.refundId === of.refundId &&
        each.settlement === of.settlement &&
        each.sum === sum,
    );
    const receipt: BookedReceipt = {
      ...of,
      id: this.#books.id('rt-'),
      items,
      sum,
      status: 'pending',
      createdAt: new Date(),
      registeredAt: null,
      number: receipts.size + 1,
    };
    receipts.set(receipt.id, receipt);
    const behaviour = this.#behaviour();
    const delay_ms = delayOf(behaviour);
    if (delay_ms === null) return receipt;
    setTimeout(() => {
      const isFailed = doesFail(behaviour, sum, same.length);
      receipt.status = isFailed ? 'canceled' : 'succeeded';
      receipt.registeredAt = isFailed ? null : new Date();
    }, delay_ms).unref();
    return receipt;
  }

  /** What a movement makes of the receipt that was given with it. */
  note(
    event: string,
    object: BookedPayment | BookedRefund | { readonly destination: object },
  ): void {
    if ('method' in object) this.#notePayment(event, object);
    if ('paymentId' in object && event === 'refund.succeeded') this.#noteRefund(object);
  }

  #notePayment(event: string, payment: BookedPayment): void {
    const { id: paymentId, account, receipt, fiscalised } = payment;
    if (!receipt) return;
    const of = { account, paymentId, refundId: null, settlement: 'cashless' } as const;
    const isOver = event === 'payment.canceled';
    if (fiscalised && (isOver || fiscalised !== receipt))
      this.make({ ...of, type: 'refund' }, fiscalised.items);
    if (isOver || fiscalised === receipt) return;
    payment.fiscalised = receipt;
    this.make({ ...of, type: 'payment' }, receipt.items);
  }

  #noteRefund({ id: refundId, paymentId, receipt }: BookedRefund): void {
    const payment = this.#books.payments.get(paymentId);
    const given = receipt ?? payment?.fiscalised;
    if (!payment?.fiscalised || !given) return;
    this.make(
      {
        account: payment.account,
        type: 'refund',
        paymentId: null,
        refundId,
        settlement: 'cashless',
      },
      given.items,
    );
  }
}
