/**
 * A receipt that a call gives: checked, and made a row of terms with its customer sealed and
 * masked.
 */
import { sealedCustomer } from '../receipt-terms.ts';
import type { CustomerVault } from '../../platform/database/kept-keys.ts';
import {
  columnNames,
  propertyNames,
  rowJson,
  run,
  type Runner,
  type Statement,
} from '../../platform/database/statement.ts';
import type { Mode } from '../../rules/mode.ts';
import { keptItem, type ReceiptTerms, shownCustomer } from '../../rules/receipt.ts';
import { receiptTerms, type ReceiptInput } from '../../rules/receipt-terms.ts';
import { isRefusal, type Refusal } from '../../rules/refusal.ts';
import { ReceiptTermsEntity, type NewTerms } from './entities.ts';

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
  return { terms, customerSealed: sealedCustomer(customers, terms.customer) };
};

const names = propertyNames(ReceiptTermsEntity);

/** Whose terms they become. */
type Subject = Pick<
  NewTerms,
  'merchantId' | 'subjectId' | 'shopId' | 'mode' | 'paymentId' | 'createdAt'
> & { readonly mode: Mode };

/** The row of terms as JSON, for the statement that writes their subject. */
export const termsRow = ({ terms, customerSealed }: GivenReceipt, subject: Subject): object => {
  const row: NewTerms = {
    ...subject,
    taxSystem: terms.taxSystem,
    items: terms.items.map(keptItem),
    customerSealed,
    customerShown: shownCustomer(terms.customer),
  };
  return rowJson(names, row);
};

/** SQL: writes rows of terms out of `rows`, a query of JSON objects named `row`. */
const insertTermsFrom = (rows: string): string =>
  `insert into receipt_terms (${columnNames(names)})
    select ${names.map((name) => `made.${columnNames([name])}`).join(', ')}
    from (${rows}) as given cross join lateral json_populate_record(null::receipt_terms, given.row) as made`;

const insert: Statement = {
  name: 'receipt_terms.create',
  text: insertTermsFrom('select value as row from json_array_elements($1::json)'),
};

/** Writes rows of `termsRow` in the transaction of their subjects; nothing where there are none. */
export const insertTerms = async (runner: Runner, rows: readonly object[]): Promise<void> => {
  if (rows.length > 0) await run(runner, insert, [JSON.stringify(rows)]);
};

const remove: Statement = {
  name: 'receipt_terms.delete',
  text: `delete from receipt_terms where merchant_id = $1 and subject_id = $2`,
};

/** Takes terms back whose subject was refused. */
export const forgetTerms = async (
  runner: Runner,
  merchantId: string,
  subjectId: string,
): Promise<void> => {
  await run(runner, remove, [merchantId, subjectId]);
};
