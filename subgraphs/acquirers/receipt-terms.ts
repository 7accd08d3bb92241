/**
 * Reads the terms of receipts for the orders of banks: the customer is sealed at rest, and unsealed
 * only while an order is in progress.
 */
import type { CustomerVault } from '../platform/database/kept-keys.ts';
import { runSharded, shardedByKey } from '../platform/database/sharding.ts';
import type { Runner } from '../platform/database/statement.ts';
import { minorUnits } from '../rules/money.ts';
import {
  type KeptItem,
  type ReceiptCustomer,
  type ReceiptTerms,
  nobody,
} from '../rules/receipt.ts';
import { nullable, object, parse, string } from 'valibot';

/** The owner of the terms: the subject that they came with. */
interface TermsKey {
  readonly merchantId: string;
  readonly termsId: string;
}

/** Terms in the order of their keys. Rejects when there are none for a key. */
export type ReadTerms = (keys: readonly TermsKey[]) => Promise<readonly ReceiptTerms[]>;

interface Row extends TermsKey {
  readonly taxSystem: number | null;
  readonly items: readonly KeptItem[];
  /** Null: it was erased. */
  readonly customer: string | null;
}

const read = shardedByKey(
  'receipt_terms.read',
  'subject_id',
  (ofKeys) =>
    `select merchant_id as "merchantId", subject_id as "termsId", tax_system as "taxSystem", items, customer_sealed as customer
    from receipt_terms where ${ofKeys}`,
);

const customerSchema = object({
  email: nullable(string()),
  phone: nullable(string()),
  fullName: nullable(string()),
  inn: nullable(string()),
});

/** A customer as it is sealed. */
export const sealedCustomer = (
  customers: Pick<CustomerVault, 'seal'>,
  customer: ReceiptCustomer,
): string => customers.seal(JSON.stringify(customer));

/** Opens the reader. */
export const openReadTerms =
  (pool: Runner, customers: Pick<CustomerVault, 'open'>): ReadTerms =>
  async (keys) => {
    const rows = await runSharded<Row, TermsKey>(pool, read, keys, (own) => [
      own.map(({ termsId }) => termsId),
    ]);
    const found = new Map(rows.map((row) => [`${row.merchantId}/${row.termsId}`, row]));
    const terms = keys.map(async ({ merchantId, termsId }): Promise<ReceiptTerms> => {
      const row = found.get(`${merchantId}/${termsId}`);
      if (!row) throw new Error(`there are no receipt terms of ${termsId}`);
      const { taxSystem, items, customer } = row;
      return {
        taxSystem,
        items: items.map((item) => ({ ...item, price: minorUnits(item.price) })),
        customer:
          customer === null
            ? nobody
            : parse(customerSchema, JSON.parse(await customers.open(customer))),
      };
    });
    return Promise.all(terms);
  };
