/** Reading and moving receipts. They are made with their movements (`made-receipts`). */
import { runTwins, twinsByKey } from '../../kernel/database/spread.ts';
import { dueOn } from '../../kernel/clock/due.ts';
import { eachMerchant } from '../../kernel/database/by-merchant.ts';
import type { ListedPage } from '../../kernel/database/filtered-list.ts';
import type { ListedTable, RowFilter } from '../../kernel/database/list-statements.ts';
import { pageOf, type Page } from '../../kernel/database/keyset.ts';
import { loadByKey } from '../../kernel/database/load-by-key.ts';
import { openList, type ListRequest } from '../../kernel/database/open-list.ts';
import type { Reach } from '../../kernel/database/reach.ts';
import {
  distinct,
  registry,
  registryRange,
  registryText,
  type RegistryQuery,
  type RegistryTable,
} from '../../kernel/database/registry.ts';
import {
  columns,
  propertyNames,
  run,
  type Runner,
  type Statement,
} from '../../kernel/database/statement.ts';
import { insertEvents } from '../../kernel/events/outbox.ts';
import { receiptStatuses } from '../../kernel/rules/receipt.ts';
import { isRefused, refused, type Refused } from '../../kernel/rules/refusal.ts';
import { asCame } from '../../kernel/rules/repeatable.ts';
import type { Principal } from '../../kernel/service/access/principal.ts';
import { isUuid } from '../../kernel/rules/uuid.ts';
import { ReceiptEntity, type Receipt } from './entities.ts';

const receiptColumns = columns(propertyNames(ReceiptEntity));

/** Receipts by merchant and id. */
export const loadReceipts = loadByKey<Receipt>('receipt', receiptColumns);

const table: RegistryTable = { name: 'receipt', filters: { status: receiptStatuses } };
const listAll = registry<Receipt>(table, receiptColumns);

/** One payment's: its index has them in order, and a status is picked out of them. */
const statementOfPayment = (backwards: boolean): Statement => ({
  name: `receipt.list_of_payment${backwards ? '_backwards' : ''}`,
  text: registryText(
    {
      ...table,
      filters: {},
      always:
        'receipt.payment_id = $8::uuid and ($9::text[] is null or receipt.status = any ($9::text[]))',
    },
    receiptColumns,
    { filtered: false, backwards },
  ),
});
const [listOfPayment, listOfPaymentBackwards] = [
  statementOfPayment(false),
  statementOfPayment(true),
];

/** The registry of receipts, filtered by status and by payment (decision D-93). */
const listReceipts = async (
  runner: Runner,
  reach: Reach,
  { paymentId, ...query }: RegistryQuery & { readonly paymentId: string | null },
): Promise<Page<Receipt> | Refused> => {
  if (paymentId === null) return listAll(runner, reach, query);
  const status = query.filters['status'] ? distinct(query.filters['status']) : null;
  // The name binds a cursor to the payment.
  const named = { name: `receipt of ${paymentId} ${status?.join() ?? ''}`, filters: {} };
  const range = registryRange(named, reach, { ...query, filters: {} });
  if (isRefused(range)) return range;
  const statement = range.backwards ? listOfPaymentBackwards : listOfPayment;
  const values = [...range.values(range.size + 1), paymentId, status];
  return pageOf(await run<Receipt>(runner, statement, values), range);
};

export type ReceiptPage = ListedPage<Receipt>;

const listed: ListedTable = { table, columns: receiptColumns, isByColumnsOfAll: true };

/**
 * Receipts as their callers list them: the registry's, narrowed, or of all merchants. `bad_request`
 * for a wrong filter, day, size or cursor, and for a payment's id that is none.
 */
export const pageOfReceipts = async (
  runner: Runner,
  principal: Principal,
  { paymentId: named, ...request }: ListRequest & { readonly paymentId: string | null },
): Promise<ReceiptPage | Refused> => {
  if (named !== null && !isUuid(named))
    return refused('bad_request', `payment_id: expected a UUID, got ${asCame(named)}`);
  const paymentId = named?.toLowerCase() ?? null;
  const ofPayment: RowFilter = {
    sql: (parameter) => `receipt.payment_id::text = ${parameter}`,
    value: paymentId,
  };
  const read = openList<Receipt>(listed, (on, reach, query) =>
    listReceipts(on, reach, { ...query, paymentId }),
  );
  return read(runner, principal, { ...request, rows: [...(request.rows ?? []), ofPayment] });
};

const byPayments = twinsByKey(
  'receipt.of_payments',
  'payment_id',
  (ofKeys) =>
    `select ${receiptColumns} from receipt where ${ofKeys} order by created_at, id limit $3`,
);

/** The receipts of payments, oldest first, at most so many of all together; null: all of them. */
export const findReceipts = async (
  runner: Runner,
  payments: readonly { readonly merchantId: string; readonly id: string }[],
  limit: number | null = null,
): Promise<Receipt[]> => {
  type Key = (typeof payments)[number];
  const receipts = await runTwins<Receipt, Key>(runner, byPayments, payments, (own) => [
    own.map(({ id }) => id),
    limit,
  ]);
  return limit === null ? receipts : receipts.slice(0, limit);
};

/** Receipts about which their bank is to be asked. */
export const receiptAsks = dueOn<Receipt>({
  name: 'receipt_asks',
  table: 'receipt',
  at: 'ask_at',
  columns: receiptColumns,
  where: 'ask_at is not null',
  locked: true,
});

const lock: Statement = {
  name: 'receipt.lock',
  text: `select ${receiptColumns} from receipt where merchant_id = $1 and id = $2 for update`,
};

/** A receipt that nobody else can change until the transaction ends; null when there is none. */
export const lockReceipt = async (
  runner: Runner,
  { merchantId, id }: { readonly merchantId: string; readonly id: string },
): Promise<Receipt | null> => (await run<Receipt>(runner, lock, [merchantId, id]))[0] ?? null;

const lease: Statement = {
  name: 'receipt.lease',
  text: `update receipt set version = version + 1, ask_at = $3
    where merchant_id = $1 and id = any ($2::uuid[])`,
};

/** Has locked receipts asked about again at `until`, whatever becomes of who asks now. */
export const leaseReceipts = async (
  runner: Runner,
  receipts: readonly Receipt[],
  until: Temporal.Instant,
): Promise<readonly Receipt[]> => {
  await eachMerchant(receipts, (own, merchantId) =>
    run(runner, lease, [merchantId, own.map(({ id }) => id), until]),
  );
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
 * Writes what may change of a receipt, and the events of it; false when it was written by somebody
 * else since it was read, and then nothing has happened.
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
