/**
 * Reads the terms of receipts for the orders of banks: the customer is sealed at rest, and unsealed
 * only while an order is in progress.
 */
import * as v from 'valibot';
import type { CustomerVault } from '../platform/database/kept-keys.ts';
import { emOn } from '../platform/database/orm-connections.ts';
import type { Runner } from '../platform/database/statement.ts';
import { minorUnits } from '../rules/money.ts';
import {
  receiptTerms,
  type ReceiptInput,
  type ReceiptTerms,
  nobody,
  keptItem,
  shownCustomer,
} from '../rules/receipt.ts';
import { isRefusal, type Refusal } from '../rules/refusal.ts';
import { ReceiptTermsEntity, type NewTerms } from './entities.ts';

/** The terms of a merchant by the subject that they came with. Rejects when there are none. */
export type ReadTerms = (merchantId: string, subjectId: string) => Promise<ReceiptTerms>;

const customerSchema = v.object({
  email: v.nullable(v.string()),
  phone: v.nullable(v.string()),
  fullName: v.nullable(v.string()),
  inn: v.nullable(v.string()),
});

export const openReadTerms =
  (pool: Runner, customers: Pick<CustomerVault, 'open'>): ReadTerms =>
  async (merchantId, subjectId) => {
    const key = { merchantId, subjectId };
    const terms = await emOn(pool).findOneOrFail(ReceiptTermsEntity, key);
    const { taxSystem = null, items, customerSealed: customer = null } = terms;
    return {
      taxSystem,
      items: items.map((item) => ({ ...item, price: minorUnits(item.price) })),
      customer:
        customer === null
          ? nobody
          : v.parse(customerSchema, JSON.parse(await customers.open(customer))),
    };
  };

// A receipt that a call gives: checked, and made a row of terms with its customer sealed and
// masked.

/** A receipt that was given, ready to be written with its subject. */
export interface GivenReceipt {
  readonly terms: ReceiptTerms;
  readonly customerSealed: string;
}

/** Checks and seals what was given; null when nothing was. Refuses with `bad_request`. */
export const givenReceipt = (
  customers: Pick<CustomerVault, 'seal'>,
  input: ReceiptInput | null | undefined,
  now: Temporal.Instant,
): GivenReceipt | Refusal | null => {
  if (!input) return null;
  const terms = receiptTerms(input, now);
  if (isRefusal(terms)) return terms;
  return { terms, customerSealed: customers.seal(JSON.stringify(terms.customer)) };
};

/** Whose terms they become. */
type Subject = Omit<NewTerms, 'taxSystem' | 'items' | 'customerSealed' | 'customerShown'>;

export const termsRow = (
  { terms, customerSealed }: GivenReceipt,
  { merchantId, subjectId, shopId, mode, paymentId, createdAt }: Subject,
): NewTerms => ({
  merchantId,
  subjectId,
  shopId,
  mode,
  paymentId,
  createdAt,
  taxSystem: terms.taxSystem,
  items: terms.items.map(keptItem),
  customerSealed,
  customerShown: shownCustomer(terms.customer),
});

/** Writes rows of terms in the transaction of their subjects; nothing where there are none. */
export const insertTerms = async (runner: Runner, rows: readonly NewTerms[]): Promise<void> => {
  if (rows.length > 0) await emOn(runner).insertMany(ReceiptTermsEntity, [...rows]);
};

/** Takes terms back whose subject was refused. */
export const forgetTerms = async (
  runner: Runner,
  merchantId: string,
  subjectId: string,
): Promise<void> => {
  await emOn(runner).nativeDelete(ReceiptTermsEntity, { merchantId, subjectId });
};

/** The code of a marked product (tag 1163), as a scanner reads it; its form tells its kind. */
export interface MarkCode {
  readonly kind: 'ean8' | 'ean13' | 'itf14' | 'gs1m' | 'fur' | 'unknown';
  readonly code: string;
}

const forms = [
  ['fur', /^[A-Z]{2}-[A-Z0-9]{6}-[A-Z0-9]{10}$/],
  ['ean8', /^\d{8}$/],
  ['ean13', /^\d{13}$/],
  ['itf14', /^\d{14}$/],
  // A Data Matrix of GS1: its first field is the product, its second the serial number.
  ['gs1m', /^01\d{14}21.{1,182}$/s],
  ['unknown', /^.{1,32}$/s],
] as const;

/** A code by its kind; null when a receipt has no room for it. */
export const markCodeOf = (code: string): MarkCode | null => {
  const kind = forms.find(([, form]) => form.test(code))?.[0];
  return kind ? { kind, code } : null;
};
