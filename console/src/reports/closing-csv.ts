/** A closing as a file for spreadsheets: a line for each shop, and one for all of them. */
import type { ClosingQuery } from '../../../schema/generated/console.ts';
import { amountText } from '../amounts.ts';
import type { ClosingWords } from '../words/closing-report.ts';
import type { Days } from './days.ts';

type Shop = ClosingQuery['closing']['shops'][number];

/** The closing of a shop, or of all of them. */
export interface ClosingLine extends Pick<Shop, 'opening' | 'turnover' | 'closing'> {
  readonly id: string;
  readonly name: string;
}

/** What begins a formula in a cell. */
const formula = /^\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/;
const quoted = (text: string): string =>
  `"${(formula.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;

/** The text of the file: rubles as the language writes them, the days' zone and the unit in the head. */
export const closingCsv = (
  lines: readonly ClosingLine[],
  {
    days,
    zone,
    currency,
    language,
  }: { days: Days; zone: string; currency: string; language: 'en' | 'ru' },
  words: ClosingWords,
): string => {
  const [separator, comma] = language === 'ru' ? [';', ','] : [',', '.'];
  const amountOf = (amount: number): string => amountText(amount, currency).replace('.', comma);
  const inUnit = (name: string): string => quoted(`${name}, ${currency}`);
  const { kinds } = words;
  const head = [
    quoted(words.shop),
    quoted(words.firstDay(zone)),
    quoted(words.lastDay(zone)),
    inUnit(words.opening),
    ...kindsOf(kinds).map((kind) => inUnit(kinds[kind])),
    inUnit(words.closing),
  ];
  const rows = lines.map(({ name, opening, turnover, closing }) => [
    quoted(name),
    days.first,
    days.last,
    amountOf(opening),
    ...kindsOf(kinds).map((kind) => amountOf(turnover[kind])),
    amountOf(closing),
  ]);
  return `\uFEFF${[head, ...rows].map((cells) => `${cells.join(separator)}\r\n`).join('')}`;
};

const kindsOf = (kinds: ClosingWords['kinds']) =>
  Object.keys(kinds) as (keyof ClosingWords['kinds'])[];
