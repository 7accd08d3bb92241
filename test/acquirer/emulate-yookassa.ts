/** YooKassa emulated: the part of its API v3 that the connector uses. */
import { answerCall } from './answer-call.ts';
import { apiError } from './api-parts.ts';
import { cardWith3ds, openApi } from './api.ts';
import type { ApiRequest } from './exchange.ts';
import {
  Books,
  kopecks,
  paymentView,
  payoutView,
  refundView,
  type BookedPayment,
  type BookedPayout,
  type BookedRefund,
} from './books.ts';
import { openCallbacks } from './callbacks.ts';
import { mistakeIn } from './description.ts';
import { readJson, type Emulated, type Surroundings } from './emulated.ts';
import type { Shown } from './page.ts';
import { openPublished } from './published.ts';
import { CashRegister, receiptView } from './receipts.ts';
import { payNow, refuseToPay, type Notify } from './settle.ts';
import { yookassaDialect } from './yookassa-dialect.ts';

export interface YooKassaSettings {
  /** A copy of the acquirer's own OpenAPI description, to which everything is then held as well. */
  readonly publishedFile: string | null;
  /** Accounts as `id:secret`: the shop's and the payout gateway's. */
  readonly accounts: readonly string[];
}

const looks: Readonly<Record<string, Shown['look']>> = {
  sbp: 'sbp',
  bank_card: 'bank_card',
  tinkoff_bank: 'tinkoff_bank',
  sberbank: 'sberbank',
};
const statuses = {
  pending: 'open',
  waiting_for_capture: 'held',
  succeeded: 'paid',
  canceled: 'failed',
} as const;

const shownOf = ({
  id,
  method,
  amount,
  status,
  confirmation,
  createdAt,
}: BookedPayment): Shown => ({
  id,
  look: looks[method.type] ?? 'bank_card',
  amount: kopecks(amount),
  status: statuses[status],
  last4: method.last4,
  returnUrl: confirmation?.returnUrl ?? null,
  createdAt,
  hint:
    method.type === 'bank_card'
      ? `Карта ${cardWith3ds} приходит на эту страницу, другие оплачивают сразу.`
      : null,
});

/** The notifications of its ends, of which some make receipts. */
const openNotify = (
  viewOf: (object: BookedPayment | BookedRefund | BookedPayout) => object,
  register: CashRegister,
  { faults, behaviour, violations }: Surroundings,
): Notify => {
  const notify = openCallbacks(faults, (status) => status === 200);
  return (event, object) => {
    register.note(event, object);
    const notification = { type: 'notification', event, object: viewOf(object) };
    const wrong = mistakeIn('Notification', notification);
    if (wrong) violations.push(`told: ${wrong}`);
    notify(behaviour().callbackUrl, notification);
  };
};

/** The shop ids of accounts (`id:secret`), by the Authorization header of their calls. */
const accountsByHeader = (accounts: readonly string[]): ReadonlyMap<string, string> =>
  new Map(
    accounts.map((account) => [
      `Basic ${Buffer.from(account).toString('base64')}`,
      account.split(':')[0] ?? '',
    ]),
  );

const shownBooks = (
  { payments, refunds, payouts, receipts }: Books,
  viewOf: (object: BookedPayment | BookedRefund | BookedPayout) => object,
): ReturnType<Emulated['books']> => ({
  payments: [...payments.values()].map(viewOf),
  refunds: [...refunds.values()].map(viewOf),
  payouts: [...payouts.values()].map(viewOf),
  receipts: [...receipts.values()].map(receiptView),
});

/** Opens it. */
export const emulateYooKassa = (
  { publishedFile, accounts }: YooKassaSettings,
  around: Surroundings,
): Emulated => {
  const { base, faults, behaviour, violations } = around;
  const books = new Books(violations);
  const viewOf = (object: BookedPayment | BookedRefund | BookedPayout): object => {
    if ('method' in object) return paymentView(object, base);
    return 'paymentId' in object ? refundView(object) : payoutView(object);
  };
  const register = new CashRegister(books, () => behaviour().receipts);
  const notify = openNotify(viewOf, register, around);
  const published = publishedFile === null ? null : openPublished(publishedFile);
  const hasRegister = (): boolean => behaviour().receipts !== 'off';
  const api = openApi({ books, published, base, notify, register, hasRegister });
  const accountOf = accountsByHeader(accounts);
  return {
    call: async (request, response, url, text) => {
      const account = accountOf.get(request.headers.authorization ?? '');
      if (account === undefined)
        return answerCall(yookassaDialect, null, response, () =>
          apiError(401, 'invalid_credentials', 'Unknown account'),
        );
      const key = request.headers['idempotence-key'];
      const asked: ApiRequest = {
        account,
        method: request.method ?? 'GET',
        path: url.pathname.slice('/v3'.length),
        query: url.searchParams,
        key: typeof key === 'string' ? key : null,
        body: readJson(text),
      };
      await answerCall(yookassaDialect, faults.ofCall(asked.method, asked.path), response, () => {
        const before = books.payments.size;
        const done = api(asked);
        const made = books.payments.size > before ? [...books.payments.values()].at(-1) : null;
        const { confirmAfter_ms } = behaviour();
        if (made && confirmAfter_ms !== null)
          setTimeout(() => payNow(books, made, notify), confirmAfter_ms).unref();
        return done;
      });
    },
    shown: (id) => {
      const payment = books.payments.get(id);
      return payment ? shownOf(payment) : null;
    },
    decide: (id, decision) => {
      const payment = books.payments.get(id);
      if (!payment) return;
      if (decision === 'pay') payNow(books, payment, notify);
      else refuseToPay(payment, notify);
    },
    books: () => shownBooks(books, viewOf),
  };
};
