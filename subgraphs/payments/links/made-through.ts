/** The payments of a link, as a condition of a list. */
import type { RowFilter } from '../../platform/database/list-statements.ts';

/** A payment was made through this link; null or undefined: whatever it was made through. */
export const madeThrough = (linkId: string | null | undefined): RowFilter => ({
  sql: (parameter, merchant) =>
    `exists (select 1 from link_payment as through where through.merchant_id = ${merchant() ?? 'payment.merchant_id'}
      and through.payment_id = payment.id and through.link_id::text = ${parameter})`,
  value: linkId?.toLowerCase(),
});
