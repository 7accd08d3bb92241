/**
 * The numbers of a report as a file for spreadsheets: amounts as the language writes them, with
 * their unit in the head.
 */
import { amountText } from '../amounts.ts';
import { offer } from '../parts/export-button.tsx';
import { Icon } from '../parts/icon.tsx';
import { settingsNow } from '../settings.ts';
import { useReportWords } from '../words/reports.ts';

/** A column of the file; an amount is in minor units, null where there is none. */
export type CsvColumn<Line> = { readonly name: string } & (
  | { readonly text: (line: Line) => string }
  | { readonly count: (line: Line) => number }
  | { readonly amount: (line: Line) => number | null }
);

interface Report<Line> {
  readonly columns: readonly CsvColumn<Line>[];
  readonly lines: readonly Line[];
  readonly currency: string;
}

/** What begins a formula in a cell. */
const formula = /^\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/;
const quoted = (text: string): string =>
  `"${(formula.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;

/** The text of the file. */
const csvOf = <Line,>({ columns, lines, currency }: Report<Line>): string => {
  const [separator, comma] = settingsNow().language === 'ru' ? [';', ','] : [',', '.'];
  const cellOf = (column: CsvColumn<Line>, line: Line): string => {
    if ('text' in column) return quoted(column.text(line));
    if ('count' in column) return String(column.count(line));
    const amount = column.amount(line);
    return amount === null ? '' : amountText(amount, currency).replace('.', comma);
  };
  const head = columns.map((column) =>
    quoted('amount' in column ? `${column.name}, ${currency}` : column.name),
  );
  const rows = lines.map((line) => columns.map((column) => cellOf(column, line)));
  return `\uFEFF${[head, ...rows].map((cells) => `${cells.join(separator)}\r\n`).join('')}`;
};

/** The button that saves the report under a name. */
export const SaveCsv = <Line,>({
  label,
  name,
  ...report
}: Report<Line> & { readonly label: string; readonly name: string }) => {
  const words = useReportWords();
  const save = (): void =>
    offer(new Blob([csvOf(report)], { type: 'text/csv;charset=utf-8' }), `${name}.csv`);
  return (
    <button type="button" className="button" aria-label={label} onClick={save}>
      <Icon name="save" />
      {words.save}
    </button>
  );
};
