/**
 * Reads an acquirer's registry: finds its tables by the names of their columns, and gives every line
 * in the service's format. A file with one line that is not understood is refused as a whole.
 */
import { digitsOf, isCurrency } from '../../../schema/currencies.ts';
import type { Row, Rows } from '../parts/table-file.ts';
import {
  fields,
  kindWords,
  layouts,
  statusWords,
  type Field,
  type Kind,
  type Status,
} from './registry-layouts.ts';

/** A line in the service's format. Amounts are minor units. */
export interface RegistryLine {
  readonly reference: string;
  readonly operationId: string;
  readonly kind: Kind;
  readonly amount: string;
  readonly currency: string;
  readonly status: Status;
  readonly at: string;
  readonly fee: string;
}

/** What is wrong in a line; `column` is its name in the file, null: the whole line. */
export interface Mistake {
  readonly line: number;
  readonly column: string | null;
  readonly wrong:
    | 'reference'
    | 'operation'
    | 'kind'
    | 'amount'
    | 'currency'
    | 'status'
    | 'at'
    | 'fee'
    | 'cells'
    | 'above'
    | 'count';
}

export interface Places {
  readonly kind: Kind | null;
  readonly isMinor: boolean;
  readonly columns: Readonly<Partial<Record<Field, number>>>;
}

/** A person's choice for a table whose head is not known: the line of the head, and its columns. */
export interface Chosen extends Places {
  readonly headLine: number;
}

export interface Known {
  readonly lines: readonly RegistryLine[];
  readonly mistakes: readonly Mistake[];
}

/** A head that is not known, with some rows below it: a person has to say what the columns are. */
export interface Unknown {
  readonly head: Row;
  readonly sample: Rows;
}

const filled = ({ cells }: Row): number => cells.filter((text) => text !== '').length;

/** A text as names are compared: small letters, single spaces, `е` for `ё`. */
const plain = (text: string): string =>
  text.toLowerCase().replaceAll('ё', 'е').replace(/\s+/g, ' ').trim();

/** A column's name without the currency that some add: `Сумма, руб.`. */
const columnName = (text: string): string => plain(text).replace(/[,(]? ?(?:руб\.?|rub|₽)\)?$/, '');

const minorOf = (digits: string): string | null => {
  const minor = digits.replace(/^0+(?=\d)/, '');
  return Number.isSafeInteger(Number(minor)) ? minor : null;
};

/**
 * The sign and the exact minor units of `1 234,56`, `1234.56` or `-12,5 ₽`; null for any other text,
 * such as one with more decimals than the currency has.
 */
const moneyOf = (text: string, currency: string, isMinor: boolean) => {
  const bare = text.replace(/\s*(?:₽|руб\.?|RUB)$/i, '').replace('\u2212', '-');
  const read = /^(-?)(\d+|\d{1,3}(?:[ \u00A0\u202F]\d{3})+)(?:[.,](\d+))?$/.exec(bare);
  if (!read) return null;
  const [, sign, whole = '', decimals = ''] = read;
  const digits = isMinor ? 0 : digitsOf(currency);
  if (decimals.length > digits) return null;
  const minor = minorOf(whole.replace(/\D/g, '') + decimals.padEnd(digits, '0'));
  return minor === null ? null : { isNegative: sign === '-', minor };
};

const rubles = ['', 'rur', 'руб', 'руб.', 'рубль', 'рубли', '₽', '643', '810'];

/** The ISO code of a currency; null for none that is known. Without one it is RUB. */
const currencyOf = (text: string): string | null => {
  if (rubles.includes(plain(text))) return 'RUB';
  const code = text.trim().toUpperCase();
  return isCurrency(code) ? code : null;
};

const moscow = '+03:00';
const day_ms = 86_400_000;
/** The days of a spreadsheet count from here. */
const spreadsheetZero_ms = Date.UTC(1899, 11, 30);

const isoOf = (day: string, time: string, zone: string): string | null => {
  const at = new Date(`${day}T${time}${zone}`);
  // Most engines take 31 February for a day of March.
  const isDay = new Date(`${day}T00:00:00Z`).toJSON()?.slice(0, 10) === day;
  return isDay && !Number.isNaN(at.getTime()) ? at.toISOString() : null;
};

/**
 * The moment of `22.08.2026 10:00:00`, `2026-08-22 10:00`, a day alone, a moment of RFC 3339 or a
 * day of a spreadsheet, in Moscow's time unless it names a zone; null for any other text.
 */
const momentOf = (text: string): string | null => {
  if (/^\d{5}(?:\.\d+)?$/.test(text)) {
    const at_s = Math.round((spreadsheetZero_ms + Number(text) * day_ms) / 1_000);
    const [day = '', time = ''] = new Date(at_s * 1_000).toISOString().slice(0, 19).split('T');
    return isoOf(day, time, moscow);
  }
  const read =
    /^(?:(\d{2})\.(\d{2})\.(\d{4})|(\d{4})-(\d{2})-(\d{2}))(?:[ T,]+(\d{1,2}:\d{2})(:\d{2})?(\.\d+)?(Z|[+-]\d{2}:\d{2})?)?$/.exec(
      text,
    );
  if (!read) return null;
  const [, d1, m1, y1, y2, m2, d2, minute = '00:00', second = ':00', part = '', zone = moscow] =
    read;
  const day = `${y1 ?? y2}-${m1 ?? m2}-${d1 ?? d2}`;
  return isoOf(day, `${minute.padStart(5, '0')}${second}${part.slice(0, 4)}`, zone);
};

/** The value that a cell's first words name; null for none. */
const wordOf = <Value extends string>(
  text: string,
  words: Readonly<Record<Value, readonly string[]>>,
): Value | null => {
  const said = plain(text);
  const known = Object.entries<readonly string[]>(words).find(([, starts]) =>
    starts.some((start) => said.startsWith(start)),
  );
  return (known?.[0] as Value | undefined) ?? null;
};

/** The table that a row is the head of; null when it is none. */
const placesOf = ({ cells }: Row, connector: string): Places | null => {
  const names = cells.map(columnName);
  for (const { kind, isMinor, names: known, needs } of layouts[connector] ?? []) {
    const columns: Partial<Record<Field, number>> = {};
    for (const field of fields) {
      // The first of a field's names is the most exact.
      const name = known[field]?.find((one) => names.includes(one));
      if (name !== undefined) columns[field] = names.indexOf(name);
    }
    if (needs.every((field) => columns[field] !== undefined)) return { kind, isMinor, columns };
  }
  return null;
};

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
/** No formula begins like this, and no comma or quote breaks a line. */
const referenceForm = /^[\p{L}\p{N}][\p{L}\p{N} ._:/#№-]{0,254}$/u;

type Reader = ReturnType<typeof readerOf>;

const readerOf = ({ line, cells }: Row, head: Row, places: Places) => {
  const wrong: Mistake[] = [];
  const place = (field: Field): number => places.columns[field] ?? -1;
  return {
    ...places,
    wrong,
    text: (field: Field): string => cells[place(field)] ?? '',
    fault: (what: Mistake['wrong'], field: Field): null => {
      wrong.push({ line, column: head.cells[place(field)] ?? null, wrong: what });
      return null;
    },
  };
};

const feePart = (row: Reader, field: Field, currency: string): number => {
  const text = row.text(field);
  if (text === '') return 0;
  return Number((moneyOf(text, currency, row.isMinor) ?? row.fault('fee', field))?.minor ?? 0);
};

/** The fee: what is missing in a payment's net amount, or its parts; empty when there is none. */
const feeOf = (row: Reader, kind: Kind, amount: string, currency: string): string => {
  if (kind === 'payment' && row.text('net') !== '') {
    const fee = Number(amount) - feePart(row, 'net', currency);
    return fee < 0 ? (row.fault('fee', 'net') ?? '') : String(fee);
  }
  if (row.text('fee') === '') return '';
  return String(feePart(row, 'fee', currency) + feePart(row, 'vat', currency));
};

/** What the line is. Banks may write a refund with a minus; anything else has none. */
const kindOf = (row: Reader, isNegative: boolean): Kind | null => {
  const kind = row.kind ?? wordOf(row.text('kind'), kindWords) ?? row.fault('kind', 'kind');
  return isNegative && kind !== 'refund' ? row.fault('amount', 'amount') : kind;
};

/** How the service knows the operation: by its own id, or else by the bank's reference. */
const namesOf = (row: Reader, kind: Kind) => {
  const order = uuid.test(row.text('order')) ? row.text('order').toLowerCase() : '';
  const operationId = row.text('operation');
  if (operationId !== '' && !uuid.test(operationId)) row.fault('operation', 'operation');
  // A refund's order is that of its payment: the service finds the refund by it.
  const reference = kind === 'refund' && order !== '' ? order : row.text('reference') || order;
  if (!referenceForm.test(reference)) row.fault('reference', 'reference');
  return { reference, operationId: kind === 'payment' ? operationId || order : operationId };
};

/** When it was: by the line, or by the day above the table where lines have none. */
const timeOf = (row: Reader, day: string | null): string | null => {
  if (row.columns.at === undefined) return day ?? row.fault('at', 'at');
  const at = row.text('at');
  return momentOf(`${at} ${row.text('time')}`.trim()) ?? momentOf(at) ?? row.fault('at', 'at');
};

const lineOf = (row: Reader, day: string | null): RegistryLine | null => {
  const currency = currencyOf(row.text('currency')) ?? row.fault('currency', 'currency');
  const money = currency === null ? null : moneyOf(row.text('amount'), currency, row.isMinor);
  if (currency !== null && (!money || money.minor === '0')) row.fault('amount', 'amount');
  const kind = kindOf(row, money?.isNegative ?? false);
  const status =
    row.columns.status === undefined ? 'succeeded' : wordOf(row.text('status'), statusWords);
  if (!status) row.fault('status', 'status');
  const at = timeOf(row, day);
  if (currency === null || !money || !kind || !status || at === null) return null;
  const fee = feeOf(row, kind, money.minor, currency);
  const names = namesOf(row, kind);
  return row.wrong.length > 0
    ? null
    : { ...names, kind, amount: money.minor, currency, status, at, fee };
};

/** A remark above or below a table, such as its title, its day and its totals. */
const remark = /^(?:реестр|дата|период|сумма|число|количество|итого|всего|по договору|total)/;
const total = /^(?:итого|всего|total)/;

const isRemark = (row: Row): boolean =>
  filled(row) === 1 && row.cells.some((text) => remark.test(plain(text)));

/** A row of sums: it names no operation. */
const isTotal = ({ cells }: Row, { columns: { reference, order } }: Places): boolean =>
  cells.some((text) => total.test(plain(text))) &&
  [reference, order].every((place) => {
    const text = plain(cells[place ?? -1] ?? '');
    return text === '' || total.test(text);
  });

/** Reads the rows below a head, and the heads that follow. */
const walkFrom = (first: Row, firstPlaces: Places, connector: string) => {
  const lines: RegistryLine[] = [];
  const wrong: Mistake[] = [];
  let [head, places] = [first, firstPlaces];
  let day: string | null = null;
  let [all, inTable] = [0, 0];
  /** A remark may say the day of the lines, or their number. */
  const takeRemark = ({ line, cells }: Row): void => {
    const text = cells.find(Boolean) ?? '';
    const [, date] = /^дата[^:]*:\s*(\S+)$/i.exec(text) ?? [];
    if (date !== undefined) day = momentOf(date);
    const [, count] = /^число[^:]*:\s*(\d+)$/i.exec(text) ?? [];
    if (count !== undefined && ![inTable, all].includes(Number(count)))
      wrong.push({ line, column: null, wrong: 'count' });
  };
  const takeLine = (row: Row): void => {
    [all, inTable] = [all + 1, inTable + 1];
    const { length } = head.cells;
    if (row.cells.length < length || row.cells.slice(length).some(Boolean)) {
      wrong.push({ line: row.line, column: null, wrong: 'cells' });
      return;
    }
    const reader = readerOf(row, head, places);
    const line = lineOf(reader, day);
    if (line) lines.push(line);
    wrong.push(...reader.wrong);
  };
  const take = (row: Row): void => {
    const next = placesOf(row, connector);
    if (next) [head, places, inTable] = [row, next, 0];
    else if (isRemark(row)) takeRemark(row);
    else if (!isTotal(row, places)) takeLine(row);
  };
  return { lines, wrong, takeRemark, take };
};

const sample_rows = 6;

/** The head that a person sees: the fullest of the first rows. */
const likelyHead = (rows: Rows): Row | undefined =>
  rows
    .slice(0, 50)
    .toSorted((one, other) => filled(other) - filled(one) || one.line - other.line)[0];

/**
 * Reads a registry of an acquirer. `chosen` is what a person said of a head that is not known; null
 * when the names of the columns tell. Gives mistakes of all lines, and lines only without any.
 */
export const readRegistry = (
  rows: Rows,
  connector: string,
  chosen: Chosen | null,
): Known | Unknown => {
  const isHead = (row: Row): boolean =>
    chosen ? row.line === chosen.headLine : placesOf(row, connector) !== null;
  const place = rows.findIndex(isHead);
  const head = rows[place];
  const places = chosen ?? (head ? placesOf(head, connector) : null);
  if (!head || !places) {
    const likely = likelyHead(rows) ?? { line: 1, cells: [] };
    const from = rows.indexOf(likely) + 1;
    return { head: likely, sample: rows.slice(from, from + sample_rows) };
  }
  const { lines, wrong, takeRemark, take } = walkFrom(head, places, connector);
  for (const row of rows.slice(0, place)) {
    if (isRemark(row)) takeRemark(row);
    // Above a table there are titles, and no lines.
    else if (filled(row) * 2 > filled(head))
      wrong.push({ line: row.line, column: null, wrong: 'above' });
  }
  for (const row of rows.slice(place + 1)) take(row);
  return wrong.length > 0 ? { lines: [], mistakes: wrong } : { lines, mistakes: [] };
};

// The lines of a registry as the graph takes them: in parts that each fit a request.

const header = 'reference,operation_id,kind,amount,currency,status,at,fee';
/** A request holds 256 KiB; a line of a registry is some 170 bytes. */
const part_max_bytes = 200 * 1_024;
const part_max_lines = 1_400;

const columns = [
  ...(['reference', 'operationId', 'kind', 'amount'] as const),
  ...(['currency', 'status', 'at', 'fee'] as const),
];
const textOf = (line: RegistryLine): string => columns.map((name) => line[name]).join(',');

/** The parts, each with the header; none for a registry without lines. */
export const partsOf = (lines: readonly RegistryLine[]): readonly string[] => {
  const parts: string[] = [];
  let part: string[] = [];
  let bytes = 0;
  const close = (): void => {
    if (part.length > 0) parts.push([header, ...part].join('\n'));
    part = [];
    bytes = header.length;
  };
  for (const text of lines.map(textOf)) {
    // Outside ASCII a character takes two or more bytes: three is the most of those in use.
    const size = text.length * 3;
    if (part.length >= part_max_lines || bytes + size > part_max_bytes) close();
    part.push(text);
    bytes += size;
  }
  close();
  return parts;
};

/** Identifies the lines: the same ones are the same run, and continue where it stopped. */
export const referenceOf = async (name: string, parts: readonly string[]): Promise<string> => {
  const bytes = new TextEncoder().encode(parts.join('\n'));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${name.slice(0, 60)} ${hex.slice(0, 32)}`;
};
