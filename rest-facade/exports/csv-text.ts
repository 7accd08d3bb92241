/**
 * Rows as CSV for people (RFC 4180): the file begins with the mark by which spreadsheets know UTF-8,
 * and a spreadsheet takes no text of it for a formula, whatever it takes for a separator.
 */
import { decimalOf } from '../../schema/currencies.ts';
import type { ExportColumn } from './plan-export.ts';

const mark = '\uFEFF';
const lineEnd = '\r\n';

/** Spreadsheets in Russian write a comma in numbers, and expect this between fields. */
const separators = { en: ',', ru: ';' } as const;
const decimalPoints = { en: '.', ru: ',' } as const;
type ExportLanguage = keyof typeof separators;

/** Where a cell would begin, quoted or not, with what begins a formula, also in full width. */
const formula = /(^|[;,\t\r\n])(?=[" ]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/g;

const quoted = (text: string): string =>
  `"${text.replaceAll(formula, "$1'").replaceAll('"', '""')}"`;

const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
};

/** A sum beyond 2^53-1 is a raw number. */
const integerOf = (value: unknown): bigint | null => {
  if (typeof value === 'number') return BigInt(value);
  return JSON.isRawJSON(value) ? BigInt(JSON.stringify(value)) : null;
};

/** An amount in its currency, as the language writes it; null for what is none. */
const amountCell = (value: unknown, currency: unknown, language: ExportLanguage): string | null => {
  const amount = integerOf(value);
  if (amount === null || typeof currency !== 'string') return null;
  return decimalOf(amount, currency).replace('.', decimalPoints[language]);
};

const cellOf = (value: unknown): string => {
  // Sums that may be beyond 2^53-1 are numbers in their text alone.
  const isText = value !== null && ['string', 'object'].includes(typeof value);
  if (!isText || JSON.isRawJSON(value)) return textOf(value);
  return quoted(Array.isArray(value) ? value.map(textOf).join(' ') : textOf(value));
};

const valueAt = (row: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null
        ? (value as Readonly<Record<string, unknown>>)[name]
        : null,
    row,
  );

export interface CsvWriter {
  /** The first line. */
  readonly head: string;
  /** The lines of some rows. */
  readonly lines: (rows: readonly unknown[]) => string;
}

/** Writes rows for people of a language. */
export const csvWriter = (
  columns: readonly ExportColumn[],
  language: ExportLanguage,
): CsvWriter => {
  const lineOf = (cells: readonly string[]): string => cells.join(separators[language]) + lineEnd;
  const cellIn = (row: unknown, { path, currency }: ExportColumn): string => {
    const value = valueAt(row, path);
    const amount = currency && amountCell(value, valueAt(row, currency), language);
    return amount ?? cellOf(value);
  };
  return {
    head: mark + lineOf(columns.map(({ name }) => name)),
    lines: (rows) =>
      rows.map((row) => lineOf(columns.map((column) => cellIn(row, column)))).join(''),
  };
};
