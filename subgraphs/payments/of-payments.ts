/** How resolvers load a payment's rows, and the payment of a row, for all of a list at once. */
import type pg from 'pg';
import type { RowKey } from '../platform/database/batch-calls.ts';
import { perCall } from '../platform/graph/subgraph.ts';
import type { Payment } from './entities.ts';
import { loadPayments } from './find-payments.ts';
import type { openFindOfPayments } from './store-payment.ts';

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
