/**
 * T-Bank's API: a message in, its answer out. What is asked must be signed and as `tbank.yaml`
 * describes it; so must what is answered.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import type { ApiResponse } from '../exchange.ts';
import { codeOf, type BookedOrder, type GivenReceipt, type TBankBooks } from './books.ts';
import { hasPrepayment, type CashRegister } from './receipts.ts';
import { cancelPart, confirm, isOpen, pay, type NotifyStatus } from './settle.ts';

const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addSchema({
  ...parse(readFileSync(join(import.meta.dirname, 'tbank.yaml'), 'utf8')),
  $id: 'tbank',
});

/** What of a value is not as described, in words; null when it is. */
export const mistakeIn = (name: string, value: unknown): string | null => {
  const check = ajv.getSchema(`tbank#/$defs/${name}`);
  if (!check) throw new Error(`${name} is not described`);
  return check(value)
    ? null
    : (check.errors ?? [])
        .map(({ instancePath, message }) => `${name}${instancePath} ${message ?? ''}`)
        .join('; ');
};

/** The signature as the bank describes it, computed independently of the connector. */
export const signatureOf = (
  message: Readonly<Record<string, unknown>>,
  password: string,
): string => {
  const names = [
    ...Object.keys(message).filter((name) => name !== 'Token' && typeof message[name] !== 'object'),
    'Password',
  ];
  names.sort((one, other) => (one < other ? -1 : 1));
  return createHash('sha256')
    .update(names.map((name) => (name === 'Password' ? password : String(message[name]))).join(''))
    .digest('hex');
};

export interface TBankDeps {
  readonly books: TBankBooks;
  readonly terminal: string;
  readonly password: string;
  readonly base: string;
  readonly notify: NotifyStatus;
  readonly violations: string[];
  readonly register: CashRegister;
}

export const refusal = (code: string, message: string, more: object = {}): ApiResponse => ({
  status: 200,
  body: { Success: false, ErrorCode: code, Message: message, ...more },
});

const answered = (body: object): ApiResponse => ({
  status: 200,
  body: { Success: true, ErrorCode: '0', ...body },
});

const view = ({ terminal }: TBankDeps, { id, orderId, status, amount }: BookedOrder) => ({
  TerminalKey: terminal,
  Status: status,
  PaymentId: id,
  OrderId: orderId,
  Amount: amount,
});

/** A receipt that does not fit. */
const wrongReceipt = (message: string): ApiResponse => refusal('309', message);

const init = (deps: TBankDeps, asked: any): ApiResponse => {
  const wrong = deps.register.mistakeIn(asked.Receipt, asked.Amount);
  if (wrong !== null) return wrongReceipt(wrong);
  const payment: BookedOrder = {
    id: deps.books.id(),
    orderId: asked.OrderId,
    amount: asked.Amount,
    status: 'NEW',
    errorCode: '0',
    twoHarnesses: asked.PayType === 'T',
    route: 'card',
    customer: asked.CustomerKey ?? null,
    notificationUrl: asked.NotificationURL ?? null,
    returnUrl: asked.SuccessURL ?? null,
    dueAt: asked.RedirectDueDate === undefined ? null : new Date(asked.RedirectDueDate),
    createdAt: new Date(),
    refunded: 0,
    paidBy: null,
    receipt: asked.Receipt ?? null,
    isFiscalised: false,
  };
  deps.books.payments.set(payment.id, payment);
  return answered({ ...view(deps, payment), PaymentURL: `${deps.base}/pay/${payment.id}` });
};

const getQr = (deps: TBankDeps, payment: BookedOrder): ApiResponse => {
  if (!isOpen(payment)) return refusal('8', 'The payment is in another state');
  payment.route = 'sbp';
  const { TerminalKey, OrderId, PaymentId } = view(deps, payment);
  return answered({ TerminalKey, OrderId, PaymentId, Data: `${deps.base}/pay/${payment.id}` });
};

const charge = (deps: TBankDeps, payment: BookedOrder, rebillId: string): ApiResponse => {
  if (payment.status !== 'NEW')
    return refusal('8', 'The payment is in another state', view(deps, payment));
  if (!deps.books.cards.some((card) => card.rebillId === rebillId))
    return refusal('3012', 'The card is not saved');
  // What takes its time is under way, and cannot be charged again.
  payment.status = 'FORM_SHOWED';
  pay(deps.books, payment, 'charge', deps.notify);
  const charged = view(deps, payment);
  return charged.Status === 'REJECTED'
    ? refusal(payment.errorCode, 'Refused', charged)
    : answered(charged);
};

const cancel = (deps: TBankDeps, payment: BookedOrder, asked: any): ApiResponse => {
  const key: string | null = payment.route === 'sbp' ? null : (asked.ExternalRequestId ?? null);
  const wasDone =
    key !== null &&
    (payment.status === 'REVERSED' ||
      deps.books.cancels.some((one) => one.key === key && one.paymentId === payment.id));
  const amount: number = asked.Amount ?? payment.amount;
  const wrong = deps.register.mistakeIn(asked.Receipt, amount);
  if (wrong !== null) return wrongReceipt(wrong);
  const isTaken = payment.status === 'CONFIRMED' || payment.status === 'PARTIAL_REFUNDED';
  if (payment.receipt && isTaken && (amount === payment.amount) === Boolean(asked.Receipt))
    return wrongReceipt('A part needs its receipt, the whole takes none');
  const order = { amount, key, receipt: asked.Receipt ?? null };
  if (!wasDone && !cancelPart(deps.books, payment, order, deps.notify))
    return refusal(codeOf(amount) === null ? '8' : '3028', 'It cannot be cancelled');
  const { Amount, ...received } = view(deps, payment);
  return answered({
    ...received,
    OriginalAmount: Amount,
    NewAmount: payment.status === 'CANCELED' ? 0 : Amount - payment.refunded,
  });
};

const sendClosingReceipt = (
  { register }: TBankDeps,
  payment: BookedOrder,
  receipt: GivenReceipt,
): ApiResponse => {
  if (payment.status !== 'CONFIRMED' && payment.status !== 'PARTIAL_REFUNDED')
    return refusal('8', 'The payment is in another state');
  if (!payment.receipt || !hasPrepayment(payment.receipt))
    return wrongReceipt('Nothing was paid in advance');
  const wrong = register.mistakeIn(receipt, payment.amount - payment.refunded);
  if (wrong !== null) return wrongReceipt(wrong);
  register.make(payment, 'closing', receipt);
  return answered({ Message: 'OK' });
};

const checkOrder = ({ books, terminal }: TBankDeps, orderId: string): ApiResponse => {
  const payments = books.ofOrder(orderId);
  if (payments.length === 0) return refusal('255', 'There is no such order');
  const shown = payments.map(({ id, amount, status, errorCode, route, paidBy }) => ({
    PaymentId: id,
    Amount: amount,
    Status: status,
    Success: status !== 'REJECTED',
    ErrorCode: errorCode,
    ...(paidBy === null
      ? {}
      : route === 'sbp'
        ? { SbpPaymentId: `B${id.padStart(31, '0')}` }
        : { RRN: `6${id.padStart(11, '0')}` }),
  }));
  return answered({ TerminalKey: terminal, OrderId: orderId, Payments: shown });
};

const getCardList = ({ books }: TBankDeps, customer: string): ApiResponse => {
  const cards = books.cards.filter((card) => card.customer === customer);
  if (
    !cards.length &&
    ![...books.payments.values()].some((payment) => payment.customer === customer)
  )
    return refusal('7', 'There is no such customer');
  return {
    status: 200,
    body: cards.map(({ rebillId, pan }) => ({
      CardId: rebillId,
      Pan: pan,
      Status: 'A',
      RebillId: rebillId,
      CardType: 0,
      ExpDate: '1230',
    })),
  };
};

const ofPayment = (
  deps: TBankDeps,
  asked: any,
  run: (payment: BookedOrder) => ApiResponse,
): ApiResponse => {
  const payment = deps.books.payments.get(asked.PaymentId);
  return payment ? run(payment) : refusal('9999', 'There is no such payment');
};

const methods: Readonly<Record<string, (deps: TBankDeps, asked: any) => ApiResponse>> = {
  Init: init,
  GetQr: (parts, asked) => ofPayment(parts, asked, (payment) => getQr(parts, payment)),
  Charge: (parts, asked) =>
    ofPayment(parts, asked, (payment) => charge(parts, payment, asked.RebillId)),
  Cancel: (parts, asked) => ofPayment(parts, asked, (payment) => cancel(parts, payment, asked)),
  Confirm: (parts, asked) =>
    ofPayment(parts, asked, (payment) => {
      const wrong = parts.register.mistakeIn(asked.Receipt, asked.Amount);
      if (wrong !== null) return wrongReceipt(wrong);
      if (payment.receipt && asked.Amount < payment.amount && !asked.Receipt)
        return wrongReceipt('A part needs its receipt');
      const code = confirm(payment, asked, parts.notify);
      if (code !== null) return refusal(code, 'It cannot be confirmed');
      const { Amount: _, ...confirmed } = view(parts, payment);
      return answered(confirmed);
    }),
  SendClosingReceipt: (parts, asked) =>
    ofPayment(parts, asked, (payment) => sendClosingReceipt(parts, payment, asked.Receipt)),
  CheckOrder: (parts, asked) => checkOrder(parts, asked.OrderId),
  GetCardList: (parts, asked) => getCardList(parts, asked.CustomerKey),
};

/** Answers a signed message of a method. */
export const callMethod = (deps: TBankDeps, method: string, asked: any): ApiResponse => {
  const run = methods[method];
  if (!run) return { status: 404, body: {} };
  const mistake = mistakeIn(method, asked);
  if (mistake) deps.violations.push(`asked ${mistake}`);
  if (mistake) return refusal('9', 'Wrong parameters');
  if (asked.TerminalKey !== deps.terminal) return refusal('205', 'There is no such terminal');
  if (asked.Token !== signatureOf(asked, deps.password)) return refusal('204', 'Wrong token');
  const answer = run(deps, asked);
  const wrong = mistakeIn(answer.body.Success === false ? 'Error' : `${method}Answer`, answer.body);
  if (wrong) deps.violations.push(`answered ${wrong}`);
  return answer;
};

/** Where T-Pay is opened for a payment; it takes no signature. */
export const openLink = ({ books, base }: TBankDeps, id: string): ApiResponse => {
  const payment = books.payments.get(id);
  if (!payment || !isOpen(payment)) return refusal('9999', 'There is no such payment');
  payment.route = 'tpay';
  return {
    status: 200,
    body: {
      Success: true,
      ErrorCode: '0',
      Params: { RedirectUrl: `${base}/pay/${id}`, WebQR: `${base}/pay/${id}` },
    },
  };
};
