/**
 * T-Bank's internet acquiring emulated: the part of its API that the connector uses, and its
 * payment page.
 */
import { randomUUID } from 'node:crypto';
import { answerCall, type Dialect } from '../answer-call.ts';
import type { ApiResponse } from '../exchange.ts';
import { openCallbacks } from '../callbacks.ts';
import { readJson, type Emulated, type Surroundings } from '../emulated.ts';
import type { Faults } from '../faults.ts';
import type { Shown } from '../page.ts';
import { callMethod, mistakeIn, openLink, signatureOf, type TBankDeps } from './api.ts';
import { TBankBooks, type BookedOrder, type BookedReceipt } from './books.ts';
import { CashRegister } from './receipts.ts';
import { pay, refuse, type NotifyStatus } from './settle.ts';

export interface TBankSettings {
  /** The terminal and its password. */
  readonly terminal: string;
  readonly password: string;
  /** The format of its cash register. */
  readonly ffd: string;
}

const changed = (answer: ApiResponse, change: (body: any) => object): ApiResponse =>
  answer.body.Success === true
    ? { status: answer.status, body: { ...answer.body, ...change(answer.body) } }
    : answer;

/** How T-Bank's API fails. */
const dialect: Dialect = {
  tooMany: () => ({
    status: 429,
    body: { Success: false, ErrorCode: '119', Message: 'Too many requests' },
  }),
  broken: (what) => ({ status: 500, body: { Message: what } }),
  confused: (answer) =>
    changed(answer, (body) => (body.OrderId === undefined ? {} : { OrderId: randomUUID() })),
  falsified: (answer) =>
    changed(answer, ({ Amount, Payments }) => ({
      ...(Amount === undefined ? {} : { Amount: Amount + 1 }),
      ...(Payments === undefined
        ? {}
        : {
            Payments: Payments.map((payment: any) => ({ ...payment, Amount: payment.Amount + 1 })),
          }),
    })),
};

const shownAs: Readonly<Partial<Record<BookedOrder['status'], Shown['status']>>> = {
  NEW: 'open',
  FORM_SHOWED: 'open',
  AUTHORIZED: 'held',
  REJECTED: 'failed',
  CANCELED: 'failed',
  DEADLINE_EXPIRED: 'failed',
};
const looks = { card: 'page', sbp: 'sbp', tpay: 'tinkoff_bank' } as const;

const shownOf = ({ id, route, amount, status, returnUrl, createdAt }: BookedOrder): Shown => ({
  id,
  look: looks[route],
  amount: BigInt(amount),
  status: shownAs[status] ?? 'paid',
  last4: route === 'card' ? '0004' : null,
  returnUrl,
  createdAt,
  hint:
    route === 'card'
      ? 'Здесь покупатель вводит карту; эмулятор платит всегда одной и той же.'
      : null,
});

/** The signed notification of a payment. */
const notificationOf = (
  { books, terminal, password }: TBankDeps,
  { id, orderId, status, amount, errorCode, customer }: BookedOrder,
): object => {
  const card = books.cards.find((each) => each.customer === customer);
  const received = {
    TerminalKey: terminal,
    OrderId: orderId,
    Success: status !== 'REJECTED',
    Status: status,
    PaymentId: Number(id),
    ErrorCode: errorCode,
    Amount: amount,
    ...(card ? { RebillId: Number(card.rebillId), Pan: card.pan } : {}),
  };
  return { ...received, Token: signatureOf(received, password) };
};

/** The signed notification of a receipt. */
const receiptNotificationOf = (
  { terminal, password }: Pick<TBankDeps, 'terminal' | 'password'>,
  { paymentId, orderId, kind, amount, given, status, number }: BookedReceipt,
): object => {
  const isDone = status === 'registered';
  const received = {
    TerminalKey: terminal,
    OrderId: orderId,
    Success: isDone,
    Status: 'RECEIPT',
    PaymentId: Number(paymentId),
    ErrorCode: isDone ? '0' : '1',
    Amount: amount,
    Type: kind === 'refund' ? 'IncomeReturn' : 'Income',
    ...(isDone
      ? {
          FiscalNumber: number,
          ShiftNumber: 7,
          ReceiptDatetime: `${new Date().toISOString().slice(0, 19)}+00:00`,
          FnNumber: '9280440300000001',
          EcrRegNumber: '0000111118041361',
          FiscalDocumentNumber: number,
          FiscalDocumentAttribute: 3_449_500_000 + number,
        }
      : { ErrorMessage: 'The cash register did not answer' }),
  };
  const Token = signatureOf(received, password);
  return { ...received, Receipt: given, Token };
};

/** Sends what is as described, else notes that it is not. */
const openSender = (faults: Faults, violations: string[]) => {
  const send = openCallbacks(faults, (status, text) => status === 200 && text === 'OK');
  return (url: string | null, kind: string, notification: object): void => {
    const wrong = mistakeIn(kind, notification);
    if (wrong) violations.push(`notified ${wrong}`);
    send(url, notification);
  };
};

/** Opens it. */
export const emulateTBank = (
  { terminal, password, ffd }: TBankSettings,
  { base, faults, behaviour, violations }: Surroundings,
): Emulated => {
  const books = new TBankBooks();
  const send = openSender(faults, violations);
  const urlOf = (id: string): string | null => books.payments.get(id)?.notificationUrl ?? null;
  const register = new CashRegister(
    books,
    ffd,
    () => behaviour().receipts,
    (receipt) =>
      send(urlOf(receipt.paymentId), 'ReceiptNotification', receiptNotificationOf(parts, receipt)),
  );
  const notify: NotifyStatus = (payment, cancel) => {
    send(payment.notificationUrl, 'Notification', notificationOf(parts, payment));
    register.note(payment, cancel);
  };
  const parts: TBankDeps = { books, terminal, password, base, notify, violations, register };
  const answer = (method: string, text: string): ApiResponse => {
    const done = callMethod(parts, method, readJson(text) ?? {});
    const made = method === 'Init' ? books.payments.get(done.body.PaymentId) : undefined;
    const { confirmAfter_ms } = behaviour();
    // One without a page to return to has no buyer: it is charged.
    if (made?.returnUrl && confirmAfter_ms !== null)
      setTimeout(() => pay(books, made, 'buyer', notify), confirmAfter_ms).unref();
    return done;
  };
  return {
    call: (request, response, url, text) => {
      const [, , method = '', , id = ''] = url.pathname.split('/');
      const fault = faults.ofCall(request.method ?? 'GET', url.pathname);
      return answerCall(dialect, fault, response, () =>
        method === 'TinkoffPay' ? openLink(parts, id) : answer(method, text),
      );
    },
    shown: (id) => {
      const payment = books.payments.get(id);
      return payment ? shownOf(payment) : null;
    },
    decide: (id, decision) => {
      const payment = books.payments.get(id);
      if (!payment) return;
      if (decision === 'pay') pay(books, payment, 'buyer', notify);
      else refuse(payment, notify);
    },
    books: () => ({
      payments: [...books.payments.values()],
      cancels: books.cancels,
      cards: books.cards,
      receipts: books.receipts,
    }),
  };
};
