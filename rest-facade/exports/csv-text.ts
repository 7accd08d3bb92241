/**
 * Rows as CSV for people (RFC 4180): a text that a spreadsheet would take for a formula has an
 * apostrophe before it, and the file begins with the mark by which spreadsheets know UTF-8.
 */
import type { ExportColumn } from './plan-export.ts';

const mark = '\uFEFF';
const lineEnd = '\r\n';

const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint')
    return String(value);
  if (typeof value !== 'string')
    return Array.isArray(value) ? value.map(textOf).join(' ') : JSON.stringify(value);
  return /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
};

const cellOf = (value: unknown): string => {
  const text = textOf(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

const valueAt = (row: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null
        ? (value as Readonly<Record<string, unknown>>)[name]
        : null,
    row,
  );

/** The first line. */
export const csvHead = (columns: readonly ExportColumn[]): string =>
  mark + columns.map(({ name }) => name).join(',') + lineEnd;

/** The lines of some rows. */
export const csvLines = (columns: readonly ExportColumn[], rows: readonly unknown[]): string =>
  rows
    .map((row) => columns.map(({ path }) => cellOf(valueAt(row, path))).join(',') + lineEnd)
    .join('');
