/** Payments, refunds, receipts and payment links. */
import type * as graph from '../../schema/generated/operations.ts';
import { paymentJson, wholePaymentJson } from '../../schema/wire.ts';
import { publicIdInAnyCase } from '../../subgraphs/rules/ids.ts';
import {
  row,
  ok,
  created,
  paged,
  narrowed,
  pageVariables,
  bodyAsInput,
  type Giving,
  type Asking,
  type ValidRequest,
  type Page,
  type Narrowed,
} from './route.ts';

type PaymentsQuery = Page<graph.PaymentStatus> &
  Narrowed<{ orderId: string; customerId: string }> & { includeTest?: '0' | '1' };

export const payments = [
  row('POST', '/payments', 'CreatePayment', 'Mutation.paymentCreate', {
    idempotent: true,
    variables: bodyAsInput<graph.PaymentCreateInput>,
    answer: ({ paymentCreate: result }) =>
      created({ ...result, payment: wholePaymentJson(result.payment) }, result.idempotent),
  }),
  row('GET', '/payments', 'ListPayments', 'Query.payments', {
    variables: ({ query }: Asking<PaymentsQuery>) => ({
      ...pageVariables(query),
      includeTest: query.includeTest === '1',
      filter: narrowed(query, { orderId: query.orderId, customerId: query.customerId }),
    }),
    answer: ({ payments: page }) => paged(page, paymentJson),
  }),
  row('GET', '/payments/{id}', 'GetPayment', 'Query.payment', {
    otherId: publicIdInAnyCase,
    variables: ({ id }) => ({ id }),
    answer: ({ payment }) => payment && ok(wholePaymentJson(payment)),
  }),
  row('POST', '/payments/{id}/cancel', 'CancelPayment', 'Mutation.paymentCancel', {
    variables: ({ id }) => ({ id }),
    answer: ({ paymentCancel: result }) => ok({ status: result.payment.status }),
  }),
  row('POST', '/payments/{id}/capture', 'CapturePayment', 'Mutation.paymentCapture', {
    idempotent: true,
    variables: ({ id, body, idempotency }: Giving<graph.CapturePaymentMutationVariables>) => ({
      ...body,
      id,
      idempotency,
    }),
    answer: ({ paymentCapture: result }) => ({
      status: 200,
      body: { payment: wholePaymentJson(result.payment) },
      replayed: result.idempotent,
    }),
  }),
  row('POST', '/payments/{id}/refund', 'CreateRefund', 'Mutation.refundCreate', {
    idempotent: true,
    variables: ({ id, body, idempotency }: Giving<graph.CreateRefundMutationVariables>) => ({
      ...body,
      paymentId: id,
      idempotency,
    }),
    answer: ({ refundCreate: result }) => created(result.refund, result.idempotent),
  }),
  row('POST', '/payments/{id}/receipts', 'CloseReceipt', 'Mutation.receiptClose', {
    idempotent: true,
    bodyIsArgument: 'receipt',
    variables: ({ id, body, idempotency }: ValidRequest<graph.ReceiptInput>) => ({
      paymentId: id,
      receipt: body,
      idempotency,
    }),
    answer: ({ receiptClose: result }) => created({ receipt: result.receipt }, result.idempotent),
  }),
  row('GET', '/receipts', 'ListReceipts', 'Query.receipts', {
    variables: ({ query }: Asking<Page<graph.ReceiptStatus> & { paymentId?: string }>) => ({
      ...pageVariables(query),
      paymentId: query.paymentId,
    }),
    answer: ({ receipts: page }) => paged(page),
  }),
  row('GET', '/receipts/{id}', 'GetReceipt', 'Query.receipt', {
    variables: ({ id }) => ({ id }),
    answer: ({ receipt }) => receipt && ok(receipt),
  }),
  row('GET', '/refunds', 'ListRefunds', 'Query.refunds', {
    variables: ({ query }: Asking<Page<graph.RefundStatus> & Narrowed<{ paymentId: string }>>) => ({
      ...pageVariables(query),
      filter: narrowed(query, { paymentId: query.paymentId }),
    }),
    answer: ({ refunds: page }) => paged(page),
  }),
];

export const links = [
  row('POST', '/links', 'CreateLink', 'Mutation.linkCreate', {
    idempotent: true,
    variables: bodyAsInput<graph.PaymentLinkCreateInput>,
    answer: ({ linkCreate: result }) => created({ link: result.link }, result.idempotent),
  }),
  row('GET', '/links', 'ListLinks', 'Query.paymentLinks', {
    variables: ({ query }: Asking<Page<graph.PaymentLinkStatus>>) => pageVariables(query),
    answer: ({ paymentLinks: page }) => paged(page),
  }),
  row('GET', '/links/{id}', 'GetLink', 'Query.paymentLink', {
    variables: ({ id }) => ({ id }),
    answer: ({ paymentLink }) => paymentLink && ok(paymentLink),
  }),
  row('POST', '/links/{id}/deactivate', 'DeactivateLink', 'Mutation.linkDeactivate', {
    variables: ({ id }) => ({ id }),
    answer: ({ linkDeactivate: result }) => ok({ status: result.link.status, link: result.link }),
  }),
];
