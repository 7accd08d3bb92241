/**
 * Receipts at the emulated T-Bank: made when money was taken or given back, registered a moment
 * later, and notified of; no call asks about them.
 */
import type {
  BookedCancel,
  BookedOrder,
  BookedReceipt,
  GivenReceipt,
  TBankBooks,
} from './books.ts';
import { delayOf, doesFail, type ReceiptBehaviour } from '../register.ts';

/** Notifies the merchant of a receipt's end. */
type NotifyReceipt = (receipt: BookedReceipt) => void;

const prepaid: ReadonlySet<string> = new Set(['full_prepayment', 'prepayment', 'advance']);

/** Whether something in a receipt was only paid for in advance. */
export const hasPrepayment = ({ Items }: GivenReceipt): boolean =>
  Items.some(({ PaymentMethod }) => prepaid.has(PaymentMethod));

export const sumOf = ({ Items }: GivenReceipt): number =>
  Items.reduce((sum, { Amount }) => sum + Amount, 0);

export class CashRegister {
  readonly #books: TBankBooks;
  readonly #ffd: string;
  readonly #behaviour: () => ReceiptBehaviour;
  readonly #notify: NotifyReceipt;

  constructor(
    books: TBankBooks,
    ffd: string,
    behaviour: () => ReceiptBehaviour,
    notify: NotifyReceipt,
  ) {
    this.#books = books;
    this.#ffd = ffd;
    this.#behaviour = behaviour;
    this.#notify = notify;
  }

  /** Makes the receipts of a payment's new status; `cancel` brought it. */
  note(payment: BookedOrder, cancel: BookedCancel | undefined): void {
    const { receipt, status, isFiscalised } = payment;
    if (!receipt) return;
    if (cancel) this.make(payment, 'refund', cancel.receipt ?? receipt);
    if (status !== 'CONFIRMED' || isFiscalised) return;
    payment.isFiscalised = true;
    this.make(payment, 'payment', receipt);
  }

  /** What is wrong with a receipt for an amount; null when nothing is. */
  mistakeIn(given: GivenReceipt | undefined, amount: number): string | null {
    if (!given) return null;
    if (this.#behaviour() === 'off') return 'The terminal has no cash register';
    if (given.FfdVersion !== this.#ffd) return 'The cash register has another format';
    const isOff = given.Items.some(
      ({ Price, Quantity, Amount }) => Math.abs(Price * Quantity - Amount) > 0.5 + 1e-6,
    );
    return isOff || sumOf(given) !== amount ? 'The items do not sum to the amount' : null;
  }

  /** Makes a receipt, and registers it after a moment. */
  make(payment: BookedOrder, kind: BookedReceipt['kind'], given: GivenReceipt): void {
    const { receipts } = this.#books;
    const amount = sumOf(given);
    const same = receipts.filter(
      (each) => each.paymentId === payment.id && each.kind === kind && each.amount === amount,
    );
    const receipt: BookedReceipt = {
      paymentId: payment.id,
      orderId: payment.orderId,
      kind,
      amount,
      given,
      status: 'pending',
      number: receipts.length + 1,
    };
    receipts.push(receipt);
    const behaviour = this.#behaviour();
    const delay_ms = delayOf(behaviour);
    if (delay_ms === null) return;
    const before = kind === 'refund' ? 0 : same.length;
    setTimeout(() => {
      receipt.status = doesFail(behaviour, BigInt(amount), before) ? 'failed' : 'registered';
      this.#notify(receipt);
    }, delay_ms).unref();
  }
}
