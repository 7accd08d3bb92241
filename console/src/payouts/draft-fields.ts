/** Validates a proposed payout as it is typed; the service validates it again. */
import { readAmount } from '../amounts.ts';
import { phoneOf } from '../parts/phone.ts';

export const methods = ['payouts_sbp', 'payouts_card', 'payouts_account'] as const;
export type Method = (typeof methods)[number];

/** The fields as they are typed. */
export interface Typed {
  readonly method: Method;
  /** An earlier payout, whose recipient is paid again; empty: the other fields have the recipient. */
  readonly again: string;
  readonly amount: string;
  readonly phone: string;
  readonly bankId: string;
  readonly cardPan: string;
  readonly accountNumber: string;
  readonly bik: string;
  readonly inn: string;
  readonly fullName: string;
}
export type FieldName = Exclude<keyof Typed, 'method' | 'again'>;

/** An empty form. */
export const nothingTyped: Typed = {
  method: 'payouts_sbp',
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

const currency = 'RUB';
const bare = (text: string): string => text.replaceAll(/[\s()-]/g, '');

const passesLuhn = (digits: string): boolean => {
  const sum = Array.from(digits)
    .toReversed()
    .reduce((total, digit, place) => {
      const value = Number(digit) * (place % 2 === 1 ? 2 : 1);
      return total + (value > 9 ? value - 9 : value);
    }, 0);
  return sum % 10 === 0;
};

const checks: Readonly<Record<FieldName, (text: string) => boolean>> = {
  amount: (text) => (readAmount(text, currency) ?? 0) >= 1,
  phone: (text) => phoneOf(text) !== null,
  bankId: (text) => /^\d{12}$/.test(text),
  cardPan: (text) => /^\d{16,18}$/.test(bare(text)) && passesLuhn(bare(text)),
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

/** Whether a field's text is valid. */
export const fits = (typed: Typed, field: FieldName): boolean => checks[field](typed[field]);

/** The amount in minor units; null when there is none. */
export const amountOf = ({ amount }: Typed): number | null => readAmount(amount, currency);

/** The fields of a form. */
export const fieldsIn = ({ method, again }: Typed): readonly FieldName[] => [
  'amount',
  ...(again === '' ? fieldsOf[method] : []),
];

/** Whether the form may be sent. */
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
