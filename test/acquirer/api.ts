/**
 * The acquirer's API: an order or a question in, its answer out. What is asked must be as
 * described; so must what is answered.
 */
import { apiError, ownOf, type ApiDeps } from './api-parts.ts';
import {
  kopecks,
  paymentView,
  payoutView,
  refundView,
  savedMethodView,
  sbpBanks,
  type Amount,
  type BookedPayment,
  type BookedPayout,
  type BookedRefund,
} from './books.ts';
import { mistakeIn, type Described } from './description.ts';
import type { ApiRequest, ApiResponse } from './exchange.ts';
import { listOf } from './list-page.ts';
import { receiptView, wrongReceipt } from './receipts.ts';
import { createReceipt, shopSettings } from './receipt-orders.ts';
import { captureHold, decide, giveUpHold, payNow } from './settle.ts';

/** A card that is asked to confirm itself on the acquirer's page; every other card pays at once. */
export const cardWith3ds = '2200000000000053';

const notFound = apiError(404, 'not_found', 'There is no such object', 'id');

const over = (amount: Amount, most_rub: bigint): boolean =>
  kopecks(amount) > most_rub * 100n || kopecks(amount) < 100n;

const payment_max_rub = (type: string): bigint => (type === 'bank_card' ? 350_000n : 700_000n);

const createPayment = ({ books, base, notify }: ApiDeps, asked: ApiRequest): ApiResponse => {
  const { body } = asked;
  const { payment_method_data: data, payment_method_id: savedId, confirmation } = body;
  const saved = savedId === undefined ? null : ownOf(books.methods.get(savedId), asked);
  if (saved === undefined)
    return apiError(400, 'invalid_request', 'The saved method is unknown', 'payment_method_id');
  const type: string = saved?.type ?? data.type;
  if (over(body.amount, payment_max_rub(type)))
    return apiError(400, 'invalid_request', 'The amount is beyond the limit', 'amount.value');
  const wrong = wrongReceipt(body.receipt, body.amount);
  if (wrong !== null) return apiError(400, 'invalid_request', wrong, 'receipt.items');
  const number: string | null = data?.card?.number ?? null;
  const id = books.id();
  const payment: BookedPayment = {
    id,
    account: asked.account,
    status: 'pending',
    amount: body.amount,
    createdAt: new Date(),
    capture: body.capture,
    expiresAt: null,
    method: {
      type,
      id: savedId ?? id,
      saved: saved !== null,
      last4: saved?.last4 ?? number?.slice(-4) ?? null,
    },
    confirmation: needsBuyer(type, number, saved !== null)
      ? { type: confirmation.type, returnUrl: confirmation.return_url }
      : null,
    saves: saved !== null || body.save_payment_method === true,
    metadata: body.metadata,
    cancellation: null,
    receipt: body.receipt ?? null,
    fiscalised: null,
  };
  books.payments.set(id, payment);
  if (!payment.confirmation) payNow(books, payment, notify);
  return { status: 200, body: paymentView(payment, base) };
};

const needsBuyer = (type: string, number: string | null, isSaved: boolean): boolean =>
  !isSaved && (type !== 'bank_card' || number === null || number === cardWith3ds);

const createRefund = ({ books, notify }: ApiDeps, asked: ApiRequest): ApiResponse => {
  const { body } = asked;
  const payment = ownOf(books.payments.get(body.payment_id), asked);
  if (payment?.status !== 'succeeded')
    return apiError(400, 'invalid_request', 'The payment cannot be refunded', 'payment_id');
  if (kopecks(body.amount) > books.remainder(payment))
    return apiError(400, 'invalid_request', 'The amount is more than is left', 'amount');
  const isPart = kopecks(body.amount) < kopecks(payment.amount);
  if (payment.fiscalised && isPart && !body.receipt)
    return apiError(400, 'invalid_request', 'A part needs its receipt', 'receipt');
  const wrong = wrongReceipt(body.receipt, body.amount);
  if (wrong !== null) return apiError(400, 'invalid_request', wrong, 'receipt.items');
  const refund: BookedRefund = {
    id: books.id(),
    paymentId: payment.id,
    status: 'pending',
    amount: body.amount,
    createdAt: new Date(),
    metadata: body.metadata,
    cancellation: null,
    receipt: body.receipt ?? null,
  };
  books.refunds.set(refund.id, refund);
  decide(refund, 'refund', notify);
  return { status: 200, body: refundView(refund) };
};

const createPayout = ({ books, notify }: ApiDeps, { body }: ApiRequest): ApiResponse => {
  const { payout_destination_data: to } = body;
  if (to.type === 'sbp' && /^0+$/.test(to.bank_id))
    return apiError(
      400,
      'invalid_request',
      'There is no such participant',
      'payout_destination_data.bank_id',
    );
  if (over(body.amount, 500_000n))
    return apiError(400, 'invalid_request', 'The amount is beyond the limit', 'amount.value');
  const destination =
    to.type === 'sbp'
      ? { ...to, recipient_checked: body.personal_data !== undefined }
      : {
          type: 'bank_card',
          card: {
            first6: to.card.number.slice(0, 6),
            last4: to.card.number.slice(-4),
            card_type: 'Mir',
          },
        };
  const payout: BookedPayout = {
    id: books.id('po-'),
    status: 'pending',
    amount: body.amount,
    createdAt: new Date(),
    destination,
    metadata: body.metadata,
    cancellation: null,
  };
  books.payouts.set(payout.id, payout);
  decide(payout, 'payout', notify);
  return { status: 200, body: payoutView(payout) };
};

interface ApiRoute {
  readonly method: 'GET' | 'POST';
  readonly path: RegExp;
  readonly asks: Described | null;
  readonly answers: Described;
  readonly run: (parts: ApiDeps, request: ApiRequest, id: string) => ApiResponse;
}

const route = (
  method: ApiRoute['method'],
  path: RegExp,
  asks: ApiRoute['asks'],
  answers: Described,
  run: ApiRoute['run'],
): ApiRoute => ({
  method,
  path,
  asks,
  answers,
  run,
});

const routes: readonly ApiRoute[] = [
  route('POST', /^\/payments$/, 'CreatePayment', 'Payment', createPayment),
  route('GET', /^\/payments$/, null, 'PaymentList', ({ books, base }, asked) =>
    listOf(
      books.payments.values(),
      asked.query,
      (payment) => ownOf(payment, asked) !== undefined,
      (one) => paymentView(one, base),
    ),
  ),
  route('GET', /^\/payments\/([\w-]+)$/, null, 'Payment', ({ books, base }, asked, id) => {
    const payment = ownOf(books.payments.get(id), asked);
    return payment ? { status: 200, body: paymentView(payment, base) } : notFound;
  }),
  route(
    'POST',
    /^\/payments\/([\w-]+)\/cancel$/,
    'CancelPayment',
    'Payment',
    ({ books, base, notify }, asked, id) => {
      const payment = ownOf(books.payments.get(id), asked);
      if (!payment) return notFound;
      return giveUpHold(payment, notify)
        ? { status: 200, body: paymentView(payment, base) }
        : apiError(400, 'invalid_request', 'The payment cannot be cancelled');
    },
  ),
  route(
    'POST',
    /^\/payments\/([\w-]+)\/capture$/,
    'CapturePayment',
    'Payment',
    ({ books, base, notify }, asked, id) => {
      const payment = ownOf(books.payments.get(id), asked);
      if (!payment) return notFound;
      const { amount, receipt } = asked.body;
      const isPart = kopecks(amount) < kopecks(payment.amount);
      if (payment.fiscalised && isPart && !receipt)
        return apiError(400, 'invalid_request', 'A part needs its receipt', 'receipt');
      const wrong = wrongReceipt(receipt, amount);
      if (wrong !== null) return apiError(400, 'invalid_request', wrong, 'receipt.items');
      const refused = captureHold(payment, asked.body, notify);
      return refused === null
        ? { status: 200, body: paymentView(payment, base) }
        : apiError(400, 'invalid_request', refused);
    },
  ),
  route('GET', /^\/payment_methods\/([\w-]+)$/, null, 'SavedMethod', ({ books }, asked, id) => {
    const method = ownOf(books.methods.get(id), asked);
    return method ? { status: 200, body: savedMethodView(id, method) } : notFound;
  }),
  route('POST', /^\/refunds$/, 'CreateRefund', 'Refund', createRefund),
  route('GET', /^\/refunds$/, null, 'RefundList', ({ books }, { query }) =>
    listOf(
      books.refunds.values(),
      query,
      ({ paymentId }) => paymentId === query.get('payment_id'),
      refundView,
    ),
  ),
  route('GET', /^\/refunds\/([\w-]+)$/, null, 'Refund', ({ books }, _, id) => {
    const refund = books.refunds.get(id);
    return refund ? { status: 200, body: refundView(refund) } : notFound;
  }),
  route('POST', /^\/receipts$/, 'CreateReceipt', 'Receipt', createReceipt),
  route('GET', /^\/receipts$/, null, 'ReceiptList', ({ books }, asked) =>
    listOf(
      books.receipts.values(),
      asked.query,
      (receipt) =>
        ownOf(receipt, asked) !== undefined &&
        [receipt.paymentId, receipt.refundId].includes(
          asked.query.get('payment_id') ?? asked.query.get('refund_id'),
        ),
      receiptView,
    ),
  ),
  route('GET', /^\/receipts\/([\w-]+)$/, null, 'Receipt', ({ books }, asked, id) => {
    const receipt = ownOf(books.receipts.get(id), asked);
    return receipt ? { status: 200, body: receiptView(receipt) } : notFound;
  }),
  route('GET', /^\/me$/, null, 'Me', shopSettings),
  route('POST', /^\/payouts$/, 'CreatePayout', 'Payout', createPayout),
  route('GET', /^\/payouts\/search$/, null, 'PayoutList', ({ books }, { query }) =>
    listOf(
      books.payouts.values(),
      query,
      ({ metadata }) => metadata['operation_id'] === query.get('metadata[operation_id]'),
      payoutView,
    ),
  ),
  route('GET', /^\/payouts\/([\w-]+)$/, null, 'Payout', ({ books }, _, id) => {
    const payout = books.payouts.get(id);
    return payout ? { status: 200, body: payoutView(payout) } : notFound;
  }),
  route('POST', /^\/personal_data$/, 'CreatePersonalData', 'PersonalData', ({ books }) => ({
    status: 200,
    body: {
      id: books.id('pd-'),
      type: 'sbp_payout_recipient',
      status: 'waiting_for_operation',
      created_at: new Date().toISOString(),
    },
  })),
  route('GET', /^\/sbp_banks$/, null, 'SbpBankList', () => ({ status: 200, body: sbpBanks })),
];

/** Whose operation an idempotency key made: the call, and the object's id. */
interface Remembered {
  readonly asked: string;
  readonly path: string;
  readonly response: ApiResponse;
}

/**
 * Opens the API on its books. A repeated key is answered with the object as it is now, and does
 * nothing.
 */
export const openApi = (deps: ApiDeps): ((request: ApiRequest) => ApiResponse) => {
  const { books, published } = deps;
  const keys = new Map<string, Remembered>();
  const run = (request: ApiRequest): ApiResponse => {
    const found = routes.find(
      ({ method, path }) => method === request.method && path.test(request.path),
    );
    if (!found) return apiError(405, 'method_not_allowed', 'There is no such operation');
    const mistake =
      found.asks &&
      (mistakeIn(found.asks, request.body) ?? mistakeIn('IdempotenceKey', request.key));
    if (mistake) books.violations.push(`asked ${request.path}: ${mistake}`);
    if (mistake) return apiError(400, 'invalid_request', mistake);
    const response = found.run(deps, request, found.path.exec(request.path)?.[1] ?? '');
    const wrong = mistakeIn(response.status === 200 ? found.answers : 'Error', response.body);
    if (wrong) books.violations.push(`answered ${request.path}: ${wrong}`);
    books.violations.push(...(published?.(request, response) ?? []));
    return response;
  };
  return (request) => {
    if (request.method === 'GET' || request.key === null) return run(request);
    const asked = JSON.stringify(request.body);
    const key = `${request.account} ${request.key}`;
    const before = keys.get(key);
    if (!before) {
      const response = run(request);
      keys.set(key, { asked, path: request.path, response });
      return response;
    }
    if (before.asked !== asked || before.path !== request.path) {
      books.violations.push(`asked ${request.path}: another order under a key that was used`);
      return apiError(
        400,
        'invalid_request',
        'The key was used for another order',
        'Idempotence-Key',
      );
    }
    const { id } = before.response.body;
    const now =
      before.response.status === 200 &&
      /^\/(payments|refunds|payouts|receipts)$/.test(request.path);
    return now
      ? run({ ...request, method: 'GET', path: `${request.path}/${id}` })
      : before.response;
  };
};
