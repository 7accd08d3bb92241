/**
 * Reads payments and refunds, by id, by reference and as registries
 * (docs/contract.md#reading-payments).
 */
import { type FoundPage, type ListedPage, openList } from '../platform/database/lists.ts';
import { loadByKey, type RowKey } from '../platform/database/batch-calls.ts';
import type { RowFilter } from '../platform/database/list-statements.ts';
import { registry, type RegistryTable } from '../platform/database/registry.ts';
import { columns, run, type Runner, type Statement } from '../platform/database/statement.ts';
import { isUuid, publicIdInAnyCase } from '../rules/ids.ts';
import type { Payment } from './entities.ts';
import type { Refund } from './refunds/entities.ts';
import { paymentStatuses } from './rules/payment.ts';
import { refundStatuses } from './refunds/rules.ts';
import { paymentNames, refundNames } from './store-payment.ts';

export const loadPayments = loadByKey<Payment>('payment', columns(paymentNames));
const byPublicId: Statement = {
  name: 'payment.by_public_id',
  text: `select ${columns(paymentNames)} from payment where merchant_id = $1 and public_id = $2`,
};

/** A merchant's payment, by its id or its public number. */
export const findNamed = async (runner: Runner, { merchantId, id }: RowKey) => {
  if (!publicIdInAnyCase.test(id)) return (await loadPayments(runner, [{ merchantId, id }]))[0];
  if (!isUuid(merchantId)) return null;
  return (await run<Payment>(runner, byPublicId, [merchantId, id.toUpperCase()]))[0];
};

export const loadRefunds = loadByKey<Refund>('refund', columns(refundNames));

export const paymentTable: RegistryTable = {
  name: 'payment',
  filters: { status: paymentStatuses },
};

/** Of payments that succeeded, those of which a part was refunded; all others match. */
export const refundedInPart = (isAsked: boolean | null | undefined): RowFilter => ({
  sql: (parameter) =>
    `(not ${parameter}::bool or payment.status <> 'succeeded' or payment.amount_refunded > 0)`,
  value: isAsked,
});

const refundTable: RegistryTable = { name: 'refund', filters: { status: refundStatuses } };

export type PaymentPage = FoundPage<Payment>;
export type RefundPage = ListedPage<Refund>;

/** The payments registry, filtered by status. */
export const listPayments = registry<Payment>(paymentTable, columns(paymentNames));
/** The refunds registry, filtered by status. */
const listRefunds = registry<Refund>(refundTable, columns(refundNames));

/** Payments as their callers list them: the registry's, narrowed, or of all merchants. */
export const pageOfPayments = openList<Payment>(
  { table: paymentTable, columns: columns(paymentNames) },
  listPayments,
);
/** Refunds likewise. */
export const pageOfRefunds = openList<Refund>(
  { table: refundTable, columns: columns(refundNames) },
  listRefunds,
);
