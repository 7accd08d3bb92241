/** Puts a refund into the merchant's audit log. Contract "Refund": its reason is recorded there. */
import type pg from 'pg';
import { writeEntry, type Acting } from '../../kernel/database/audit.ts';
import type { Payment } from '../entities.ts';
import type { Refund } from './entities.ts';

/** Writes the entry in the transaction that makes the refund; `acting` is who ordered it. */
export const recordRefund = (
  client: pg.PoolClient,
  acting: Acting,
  { publicId, currency }: Payment,
  { merchantId, id, ...refund }: Refund,
): Promise<void> => {
  const after = { payment: publicId, amount: refund.amount, currency, reason: refund.reason };
  return writeEntry(
    client,
    acting,
    { action: 'refund.create', merchantId, subject: { kind: 'refund', id } },
    { before: null, after },
  );
};
