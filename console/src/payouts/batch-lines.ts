/** The lines of a file of payouts, each checked as if it had been typed into the form. */
import type { SbpBanksQuery } from '../../../schema/generated/console.ts';
import { phoneText } from '../parts/phone.ts';
import type { Rows } from '../parts/table-file.ts';
import { bankOf } from './banks.ts';
import { fieldsIn, fits, nothingTyped, type FieldName, type Typed } from './draft-fields.ts';

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

/** A line of the file, by its number there. */
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

/** The lines below the head. */
export const linesOf = (rows: Rows, banks: SbpBanksQuery['sbpBanks']): readonly Line[] => {
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
