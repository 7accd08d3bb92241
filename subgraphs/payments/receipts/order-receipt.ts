/**
 * Receipts that a merchant orders: the closing receipt after a prepayment, once the goods are
 * handed over (docs/contract.md#closing-receipts), and a failed receipt again.
 */
import type pg from 'pg';
import { insertTerms, termsRow, type GivenReceipt } from '../../acquirers/receipt-terms.ts';
import { writeEntry, type Acting } from '../../platform/database/audit.ts';
import {
  claimOf,
  createOnce,
  type Created,
  type IdempotencyArgument,
} from '../../platform/database/idempotency.ts';
import type { Database } from '../../platform/database/orm.ts';
import { emOn } from '../../platform/database/orm-connections.ts';
import { newRowId, inTransaction } from '../../platform/database/statement.ts';
import { isUuid } from '../../rules/ids.ts';
import { receiptDelay_ms, shownTerms, sumMistake } from '../../rules/receipt.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import { actingOf, isOfCaller, type PaymentCaller } from '../parts.ts';
import { ReceiptEntity, type Receipt, type Payment } from '../entities.ts';
import { capturedOf } from '../rules/amounts.ts';
import { lockPayment } from '../lock-payment.ts';
import { isPrepaid } from './rules.ts';
import { findReceipts, loadReceipts, lockReceipt, moveReceipt } from './store-receipts.ts';

interface ClosingRequest {
  readonly paymentId: string;
  readonly receipt: GivenReceipt;
  /** For the audit log. */
  readonly requestId: string;
  readonly idempotency?: IdempotencyArgument;
}

/** A closing receipt that its bank has not seen. */
const closingReceipt = (
  { merchantId, id: paymentId, shopId, mode, currency }: Payment,
  { id, amount }: Pick<Receipt, 'id' | 'amount'>,
  { terms }: GivenReceipt,
  now: Temporal.Instant,
): Receipt => {
  const { taxSystem, items, customer } = shownTerms(terms);
  return {
    merchantId,
    id,
    version: 1,
    shopId,
    mode,
    paymentId,
    refundId: null,
    type: 'closing',
    status: 'pending',
    amount,
    currency,
    termsId: id,
    taxSystem,
    items,
    customerShown: customer,
    fiscalStorageNumber: null,
    fiscalDocumentNumber: null,
    fiscalAttribute: null,
    registeredAt: null,
    failureReason: null,
    attempt: 0,
    askAt: now.add({ milliseconds: receiptDelay_ms }),
    createdAt: now,
  };
};

/** Why the payment has no closing receipt to come; null when it has. */
const obstacle = (payment: Payment, receipts: readonly Receipt[]): Refusal | null => {
  if (payment.status !== 'succeeded')
    return refuse(
      'payment_not_succeeded',
      `the payment is ${payment.status}; only a succeeded payment has a closing receipt`,
    );
  if (receipts.some(({ type }) => type === 'closing'))
    return refuse('receipt_not_expected', 'the payment already has a closing receipt');
  return receipts.some(({ type, items }) => type === 'payment' && isPrepaid(items))
    ? null
    : refuse(
        'receipt_not_expected',
        'the payment’s receipt has no prepayment item (payment_mode full_prepayment or prepayment)',
      );
};

const close = async (
  client: pg.PoolClient,
  caller: PaymentCaller,
  id: string,
  { paymentId, receipt, requestId }: ClosingRequest,
  now: Temporal.Instant,
): Promise<Receipt | Refusal> => {
  const { merchantId } = caller;
  const locked = await lockPayment(client, { merchantId, paymentId }, now);
  if (!locked || !isOfCaller(locked.payment, caller))
    return refuse('not_found', 'there is no such payment');
  const { payment } = locked;
  const amount = capturedOf(payment) - payment.amountRefunded;
  const refusal =
    obstacle(payment, await findReceipts(client, [payment])) ?? sumMistake(receipt.terms, amount);
  if (refusal) return refusal;
  const whose = { ...payment, subjectId: id, paymentId, createdAt: now };
  await insertTerms(client, [termsRow(receipt, whose)]);
  const made = closingReceipt(payment, { id, amount }, receipt, now);
  await emOn(client).insert(ReceiptEntity, made);
  await writeEntry(
    client,
    actingOf(caller, requestId, now),
    { action: 'receipt.close', merchantId, id },
    { before: null, after: { payment: payment.publicId, amount, currency: payment.currency } },
  );
  return made;
};

/**
 * Makes the closing receipt of a payment of the caller, or finds the one that an earlier call with
 * the same idempotency key made. Refuses with `not_found`, `payment_not_succeeded`,
 * `receipt_not_expected`, `bad_request` (the sum), or about the key; nothing was made then.
 */
export const closePayment = async (
  { pool }: Pick<Database, 'pool'>,
  caller: PaymentCaller,
  request: ClosingRequest,
  now: Temporal.Instant,
): Promise<Created<Receipt> | Refusal> => {
  const { paymentId, receipt, idempotency } = request;
  const claim = claimOf(idempotency, 'receiptClose', { paymentId, receipt: receipt.terms });
  if (isRefusal(claim)) return claim;
  if (!isUuid(paymentId)) return refuse('not_found', 'there is no such payment');
  const { merchantId } = caller;
  const find = async (receiptId: string): Promise<Receipt | null> =>
    (await loadReceipts(pool, [{ merchantId, id: receiptId }]))[0] ?? null;
  const id = newRowId();
  return createOnce(pool, { caller, claim, find, resourceId: id, at: now }, (client) =>
    close(client, caller, id, request, now),
  );
};

// Sends a receipt again that the cash register refused: it is pending again, and ordered as an
// attempt of its own. Audited.

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
  inTransaction(pool, async (client): Promise<Receipt | Refusal> => {
    const receipt = await lockReceipt(client, key);
    if (!receipt) return refuse('not_found', 'there is no such receipt');
    const after = resent(receipt, now);
    if (isRefusal(after)) return after;
    await moveReceipt(client, receipt, after, []);
    const { merchantId, id } = key;
    const shown = ({ status, attempt }: Receipt) => ({ status, attempt });
    await writeEntry(
      client,
      acting,
      { action: 'receipt.resend', merchantId, id },
      { before: shown(receipt), after: shown(after) },
    );
    return { ...after, version: receipt.version + 1 };
  });
