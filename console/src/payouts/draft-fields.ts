/** Validates a proposed payout, typed or in a file; the service validates it again. */
import type * as graph from '../../../schema/generated/console.ts';
import { luhn } from '../../../rest-facade/checkout/browser/card-rules.js';
import { readAmount } from '../amounts.ts';
import { phoneOf, phoneText } from '../format.ts';
import type { Rows } from '../parts/table-file.ts';
import { bankOf } from './bank-field.tsx';

export type Method = graph.PayoutMethod;

export const nothingTyped = {
  method: 'payouts_sbp' as Method,
  /** An earlier payout, whose recipient is paid again; empty: the other fields have the recipient. */
  again: '',
  amount: '',
  phone: '',
  bankId: '',
  cardPan: '',
  accountNumber: '',
  bik: '',
  inn: '',
  fullName: '',
};
export type Typed = Readonly<typeof nothingTyped>;
export type FieldName = Exclude<keyof Typed, 'method' | 'again'>;

const currency = 'RUB';
const bare = (text: string): string => text.replaceAll(/[\s()-]/g, '');

/**
 * Minor units of an amount; null when it is none, or when one reader takes it for thousands and
 * another for a fraction: `10,999`.
 */
const amountIn = (text: string): number | null =>
  /^\D*\d{1,3},\d{3}\D*$/.test(text) ? null : readAmount(text, currency);

const checks: Readonly<Record<FieldName, (text: string) => boolean>> = {
  amount: (text) => (amountIn(text) ?? 0) >= 1,
  phone: (text) => phoneOf(text) !== null,
  bankId: (text) => /^\d{12}$/.test(text),
  cardPan: (text) => /^\d{16,18}$/.test(bare(text)) && luhn(bare(text)),
  accountNumber: (text) => /^\d{20}$/.test(bare(text)),
  bik: (text) => /^\d{9}$/.test(bare(text)),
  inn: (text) => /^(\d{10}|\d{12})?$/.test(bare(text)),
  fullName: (text) => text.trim().length <= 255,
};

/** The fields of each method, in the order of the form. */
const fieldsOf = {
  payouts_sbp: ['phone', 'bankId', 'fullName'],
  payouts_card: ['cardPan'],
  payouts_account: ['accountNumber', 'bik', 'inn', 'fullName'],
} as const satisfies Readonly<Record<Method, readonly FieldName[]>>;

export const fits = (typed: Typed, field: FieldName): boolean => checks[field](typed[field]);

export const amountOf = ({ amount }: Typed): number | null => amountIn(amount);

export const fieldsIn = ({ method, again }: Typed): readonly FieldName[] => [
  'amount',
  ...(again === '' ? fieldsOf[method] : []),
];

export const isWhole = (typed: Typed): boolean =>
  fieldsIn(typed).every((field) => fits(typed, field));

/** The input of the proposal: only the method's fields. */
export const inputOf = (typed: Typed) => {
  const { method, again } = typed;
  const amount = amountOf(typed) ?? 0;
  if (again !== '') return { amount };
  const given = fieldsOf[method].flatMap((field) => {
    const text = field === 'fullName' ? typed.fullName.trim() : bare(typed[field]);
    if (text === '') return [];
    return [[field, field === 'phone' ? (phoneOf(text) ?? text) : text] as const];
  });
  return { method, amount, ...Object.fromEntries(given) };
};

// The lines of a file of payouts, each checked as if it had been typed into the form.

/** Drafts of a merchant that may wait at once. */
export const lines_max = 1_000;

/** The columns by what their heads begin with, in small letters. */
const heads = {
  amount: ['сумма', 'amount', 'sum'],
  phone: ['телефон', 'тел', 'phone', 'номер телефона'],
  bankId: ['банк', 'bank'],
  fullName: ['фио', 'получатель', 'имя', 'name', 'recipient', 'full'],
  accountNumber: ['счёт', 'счет', 'р/с', 'расчётный', 'расчетный', 'account', 'номер счёта'],
  bik: ['бик', 'bik', 'bic'],
  inn: ['инн', 'inn'],
  reason: ['назначение', 'за что', 'комментарий', 'purpose', 'reason', 'what'],
} as const satisfies Partial<Readonly<Record<FieldName | 'reason', readonly string[]>>>;
export type Column = keyof typeof heads;
export const columnNames = Object.keys(heads) as Column[];

export interface Line {
  readonly number: number;
  readonly typed: Typed;
  /** What the bank's cell says. */
  readonly bank: string;
  readonly reason: string;
  /** The fields that are wrong; none: the line can be proposed. */
  readonly wrong: readonly FieldName[];
  /** An earlier line with the same recipient and amount. */
  readonly sameAs: number | null;
}

/** Where each column is; a file without amounts is none of payouts. */
export const columnsOf = (head: readonly string[]): ReadonlyMap<Column, number> =>
  new Map(
    columnNames.flatMap((name) => {
      const place = head.findIndex((text) =>
        heads[name].some((known) => text.toLowerCase().trim().startsWith(known)),
      );
      return place < 0 ? [] : [[name, place] as const];
    }),
  );

export const linesOf = (rows: Rows, banks: graph.SbpBanksQuery['sbpBanks']): readonly Line[] => {
  const [head, ...below] = rows;
  const places = columnsOf(head?.cells ?? []);
  const known = new Map<string, number>();
  return below.map(({ line: number, cells }) => {
    const cell = (name: Column): string => cells[places.get(name) ?? -1] ?? '';
    const isAccount = cell('accountNumber') !== '' || (cell('phone') === '' && cell('bik') !== '');
    const typed: Typed = {
      ...nothingTyped,
      method: isAccount ? 'payouts_account' : 'payouts_sbp',
      amount: cell('amount').replace(/\s*(?:₽|руб\.?|р\.|RUB)$/i, ''),
      phone: phoneText(cell('phone')),
      bankId: bankOf(cell('bankId'), banks)?.memberId ?? '',
      accountNumber: cell('accountNumber'),
      bik: cell('bik'),
      inn: cell('inn'),
      fullName: cell('fullName'),
    };
    const { phone, accountNumber, amount, bankId } = typed;
    const same = [phone, accountNumber, amount, bankId].join();
    const sameAs = known.get(same) ?? null;
    if (sameAs === null) known.set(same, number);
    const wrong = fieldsIn(typed).filter((field) => !fits(typed, field));
    return { number, typed, bank: cell('bankId'), reason: cell('reason'), wrong, sameAs };
  });
};
