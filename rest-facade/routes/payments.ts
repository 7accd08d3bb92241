/** Payments, refunds, receipts and payment links. */
import type {
  PaymentCreateInput,
  PaymentLinkCreateInput,
  PaymentLinkStatus,
  PaymentStatus,
  ReceiptInput,
  ReceiptStatus,
  RefundStatus,
} from '../../schema/generated/operations.ts';
import { receiptJson } from '../../schema/receipt-json.ts';
import { linkJson, paymentJson, refundJson, wholePaymentJson } from '../../schema/wire.ts';
import { publicIdInAnyCase } from '../../subgraphs/rules/ids.ts';
import {
  row,
  ok,
  created,
  paged,
  narrowed,
  pageVariables,
  type Metadata,
  type Empty,
  type StatusPage,
  type Narrowed,
} from './route.ts';

export const payments = [
  row<'CreatePayment', PaymentCreateInput>({
    method: 'POST',
    path: '/v1/public/payments',
    operation: 'CreatePayment',
    field: 'Mutation.paymentCreate',
    idempotent: true,
    variables: ({ body, idempotency }) => ({ input: body, idempotency }),
    answer: ({ paymentCreate: result }) =>
      created(
        {
          payment: wholePaymentJson(result.payment),
          payment_url: result.paymentUrl,
          mode: result.mode,
          idempotent: result.idempotent,
          simulator: result.simulator,
          bank: result.bank,
          bank_ref: result.bankRef,
          failure_code: result.failureCode,
          failure_message: result.failureMessage,
        },
        result.idempotent,
      ),
  }),
  row<
    'ListPayments',
    Empty,
    StatusPage<PaymentStatus> & { includeTest?: '0' | '1' } & Narrowed<{
        orderId: string;
        customerId: string;
      }>
  >({
    method: 'GET',
    path: '/v1/public/payments',
    operation: 'ListPayments',
    field: 'Query.payments',
    variables: ({ query }) => ({
      ...pageVariables(query),
      status: query.status ?? null,
      includeTest: query.includeTest === '1',
      filter: narrowed(query, { orderId: query.orderId, customerId: query.customerId }),
    }),
    answer: ({ payments: page }) => paged(page, paymentJson),
  }),
  row<'GetPayment'>({
    method: 'GET',
    path: '/v1/public/payments/{id}',
    otherId: publicIdInAnyCase,
    operation: 'GetPayment',
    field: 'Query.payment',
    variables: ({ id }) => ({ id }),
    answer: ({ payment }) => payment && ok(wholePaymentJson(payment)),
  }),
  row<'CancelPayment'>({
    method: 'POST',
    path: '/v1/public/payments/{id}/cancel',
    operation: 'CancelPayment',
    field: 'Mutation.paymentCancel',
    variables: ({ id }) => ({ id }),
    answer: ({ paymentCancel: result }) => ok({ status: result.payment.status }),
  }),
  row<'CapturePayment', { amount?: number; receipt?: ReceiptInput }>({
    method: 'POST',
    path: '/v1/public/payments/{id}/capture',
    operation: 'CapturePayment',
    field: 'Mutation.paymentCapture',
    idempotent: true,
    variables: ({ id, body, idempotency }) => ({
      id,
      amount: body.amount ?? null,
      receipt: body.receipt ?? null,
      idempotency,
    }),
    answer: ({ paymentCapture: result }) => ({
      status: 200,
      body: { payment: wholePaymentJson(result.payment) },
      replayed: result.idempotent,
    }),
  }),
  row<
    'CreateRefund',
    { amount?: number; reason?: string; receipt?: ReceiptInput; metadata?: Metadata }
  >({
    method: 'POST',
    path: '/v1/public/payments/{id}/refund',
    operation: 'CreateRefund',
    field: 'Mutation.refundCreate',
    idempotent: true,
    variables: ({ id, body, idempotency }) => ({
      paymentId: id,
      amount: body.amount ?? null,
      reason: body.reason ?? null,
      receipt: body.receipt ?? null,
      metadata: body.metadata ?? null,
      idempotency,
    }),
    answer: ({ refundCreate: result }) => created(refundJson(result.refund), result.idempotent),
  }),
  row<'CloseReceipt', ReceiptInput>({
    method: 'POST',
    path: '/v1/public/payments/{id}/receipts',
    operation: 'CloseReceipt',
    field: 'Mutation.receiptClose',
    idempotent: true,
    bodyIsArgument: 'receipt',
    variables: ({ id, body, idempotency }) => ({ paymentId: id, receipt: body, idempotency }),
    answer: ({ receiptClose: result }) =>
      created({ receipt: receiptJson(result.receipt) }, result.idempotent),
  }),
  row<'ListReceipts', Empty, StatusPage<ReceiptStatus> & { paymentId?: string }>({
    method: 'GET',
    path: '/v1/public/receipts',
    operation: 'ListReceipts',
    field: 'Query.receipts',
    variables: ({ query }) => ({
      ...pageVariables(query),
      status: query.status ?? null,
      paymentId: query.paymentId ?? null,
    }),
    answer: ({ receipts: page }) => paged(page, receiptJson),
  }),
  row<'GetReceipt'>({
    method: 'GET',
    path: '/v1/public/receipts/{id}',
    operation: 'GetReceipt',
    field: 'Query.receipt',
    variables: ({ id }) => ({ id }),
    answer: ({ receipt }) => receipt && ok(receiptJson(receipt)),
  }),
  row<'ListRefunds', Empty, StatusPage<RefundStatus> & Narrowed<{ paymentId: string }>>({
    method: 'GET',
    path: '/v1/public/refunds',
    operation: 'ListRefunds',
    field: 'Query.refunds',
    variables: ({ query }) => ({
      ...pageVariables(query),
      status: query.status ?? null,
      filter: narrowed(query, { paymentId: query.paymentId }),
    }),
    answer: ({ refunds: page }) => paged(page, refundJson),
  }),
];

export const links = [
  row<'CreateLink', PaymentLinkCreateInput>({
    method: 'POST',
    path: '/v1/public/links',
    operation: 'CreateLink',
    field: 'Mutation.linkCreate',
    idempotent: true,
    variables: ({ body, idempotency }) => ({ input: body, idempotency }),
    answer: ({ linkCreate: result }) => created({ link: linkJson(result.link) }, result.idempotent),
  }),
  row<'ListLinks', Empty, StatusPage<PaymentLinkStatus>>({
    method: 'GET',
    path: '/v1/public/links',
    operation: 'ListLinks',
    field: 'Query.paymentLinks',
    variables: ({ query }) => ({ ...pageVariables(query), status: query.status ?? null }),
    answer: ({ paymentLinks: page }) => paged(page, linkJson),
  }),
  row<'GetLink'>({
    method: 'GET',
    path: '/v1/public/links/{id}',
    operation: 'GetLink',
    field: 'Query.paymentLink',
    variables: ({ id }) => ({ id }),
    answer: ({ paymentLink }) => paymentLink && ok(linkJson(paymentLink)),
  }),
  row<'DeactivateLink'>({
    method: 'POST',
    path: '/v1/public/links/{id}/deactivate',
    operation: 'DeactivateLink',
    field: 'Mutation.linkDeactivate',
    variables: ({ id }) => ({ id }),
    answer: ({ linkDeactivate: result }) =>
      ok({ status: result.link.status, link: linkJson(result.link) }),
  }),
];
