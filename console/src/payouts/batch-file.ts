/**
 * Reads a table of a file: CSV as spreadsheets save it, in UTF-8 or in Windows-1251, or the first
 * sheet of an XLSX file.
 */
import { parse } from 'csv-parse/browser/esm/sync';
import { unzipSync } from 'fflate';

/** Larger files are not lists of payouts. */
export const file_max_bytes = 5 * 1_024 * 1_024;
/** An archive may claim to be small and hold much. */
const part_max_bytes = 50 * 1_024 * 1_024;

export type Rows = readonly (readonly string[])[];

const textOf = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1251').decode(bytes);
  }
};

/** The delimiter that the first line has most of. */
const delimiterOf = (text: string): string => {
  const [head = ''] = text.split('\n');
  const count = (sign: string): number => head.split(sign).length;
  return [';', ',', '\t'].toSorted((one, other) => count(other) - count(one))[0] ?? ';';
};

const csvRows = (bytes: Uint8Array): Rows => {
  const text = textOf(bytes);
  return parse(text, {
    bom: true,
    delimiter: delimiterOf(text),
    relax_column_count: true,
    skip_empty_lines: true,
    trim: true,
  });
};

type Parts = Readonly<Record<string, Uint8Array>>;

const xmlOf = (parts: Parts, name: string): Document | null => {
  const bytes = parts[name];
  if (!bytes) return null;
  return new DOMParser().parseFromString(new TextDecoder().decode(bytes), 'application/xml');
};

const all = (of: Document | Element, name: string): Element[] => [
  ...of.getElementsByTagNameNS('*', name),
];
const textsIn = (of: Element): string =>
  all(of, 't')
    .map(({ textContent }) => textContent)
    .join('');

/** Where the first sheet is in the archive. */
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

const xlsxRows = (bytes: Uint8Array): Rows => {
  const parts = unzipSync(bytes, {
    filter: ({ name, originalSize }) => {
      if (originalSize > part_max_bytes) throw new Error(`${name} is too large`);
      return name.endsWith('.xml') || name.endsWith('.rels');
    },
  });
  const strings = xmlOf(parts, 'xl/sharedStrings.xml');
  const shared = strings ? all(strings, 'si').map(textsIn) : [];
  const sheet = xmlOf(parts, firstSheet(parts));
  if (!sheet) throw new Error('there is no sheet');
  return all(sheet, 'row')
    .map((row) => {
      const cells: string[] = [];
      for (const cell of all(row, 'c'))
        cells[columnOf(cell.getAttribute('r') ?? '')] = cellText(cell, shared).trim();
      return Array.from(cells, (text) => text ?? '');
    })
    .filter((cells) => cells.some((text) => text !== ''));
};

/** The rows, the head among them. Throws where it is neither kind of file. */
export const readTable = async (file: File): Promise<Rows> => {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const isArchive = bytes[0] === 0x50 && bytes[1] === 0x4b;
  return isArchive ? xlsxRows(bytes) : csvRows(bytes);
};
