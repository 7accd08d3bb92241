/**
 * Reads payments and refunds, by id, by reference and as registries
 * (docs/contract.md#reading-payments).
 */
import type pg from 'pg';
import type { RefundFieldsFragment } from '../../schema/generated/operations.ts';
import { rfc3339 } from '../../schema/scalars.ts';
import { paymentJson } from '../../schema/wire.ts';
import { loadByKey, type RowKey } from '../platform/database/batch-calls.ts';
import type { ListTable, RowFilter } from '../platform/database/list-statements.ts';
import { type FoundPage, type ListedPage, openList } from '../platform/database/lists.ts';
import { emOn } from '../platform/database/orm-connections.ts';
import { columns, type Runner } from '../platform/database/statement.ts';
import { perCall } from '../platform/graph/subgraph.ts';
import { isUuid, publicIdInAnyCase } from '../rules/ids.ts';
import { capturableOf, capturedOf, netOf, refundStatuses } from './rules/amounts.ts';
import { paymentStatuses } from './rules/payment.ts';
import { PaymentEntity, type Payment, type Refund } from './entities.ts';
import { type openFindOfPayments, paymentNames, refundNames } from './store-payment.ts';

export const loadPayments = loadByKey<Payment>('payment', columns(paymentNames));

export const findNamed = async (runner: Runner, { merchantId, id }: RowKey) => {
  if (!publicIdInAnyCase.test(id)) return (await loadPayments(runner, [{ merchantId, id }]))[0];
  if (!isUuid(merchantId)) return null;
  const numbered = { merchantId, publicId: id.toUpperCase() };
  const found = await emOn(runner).findOne(PaymentEntity, numbered, { fields: ['id'] });
  return found && (await loadPayments(runner, [{ merchantId, id: found.id }]))[0];
};

export const loadRefunds = loadByKey<Refund>('refund', columns(refundNames));

export const paymentTable: ListTable = {
  name: 'payment',
  filters: { status: paymentStatuses },
};

/** Of payments that succeeded, those of which a part was refunded; all others match. */
export const refundedInPart = (isAsked: boolean | null | undefined): RowFilter => ({
  sql: (parameter) =>
    `(not ${parameter}::bool or payment.status <> 'succeeded' or payment.amount_refunded > 0)`,
  value: isAsked,
});

const refundTable: ListTable = { name: 'refund', filters: { status: refundStatuses } };

export type PaymentPage = FoundPage<Payment>;
export type RefundPage = ListedPage<Refund>;

/** Payments as their callers list them: a merchant's, narrowed, or of all merchants. */
export const pageOfPayments = openList<Payment>({
  table: paymentTable,
  columns: columns(paymentNames),
});
/** Refunds likewise. */
export const pageOfRefunds = openList<Refund>({
  table: refundTable,
  columns: columns(refundNames),
});

// A payment and a refund in the public JSON, as REST answers them and webhooks freeze them.

const text = (instant: Temporal.Instant | null): string | null => instant && rfc3339(instant);

/** The public JSON of a refund at this moment: its row in GET /v1/public/refunds. */
export const publicRefund = (refund: Refund): RefundFieldsFragment => ({
  id: refund.id,
  payment_id: refund.paymentId,
  merchant_id: refund.merchantId,
  amount: Number(refund.amount),
  reason: refund.reason,
  metadata: refund.metadata ?? {},
  status: refund.status,
  fail_reason: refund.failReason ?? '',
  created_at: rfc3339(refund.createdAt),
  completed_at: text(refund.completedAt),
});

/** An amount as the public JSON has it. */
export const publicAmount = (amount: bigint | null): number | null =>
  amount === null ? null : Number(amount);

/**
 * The public JSON of a payment at this moment: the body of GET /v1/public/payments/{id} and the
 * `data` of its webhooks.
 */
export const publicPayment = (payment: Payment, refunds: readonly Refund[]) =>
  paymentJson({
    id: payment.id,
    public_id: payment.publicId,
    merchant_id: payment.merchantId,
    shop_id: payment.shopId,
    terminal_id: payment.terminalId,
    terminal_name: payment.terminalName,
    shop_name: payment.shopName,
    order_id: payment.orderId,
    amount: Number(payment.amount),
    capture: payment.capture ?? 'automatic',
    amount_capturable: Number(capturableOf(payment)),
    amount_captured: Number(capturedOf(payment)),
    capture_before: text(payment.captureBefore),
    amount_refunded: Number(payment.amountRefunded),
    amount_usdt: payment.amountUsdt,
    currency: payment.currency,
    method: payment.method,
    status: payment.status,
    rrn: payment.rrn,
    bank_name: payment.bankName,
    return_url: payment.returnUrl,
    on_decline: payment.onDecline ?? 'return',
    description: payment.description,
    created_at: rfc3339(payment.createdAt),
    captured_at: text(payment.capturedAt),
    finalized_at: text(payment.finalizedAt),
    expires_at: rfc3339(payment.expiresAt),
    processing_until: text(payment.processingUntil),
    metadata: payment.metadata,
    customer_card_brand: payment.customerCardBrand,
    customer_card_mask: payment.customerCardMask,
    customer_card_holder: payment.customerCardHolder,
    customer_phone_mask: payment.customerPhoneMask,
    customer_payer_bank: payment.customerPayerBank,
    fee: publicAmount(payment.fee),
    fee_rate_bps: payment.feeRateBps,
    net: publicAmount(netOf(payment)),
    refunds: refunds.map(publicRefund),
  });

// How resolvers load a payment's rows, and the payment of a row, for all of a list at once.

export const rowsOfPayment = <Row extends { readonly paymentId: string }>(
  pool: pg.Pool,
  find: ReturnType<typeof openFindOfPayments<Row>>,
) =>
  perCall<Payment, Row[]>(async (payments, { meter }) => {
    const found = await find(pool, payments, meter?.rows_max ?? null);
    const byPayment = Map.groupBy(found, ({ paymentId }) => paymentId);
    return payments.map(({ id }) => byPayment.get(id) ?? []);
  });

/** The payment of a row; rejects where there is none. */
export const paymentOfRow = <Row extends RowKey & { readonly paymentId: string }>(pool: pg.Pool) =>
  perCall<Row, Payment>(async (rows) => {
    const keys = rows.map(({ merchantId, paymentId: id }) => ({ merchantId, id }));
    return (await loadPayments(pool, keys)).map((payment, index) => {
      if (!payment) throw new Error(`${rows[index]?.id} has no payment`);
      return payment;
    });
  });
