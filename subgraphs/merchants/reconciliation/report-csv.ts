/**
 * A registry as an operator uploads it: CSV with a header, one line for each operation. Nothing of
 * it is guessed: a text with a mistake is refused whole, line by line.
 */
import {
  reportedKinds,
  reportedStatuses,
  type ReportLine,
} from '../../kernel/banks/settlement-bank.ts';
import { isUuid } from '../../kernel/rules/uuid.ts';
import { isCurrency } from '../../kernel/rules/exchange.ts';
import { largestAmount } from '../../kernel/rules/money.ts';

export const registryHeader = 'reference,operation_id,kind,amount,currency,status,at,fee';

/** What is wrong with a line. */
export interface LineMistake {
  readonly line: number;
  readonly message: string;
}

const reference_max_chars = 255;

const amountOf = (text: string): bigint | null =>
  /^\d{1,16}$/.test(text) && BigInt(text) <= largestAmount ? BigInt(text) : null;

const momentOf = (text: string): Temporal.Instant | null => {
  try {
    return Temporal.Instant.from(text);
  } catch {
    return null;
  }
};

/** The line, or what is wrong with it in words. */
const readLine = (text: string): ReportLine | string => {
  const fields = text.split(',');
  const [
    reference = '',
    operation = '',
    kindText,
    amountText = '',
    currency = '',
    statusText,
    atText = '',
    feeText = '',
  ] = fields;
  if (fields.length !== 8) return `expected 8 fields, got ${fields.length}`;
  if (text.includes('"')) return 'expected fields without quotes';
  if (reference === '' || reference.length > reference_max_chars)
    return `reference: expected 1 to ${reference_max_chars} characters`;
  if (operation !== '' && !isUuid(operation)) return 'operation_id: expected a UUID or nothing';
  const kind = reportedKinds.find((known) => known === kindText);
  if (!kind) return `kind: expected ${reportedKinds.join(', ')}`;
  const amount = amountOf(amountText);
  if (amount === null || amount === 0n) return 'amount: expected minor units from 1 to 2^53-1';
  if (!isCurrency(currency)) return 'currency: expected an ISO 4217 code such as RUB';
  const status = reportedStatuses.find((known) => known === statusText);
  if (!status) return `status: expected ${reportedStatuses.join(', ')}`;
  const at = momentOf(atText);
  if (!at) return 'at: expected a moment of RFC 3339';
  const fee = feeText === '' ? null : amountOf(feeText);
  if (feeText !== '' && fee === null) return 'fee: expected minor units or nothing';
  return {
    reference,
    operationId: operation === '' ? null : operation.toLowerCase(),
    kind,
    amount,
    currency,
    status,
    at,
    fee,
  };
};

/** Reads a registry's text; all mistakes with their line numbers, the header being line 1. */
export const readRegistry = (
  csv: string,
): { readonly lines: readonly ReportLine[]; readonly mistakes: readonly LineMistake[] } => {
  const [header = '', ...texts] = csv.replace(/^\u{feff}/u, '').split(/\r?\n/);
  if (header !== registryHeader)
    return { lines: [], mistakes: [{ line: 1, message: `expected the header ${registryHeader}` }] };
  const lines: ReportLine[] = [];
  const mistakes: LineMistake[] = [];
  for (const [index, text] of texts.entries()) {
    if (text === '') continue;
    const read = readLine(text);
    if (typeof read === 'string') mistakes.push({ line: index + 2, message: read });
    else lines.push(read);
  }
  return { lines, mistakes };
};
