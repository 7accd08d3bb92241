/**
 * What a buyer does at the simulated bank, on the hosted page's own bank step: test mode only
 * (decision D-30).
 */
import type { Banks } from '../../kernel/banks/route.ts';
import type { Database } from '../../kernel/database/orm.ts';
import { isRefused, refused, type Refused } from '../../kernel/rules/refusal.ts';
import { askBank } from '../bank-answers/ask-bank.ts';
import type { Payment } from '../entities.ts';
import { findPayment, type PaymentKey } from '../store-payment.ts';

/**
 * Confirms or declines at the simulated bank, then asks it. A payment that is final already is
 * given back as it is.
 */
export const confirmSimulator = async (
  database: Database,
  banks: Banks,
  key: PaymentKey,
  approve: boolean,
  now: Temporal.Instant,
): Promise<Payment | Refused> => {
  const found = await findPayment(database.pool, key, now);
  if (!found) return refused('not_found', 'there is no such payment');
  const { payment } = found;
  if (payment.mode !== 'test')
    return refused('bad_request', 'only a test payment is confirmed here');
  if (payment.status === 'pending')
    return refused('bad_request', 'the buyer has not gone on to the bank yet');
  await banks.simulator.confirm(
    { merchantId: key.merchantId, operationId: key.paymentId, now },
    approve,
  );
  const asked = await askBank(database, banks, key, now);
  return isRefused(asked) ? payment : asked;
};
