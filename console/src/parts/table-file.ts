/**
 * Reads a table of a file: CSV as spreadsheets save it, in UTF-8 or in Windows-1251, or the first
 * sheet of an XLSX file.
 */
import { parse } from 'csv-parse/browser/esm/sync';
import { unzipSync } from 'fflate';

/** An archive may claim to be small and hold much: what its parts hold together. */
const unpacked_max_bytes = 32 * 1_024 * 1_024;
/** No list is wider, and no record longer: an open quote takes the rest of a file. */
const columns_max = 100;
const record_max_chars = 100_000;
/** The lines that tell a file's delimiter. */
const probed_lines = 50;

/** A row with its line in the file; an empty one is left out. */
export interface Row {
  readonly line: number;
  readonly cells: readonly string[];
}
export type Rows = readonly Row[];

/** A file that is no table, from some line on where it is known. */
export class NoTable extends Error {
  readonly line: number | null;
  constructor(line: number | null, cause: unknown) {
    super('the file is no table', { cause });
    this.line = line;
  }
}

const textOf = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1251').decode(bytes);
  }
};

/** The delimiter that most lines have equally often; titles above a table have none. */
const delimiterOf = (text: string): string => {
  const lines = text.split('\n', probed_lines);
  const weight = (sign: string): number => {
    const counts = Map.groupBy(lines, (line) => line.split(sign).length - 1);
    return Math.max(...[...counts].map(([count, same]) => count * same.length));
  };
  return [';', ',', '\t'].toSorted((one, other) => weight(other) - weight(one))[0] ?? ';';
};

const csvRows = (bytes: Uint8Array): Rows => {
  const text = textOf(bytes);
  const rows: Row[] = [];
  try {
    parse(text, {
      bom: true,
      delimiter: delimiterOf(text),
      max_record_size: record_max_chars,
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      trim: true,
      on_record: (cells: string[], { lines: line }) => {
        rows.push({ line, cells });
        return null;
      },
    });
  } catch (error) {
    throw new NoTable((rows.at(-1)?.line ?? 0) + 1, error);
  }
  return rows;
};

type Parts = Readonly<Record<string, Uint8Array>>;

const all = (of: Document | Element, name: string): Element[] => [
  ...of.getElementsByTagNameNS('*', name),
];

const xmlOf = (parts: Parts, name: string): Document | null => {
  const bytes = parts[name];
  if (!bytes) return null;
  const text = new TextDecoder().decode(bytes);
  // A spreadsheet declares no entities; one that does means harm.
  if (text.includes('<!DOCTYPE')) throw new Error(`${name} has a document type`);
  const xml = new DOMParser().parseFromString(text, 'application/xml');
  // A browser keeps what it read before a fault: rows would be missing.
  if (all(xml, 'parsererror').length > 0) throw new Error(`${name} is broken`);
  return xml;
};

const textsIn = (of: Element): string =>
  all(of, 't')
    .map(({ textContent }) => textContent)
    .join('');

const firstSheet = (parts: Parts): string => {
  const workbook = xmlOf(parts, 'xl/workbook.xml');
  const [sheet] = workbook ? all(workbook, 'sheet') : [];
  const id = [...(sheet?.attributes ?? [])].find(({ localName }) => localName === 'id')?.value;
  const links = xmlOf(parts, 'xl/_rels/workbook.xml.rels');
  const target = (links ? all(links, 'Relationship') : [])
    .find((link) => link.getAttribute('Id') === id)
    ?.getAttribute('Target');
  return target ? `xl/${target.replace(/^\/?(?:xl\/)?/, '')}` : 'xl/worksheets/sheet1.xml';
};

/** The column of a cell's name: `B7` is 1. */
const columnOf = (name: string): number =>
  Array.from(name.replace(/\d+$/, '')).reduce(
    (place, letter) => place * 26 + letter.charCodeAt(0) - 64,
    0,
  ) - 1;

const cellText = (cell: Element, shared: readonly string[]): string => {
  const [value = ''] = all(cell, 'v').map(({ textContent }) => textContent);
  const type = cell.getAttribute('t');
  if (type === 's') return shared[Number(value)] ?? '';
  if (type === 'inlineStr') return textsIn(cell);
  // A long number may be written with an exponent; a binary fraction has a tail.
  return /^-?[\d.]+(?:E[+-]?\d+)?$/i.test(value)
    ? Number(value).toLocaleString('en', { useGrouping: false, maximumFractionDigits: 6 })
    : value;
};

/** The cells of a row, each in its column; one without a name follows the one before it. */
const cellsOf = (row: Element, shared: readonly string[]): readonly string[] => {
  const cells: string[] = [];
  for (const cell of all(row, 'c')) {
    const name = cell.getAttribute('r');
    const column = name === null ? cells.length : columnOf(name);
    if (column < 0 || column >= columns_max) throw new Error('the sheet is too wide');
    cells[column] = cellText(cell, shared).trim();
  }
  return Array.from(cells, (text) => text ?? '');
};

const unzip = (bytes: Uint8Array): Parts => {
  let left_bytes = unpacked_max_bytes;
  return unzipSync(bytes, {
    filter: ({ name, originalSize }) => {
      if (!name.endsWith('.xml') && !name.endsWith('.rels')) return false;
      left_bytes -= originalSize;
      if (left_bytes < 0) throw new Error('the archive is too large');
      return true;
    },
  });
};

/** A formula counts as the value that it had when the file was saved. */
const xlsxRows = (bytes: Uint8Array): Rows => {
  try {
    const parts = unzip(bytes);
    const strings = xmlOf(parts, 'xl/sharedStrings.xml');
    const shared = strings ? all(strings, 'si').map(textsIn) : [];
    const sheet = xmlOf(parts, firstSheet(parts));
    if (!sheet) throw new Error('there is no sheet');
    const rows = all(sheet, 'row')
      .map((row, index) => ({
        line: Number(row.getAttribute('r')) || index + 1,
        cells: cellsOf(row, shared),
      }))
      .filter(({ cells }) => cells.some((text) => text !== ''));
    // A sheet leaves out the empty cells at the end of a row.
    const width = rows.reduce((most, { cells }) => Math.max(most, cells.length), 0);
    return rows.map(({ line, cells }) => ({
      line,
      cells: Array.from({ length: width }, (_, column) => cells[column] ?? ''),
    }));
  } catch (error) {
    throw new NoTable(null, error);
  }
};

/** The rows, the head among them. Throws `NoTable` where it is neither kind of file. */
export const readTable = async (file: File): Promise<Rows> => {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const isArchive = bytes[0] === 0x50 && bytes[1] === 0x4b;
  return isArchive ? xlsxRows(bytes) : csvRows(bytes);
};
