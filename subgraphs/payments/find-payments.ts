/**
 * Reads payments and refunds, by id, by reference and as registries
 * (docs/contract.md#reading-payments).
 */
import type pg from 'pg';
import { rfc3339 } from '../../schema/scalars.ts';
import {
  paymentJson,
  refundJson,
  type PaymentFieldsFragment,
  type RefundFieldsFragment,
} from '../../schema/wire.ts';
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

// A payment and a refund as GraphQL and the public JSON see them. The frozen webhook body is made
// of the same view.

const text = (instant: Temporal.Instant | null): string | null => instant && rfc3339(instant);

const refundView = (refund: Refund): RefundFieldsFragment => ({
  id: refund.id,
  paymentId: refund.paymentId,
  merchantId: refund.merchantId,
  amount: Number(refund.amount),
  reason: refund.reason,
  metadata: refund.metadata ?? {},
  status: refund.status,
  failReason: refund.failReason ?? '',
  createdAt: rfc3339(refund.createdAt),
  completedAt: text(refund.completedAt),
});

/** The public JSON of a refund at this moment: its row in GET /v1/public/refunds. */
export const publicRefund = (refund: Refund): ReturnType<typeof refundJson> =>
  refundJson(refundView(refund));

/** An amount as the public JSON has it. */
export const publicAmount = (amount: bigint | null): number | null =>
  amount === null ? null : Number(amount);

/**
 * The public JSON of a payment at this moment: the body of GET /v1/public/payments/{id} and the
 * `data` of its webhooks.
 */
export const publicPayment = (
  payment: Payment,
  refunds: readonly Refund[],
): ReturnType<typeof paymentJson> => {
  const view: PaymentFieldsFragment = {
    ...payment,
    amount: Number(payment.amount),
    capture: payment.capture ?? 'automatic',
    onDecline: payment.onDecline ?? 'return',
    amountCapturable: Number(capturableOf(payment)),
    amountCaptured: Number(capturedOf(payment)),
    captureBefore: text(payment.captureBefore),
    amountRefunded: Number(payment.amountRefunded),
    fee: publicAmount(payment.fee),
    net: publicAmount(netOf(payment)),
    createdAt: rfc3339(payment.createdAt),
    expiresAt: rfc3339(payment.expiresAt),
    capturedAt: text(payment.capturedAt),
    finalizedAt: text(payment.finalizedAt),
    processingUntil: text(payment.processingUntil),
    refunds: refunds.map(refundView),
  };
  return paymentJson(view);
};

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
