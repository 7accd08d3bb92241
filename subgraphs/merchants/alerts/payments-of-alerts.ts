/** Finds the payments behind alerts about payments, refunds and receipts. */
import type { Alert } from '../../kernel/alerts/entities.ts';
import { isUuid } from '../../kernel/rules/uuid.ts';
import { runTwins, type Twins } from '../../kernel/database/spread.ts';
import type { Runner } from '../../kernel/database/statement.ts';

export interface PaymentKey {
  readonly merchantId: string;
  readonly id: string;
}

type About = Pick<Alert, 'merchantId' | 'subjectId'>;

/** SQL: reads primary keys only. `merchant` owns the alert's subject. */
const paymentsOf = (about: string, merchant: string): string =>
  `select about.id as "subjectId", ${merchant}::uuid as "merchantId", coalesce(payment.id, refund.payment_id, receipt.payment_id) as id
    from ${about}
    left join payment on payment.merchant_id = ${merchant} and payment.id = about.id
    left join refund on refund.merchant_id = ${merchant} and refund.id = about.id
    left join receipt on receipt.merchant_id = ${merchant} and receipt.id = about.id
    where coalesce(payment.id, refund.payment_id, receipt.payment_id) is not null`;

const payments: Twins = {
  ofAll: {
    name: 'alert.payments',
    text: paymentsOf(
      'unnest((select $1::uuid[]), (select $2::uuid[])) as about (merchant_id, id)',
      'about.merchant_id',
    ),
  },
  ofMerchant: {
    name: 'alert.payments_of_merchant',
    text: paymentsOf('unnest((select $2::uuid[])) as about (id)', '$1'),
  },
};

/** The payment of each alert; null where there is none. */
export const findPaymentsOf = async (
  runner: Runner,
  alerts: readonly About[],
): Promise<(PaymentKey | null)[]> => {
  const sane = alerts.filter(({ subjectId }) => isUuid(subjectId));
  const rows = await runTwins<PaymentKey & { readonly subjectId: string }, About>(
    runner,
    payments,
    sane,
    (own) => [own.map(({ subjectId }) => subjectId)],
  );
  const found = new Map(rows.map((row) => [`${row.merchantId}/${row.subjectId}`, row]));
  return alerts.map(({ merchantId, subjectId }) => {
    const row = found.get(`${merchantId}/${subjectId}`);
    return row ? { merchantId, id: row.id } : null;
  });
};
