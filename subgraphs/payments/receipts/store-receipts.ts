/** Reading and moving receipts. They are made with their movements (`store-payment`). */
import { raw } from '@mikro-orm/core';
import type { ReceiptFieldsFragment } from '../../../schema/generated/operations.ts';
import { rfc3339 } from '../../../schema/scalars.ts';
import { dueOn } from '../../platform/clock/due.ts';
import { loadByKey, lockByKey } from '../../platform/database/batch-calls.ts';
import { type ListedPage, openList } from '../../platform/database/lists.ts';
import { emOn } from '../../platform/database/orm-connections.ts';
import type { ListTable } from '../../platform/database/list-statements.ts';
import { eachMerchant } from '../../platform/database/sql-file.ts';
import {
  columns,
  propertyNames,
  run,
  type Runner,
  type Statement,
} from '../../platform/database/statement.ts';
import { insertEvents, type OutboxEvent } from '../../platform/events/outbox.ts';
import { asSubject } from '../../rules/event.ts';
import {
  receiptStatuses,
  type ReceiptCustomer,
  nobody,
  type ShownTerms,
} from '../../rules/receipt.ts';
import { openFindOfPayments } from '../store-payment.ts';
import { ReceiptEntity, type Receipt } from '../entities.ts';

const receiptColumns = columns(propertyNames(ReceiptEntity));

/** Receipts by merchant and id. */
export const loadReceipts = loadByKey<Receipt>('receipt', receiptColumns);

const table: ListTable = { name: 'receipt', filters: { status: receiptStatuses } };

export type ReceiptPage = ListedPage<Receipt>;

/** Receipts as their callers list them. */
export const pageOfReceipts = openList<Receipt>({
  table,
  columns: receiptColumns,
  isByColumnsOfAll: true,
});

/** The receipts of payments, oldest first. */
export const findReceipts = openFindOfPayments<Receipt>('receipt', receiptColumns);

/** Receipts about which their bank is to be asked. */
export const receiptAsks = dueOn<Receipt>({
  name: 'receipt_asks',
  table: 'receipt',
  at: 'ask_at',
  columns: receiptColumns,
  where: 'ask_at is not null',
  locked: true,
});

export const lockReceipt = lockByKey<Receipt>('receipt', receiptColumns);

/** Schedules the next query of locked receipts at `until`, in case this process dies. */
export const leaseReceipts = async (
  runner: Runner,
  receipts: readonly Receipt[],
  until: Temporal.Instant,
): Promise<readonly Receipt[]> => {
  await eachMerchant(receipts, async (own, merchantId) => {
    const these = { merchantId, id: { $in: own.map(({ id }) => id) } };
    const change = { version: raw('version + 1'), askAt: until };
    return [await emOn(runner).nativeUpdate(ReceiptEntity, these, change)];
  });
  return receipts.map((receipt) => ({ ...receipt, version: receipt.version + 1, askAt: until }));
};

const move: Statement = {
  name: 'receipt.move',
  text: `with moved as (update receipt set version = version + 1, status = $4, ask_at = $5, fiscal_storage_number = $6, fiscal_document_number = $7,
        fiscal_attribute = $8, registered_at = $9, failure_reason = $10, attempt = $11
      where merchant_id = $1 and id = $2 and version = $3 returning 1),
    published as (${insertEvents('$12', 'select 1 from moved')})
    select 1 from moved`,
};

/**
 * Writes a changed receipt and its events. Returns false, without an effect, if another transaction
 * has written it since it was read.
 */
export const moveReceipt = async (
  runner: Runner,
  { version }: Pick<Receipt, 'version'>,
  after: Receipt,
  events: readonly object[],
): Promise<boolean> => {
  const written = await run(runner, move, [
    after.merchantId,
    after.id,
    version,
    after.status,
    after.askAt,
    after.fiscalStorageNumber,
    after.fiscalDocumentNumber,
    after.fiscalAttribute,
    after.registeredAt,
    after.failureReason,
    after.attempt,
    JSON.stringify(events),
  ]);
  return written.length > 0;
};

// A receipt as GraphQL, the public JSON and its webhooks see it: the customer is masked, so that
// frozen bodies hold no personal data.

/** The customer as it is shown; without anything once it was erased. */
export const customerOf = ({ customerShown }: Pick<Receipt, 'customerShown'>): ReceiptCustomer =>
  customerShown ?? nobody;

const publicCustomer = ({ email, phone, fullName, inn }: ReceiptCustomer) => ({
  email,
  phone,
  full_name: fullName,
  inn,
});

/** What a receipt is made of, in the public JSON; without its customer's data once erased. */
export const publicTerms = ({ customer, taxSystem, items }: ShownTerms) => ({
  customer: publicCustomer(customer ?? nobody),
  tax_system: taxSystem,
  items: items.map((item) => ({
    description: item.description,
    quantity: item.quantity,
    price: item.price,
    vat_code: item.vatCode,
    payment_subject: item.paymentSubject,
    payment_mode: item.paymentMode,
    measure: item.measure,
    mark_code: item.markCode,
  })),
});

const publicReceipt = (receipt: Receipt): ReceiptFieldsFragment => ({
  id: receipt.id,
  payment_id: receipt.paymentId,
  refund_id: receipt.refundId,
  type: receipt.type,
  status: receipt.status,
  amount: Number(receipt.amount),
  currency: receipt.currency,
  ...publicTerms({ ...receipt, customer: receipt.customerShown }),
  fiscal_storage_number: receipt.fiscalStorageNumber,
  fiscal_document_number: receipt.fiscalDocumentNumber,
  fiscal_attribute: receipt.fiscalAttribute,
  registered_at: receipt.registeredAt && rfc3339(receipt.registeredAt),
  failure_reason: receipt.failureReason,
  created_at: rfc3339(receipt.createdAt),
});

/** A receipt's end: to the shop's endpoints, and to `url`, the payment's own address. */
export const receiptEnded = (
  receipt: Receipt,
  url: string | null,
  at: Temporal.Instant,
): OutboxEvent => {
  const event = receipt.status === 'failed' ? 'receipt.failed' : 'receipt.registered';
  const webhook = { event, data: publicReceipt(receipt), url } as const;
  return { ...asSubject(receipt), stream: null, webhook, at };
};
