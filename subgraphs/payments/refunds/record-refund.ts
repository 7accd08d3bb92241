/** Puts refunds into the merchant's audit log. Contract "Refund": a reason is recorded there. */
import type pg from 'pg';
import { writeEntries, type Acting, type WrittenEntry } from '../../kernel/database/audit.ts';
import type { Payment } from '../entities.ts';
import type { Refund } from './entities.ts';

/** The entry of a refund that `acting` has ordered. */
export const refundEntry = (
  acting: Acting,
  { publicId, currency }: Payment,
  { merchantId, id, amount, reason }: Refund,
): WrittenEntry => ({
  acting,
  action: { action: 'refund.create', merchantId, subject: { kind: 'refund', id } },
  before: null,
  after: { payment: publicId, amount, currency, reason },
});

/** Writes the entry in the transaction that makes the refund. */
export const recordRefund = (
  client: pg.PoolClient,
  acting: Acting,
  payment: Payment,
  refund: Refund,
): Promise<void> => writeEntries(client, [refundEntry(acting, payment, refund)]);
