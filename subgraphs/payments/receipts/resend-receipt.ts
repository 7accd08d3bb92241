/**
 * Sends a receipt again that the cash register refused: it is pending again, and ordered as an
 * attempt of its own. Audited.
 */
import { writeEntries, type Acting } from '../../platform/database/audit.ts';
import type { Database } from '../../platform/database/orm.ts';
import { inTransaction } from '../../platform/database/statement.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import type { Receipt } from './entities.ts';
import { lockReceipt, moveReceipt } from './store-receipts.ts';

/** The receipt as it is sent again; why it is not, when it is not. */
const resent = (receipt: Receipt, now: Temporal.Instant): Receipt | Refusal => {
  if (receipt.status !== 'failed')
    return refuse(
      'receipt_not_expected',
      `the receipt is ${receipt.status}; only a failed one is sent again`,
    );
  if (receipt.customerShown === null)
    return refuse(
      'bad_request',
      'the data of the customer was erased, so the receipt cannot be sent',
    );
  return {
    ...receipt,
    status: 'pending',
    failureReason: null,
    attempt: receipt.attempt + 1,
    askAt: now,
  };
};

/**
 * Sends the receipt again; of many such calls at once one has effect. Refuses with `not_found`,
 * with `receipt_not_expected` one that has not failed, and with `bad_request` one whose customer
 * was erased.
 */
export const resendReceipt = (
  { pool }: Pick<Database, 'pool'>,
  acting: Acting,
  key: { readonly merchantId: string; readonly id: string },
  now: Temporal.Instant,
): Promise<Receipt | Refusal> =>
  inTransaction(
    pool,
    async (client): Promise<Receipt | Refusal> => {
      const receipt = await lockReceipt(client, key);
      if (!receipt) return refuse('not_found', 'there is no such receipt');
      const after = resent(receipt, now);
      if (isRefusal(after)) return after;
      await moveReceipt(client, receipt, after, []);
      const { merchantId, id } = key;
      await writeEntries(client, [
        {
          acting,
          action: { action: 'receipt.resend', merchantId, subject: { kind: 'receipt', id } },
          before: { status: receipt.status, attempt: receipt.attempt },
          after: { status: after.status, attempt: after.attempt },
        },
      ]);
      return { ...after, version: receipt.version + 1 };
    },
    (answer) => !isRefusal(answer),
  );
