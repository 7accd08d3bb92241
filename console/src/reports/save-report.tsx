/**
 * The numbers of a report as a file for spreadsheets, with the unit of amounts in the head: as CSV,
 * where amounts are written as the language writes them, and as XLSX, where they are numbers.
 */
import { digitsOf } from '../../../schema/currencies.ts';
import { amountText } from '../amounts.ts';
import { Button } from '../parts/button.tsx';
import { offer } from '../parts/export-button.tsx';
import { Icon } from '../parts/icon.tsx';
import { settingsNow } from '../settings.ts';

/** A column of the file; an amount is in minor units, null where there is none. */
export type FileColumn<Line> = { readonly name: string } & (
  | { readonly text: (line: Line) => string }
  | { readonly count: (line: Line) => number }
  | { readonly amount: (line: Line) => number | null }
);

interface Report<Line> {
  readonly columns: readonly FileColumn<Line>[];
  readonly lines: readonly Line[];
  readonly currency: string;
}

const headOf = <Line,>(column: FileColumn<Line>, currency: string): string =>
  'amount' in column ? `${column.name}, ${currency}` : column.name;

/** What begins a formula in a cell. */
const formula = /^\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/;
const quoted = (text: string): string =>
  `"${(formula.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;

const csvOf = <Line,>({ columns, lines, currency }: Report<Line>): string => {
  const [separator, comma] = settingsNow().language === 'ru' ? [';', ','] : [',', '.'];
  const cellOf = (column: FileColumn<Line>, line: Line): string => {
    if ('text' in column) return quoted(column.text(line));
    if ('count' in column) return String(column.count(line));
    const amount = column.amount(line);
    return amount === null ? '' : amountText(amount, currency).replace('.', comma);
  };
  const head = columns.map((column) => quoted(headOf(column, currency)));
  const rows = lines.map((line) => columns.map((column) => cellOf(column, line)));
  return `\uFEFF${[head, ...rows].map((cells) => `${cells.join(separator)}\r\n`).join('')}`;
};

/** The file as a spreadsheet. Its library is loaded when it is first asked for. */
const xlsxOf = async <Line,>({ columns, lines, currency }: Report<Line>): Promise<Blob> => {
  const { default: writeSheet } = await import('write-excel-file/browser');
  const digits = digitsOf(currency);
  const format = digits === 0 ? '#,##0' : `#,##0.${'0'.repeat(digits)}`;
  const cellOf = (column: FileColumn<Line>, line: Line) => {
    if ('text' in column) return column.text(line);
    if ('count' in column) return column.count(line);
    const amount = column.amount(line);
    return amount === null ? null : { value: Number(amountText(amount, currency)), format };
  };
  const head = columns.map((column) => ({
    value: headOf(column, currency),
    fontWeight: 'bold' as const,
  }));
  const rows = lines.map((line) => columns.map((column) => cellOf(column, line)));
  return writeSheet([head, ...rows]).toBlob();
};

export const SaveReport = <Line,>({
  label,
  name,
  ...report
}: Report<Line> & { readonly label: (format: string) => string; readonly name: string }) => (
  <span className="line">
    <Button
      label={label('CSV')}
      press={() =>
        offer(new Blob([csvOf(report)], { type: 'text/csv;charset=utf-8' }), `${name}.csv`)
      }
    >
      <Icon name="save" />
      CSV
    </Button>
    <Button
      label={label('XLSX')}
      press={() => void xlsxOf(report).then((blob) => offer(blob, `${name}.xlsx`))}
    >
      <Icon name="save" />
      XLSX
    </Button>
  </span>
);
