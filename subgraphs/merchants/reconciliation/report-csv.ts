/**
 * Parses a registry uploaded by an operator: CSV with a header, one line for each operation. A text
 * with any mistake is refused as a whole, with the mistakes of each line.
 */
import { parse } from 'csv-parse/sync';
import {
  reportedKinds,
  reportedStatuses,
  type ReportLine,
} from '../../acquirers/settlement-bank.ts';
import { isUuid } from '../../rules/ids.ts';
import { isCurrency } from '../../../schema/currencies.ts';
import { largestAmount } from '../../rules/money.ts';
import { charactersOf } from '../../rules/texts.ts';

export const registryHeader = 'reference,operation_id,kind,amount,currency,status,at,fee';

/** What is wrong with a line. */
interface LineMistake {
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

/** Whitespace around a field is ignored. */
const noQuotes = 'expected fields without quotes';

/** The parsed line, or what is wrong with it. */
const readLine = (fields: readonly string[]): ReportLine | string => {
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
  if (fields.some((field) => field.includes('"'))) return noQuotes;
  if (reference === '' || charactersOf(reference) > reference_max_chars)
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

/** Parses a registry; all mistakes have line numbers, the header being line 1. */
export const readRegistry = (
  csv: string,
): { readonly lines: readonly ReportLine[]; readonly mistakes: readonly LineMistake[] } => {
  const lines: ReportLine[] = [];
  const mistakes: LineMistake[] = [];
  let header: string | null = null;
  let last = 0;
  parse(csv, {
    bom: true,
    record_delimiter: ['\r\n', '\n'],
    relax_column_count: true,
    relax_quotes: true,
    skip_records_with_error: true,
    // An unclosed quote makes the rest of the text one field.
    on_skip: () => void mistakes.push({ line: last + 1, message: noQuotes }),
    on_record: (fields: string[], { lines: line }) => {
      last = line;
      if (header === null) {
        header = fields.join(',');
        return null;
      }
      if (fields.length === 1 && fields[0] === '') return null;
      const read = readLine(fields);
      if (typeof read === 'string') mistakes.push({ line, message: read });
      else lines.push(read);
      return null;
    },
  });
  return header === registryHeader
    ? { lines, mistakes }
    : { lines: [], mistakes: [{ line: 1, message: `expected the header ${registryHeader}` }] };
};
