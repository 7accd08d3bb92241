/** The payments that alerts are about, or whose refunds or receipts they are about. */
import type { Alert } from '../../kernel/alerts/entities.ts';
import { isUuid } from '../../kernel/rules/uuid.ts';
import { run, type Runner, type Statement } from '../../kernel/database/statement.ts';

export interface PaymentKey {
  readonly merchantId: string;
  readonly id: string;
}

// By primary keys alone.
const payments: Statement = {
  name: 'alert.payments',
  text: `select about.id as "subjectId", about.merchant_id as "merchantId", coalesce(payment.id, refund.payment_id, receipt.payment_id) as id
    from unnest((select $1::uuid[]), (select $2::uuid[])) as about (merchant_id, id)
    left join payment on payment.merchant_id = about.merchant_id and payment.id = about.id
    left join refund on refund.merchant_id = about.merchant_id and refund.id = about.id
    left join receipt on receipt.merchant_id = about.merchant_id and receipt.id = about.id
    where coalesce(payment.id, refund.payment_id, receipt.payment_id) is not null`,
};

/** The payment of each alert; null where there is none. */
export const findPaymentsOf = async (
  runner: Runner,
  alerts: readonly Pick<Alert, 'merchantId' | 'subjectId'>[],
): Promise<(PaymentKey | null)[]> => {
  const sane = alerts.filter(({ subjectId }) => isUuid(subjectId));
  const rows = await run<PaymentKey & { readonly subjectId: string }>(runner, payments, [
    sane.map(({ merchantId }) => merchantId),
    sane.map(({ subjectId }) => subjectId),
  ]);
  const found = new Map(rows.map((row) => [`${row.merchantId}/${row.subjectId}`, row]));
  return alerts.map(({ merchantId, subjectId }) => {
    const row = found.get(`${merchantId}/${subjectId}`);
    return row ? { merchantId, id: row.id } : null;
  });
};
