import { raiseAlert } from '../../kernel/alerts/raise-alert.ts';
import type { Database } from '../../kernel/database/orm.ts';
import type { Payment } from '../entities.ts';

/**
 * The bank denies a payment that the merchant was told is paid. Nothing moves automatically; a
 * person must contact the bank.
 */
export const alertOfContradiction = (
  database: Database,
  { merchantId, shopId, mode, id, publicId, status }: Payment,
  connector: string,
  bankCode: string,
  at: Temporal.Instant,
): Promise<boolean> => {
  const detail = `${connector} refused ${publicId} (${bankCode}) after it had approved it; the payment stays ${status}`;
  return raiseAlert(database.pool, {
    kind: 'bank_answer_contradicts',
    merchantId,
    shopId,
    mode,
    subjectId: id,
    detail,
    at,
  });
};
