/**
 * Reading payments and refunds: by id, by reference, as registries (contract GET
 * /v1/public/payments and /refunds).
 */
import { loadByKey } from '../kernel/database/load-by-key.ts';
import { registry, type RegistryTable } from '../kernel/database/registry.ts';
import { columns } from '../kernel/database/statement.ts';
import type { Payment } from './entities.ts';
import type { Refund } from './refunds/entities.ts';
import { paymentStatuses } from './rules/payment.ts';
import { refundStatuses } from './refunds/rules.ts';
import { paymentNames, refundNames } from './store-payment.ts';

export const loadPayments = loadByKey<Payment>('payment', columns(paymentNames));
export const loadRefunds = loadByKey<Refund>('refund', columns(refundNames));

export const paymentTable: RegistryTable = {
  name: 'payment',
  filters: { status: paymentStatuses },
};

/** The payments registry, filtered by status. */
export const listPayments = registry<Payment>(paymentTable, columns(paymentNames));
/** The refunds registry, filtered by status. */
export const listRefunds = registry<Refund>(
  { name: 'refund', filters: { status: refundStatuses } },
  columns(refundNames),
);
