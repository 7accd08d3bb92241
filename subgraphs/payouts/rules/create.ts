/**
 * Validates a new payout, in three variants by method. A refusal names the field, the expected and
 * the given value; of a card or account number only the length. A card number must pass the Luhn
 * check.
 */
import { recipientName_max_chars } from '../../../schema/limits.ts';
import { isCardNumber } from '../../rules/card.ts';
import {
  defaultCurrency,
  largestAmount,
  minorUnits,
  shareOf,
  type MinorUnits,
} from '../../rules/money.ts';
import type { Mode } from '../../rules/mode.ts';
import type { Recipient } from '../../rules/recipient.ts';
import { metadataMistakes, textMistake, asCame } from '../../rules/texts.ts';
import { refuseMistakes, type Refusal } from '../../rules/refusal.ts';
import type { Amounts, PayoutMethod } from './payout.ts';

interface RecipientInput {
  readonly phone?: string | null | undefined;
  readonly bankId?: string | null | undefined;
  readonly fullName?: string | null | undefined;
  readonly cardPan?: string | null | undefined;
  readonly accountNumber?: string | null | undefined;
  readonly bik?: string | null | undefined;
  readonly inn?: string | null | undefined;
}

/** A requested payout of any method. */
export interface PayoutInput extends RecipientInput {
  readonly amount: bigint;
  readonly currency?: string | null | undefined;
  readonly method?: PayoutMethod | null | undefined;
  readonly orderId?: string | null | undefined;
  readonly metadata?: Record<string, string> | null | undefined;
}

const orderId_max_chars = 64;

type FieldName = 'phone' | 'bankId' | 'cardPan' | 'accountNumber' | 'bik' | 'inn';

interface Field {
  /** As merchants write it. */
  readonly written: string;
  readonly fits: (text: string) => boolean;
  readonly expected: string;
  /** The methods with this field: the first list requires it, the second allows it. */
  readonly requiredBy: readonly PayoutMethod[];
  readonly allowedBy: readonly PayoutMethod[];
}

const digits = (pattern: RegExp) => (text: string) => pattern.test(text);
const needed = (method: PayoutMethod): Pick<Field, 'requiredBy' | 'allowedBy'> => ({
  requiredBy: [method],
  allowedBy: [method],
});

const fields: Readonly<Record<FieldName, Field>> = {
  phone: {
    written: 'phone',
    fits: digits(/^\+7[0-9]{10}$/),
    expected: '+7 and 10 digits',
    ...needed('payouts_sbp'),
  },
  bankId: {
    written: 'bank_id',
    fits: digits(/^[0-9]{12}$/),
    expected: '12 digits',
    ...needed('payouts_sbp'),
  },
  cardPan: {
    written: 'card_pan',
    fits: (text) => /^[0-9]{16,18}$/.test(text) && isCardNumber(text),
    expected: '16 to 18 digits of a valid card number',
    ...needed('payouts_card'),
  },
  accountNumber: {
    written: 'account_number',
    fits: digits(/^[0-9]{20}$/),
    expected: '20 digits',
    ...needed('payouts_account'),
  },
  bik: {
    written: 'bik',
    fits: digits(/^[0-9]{9}$/),
    expected: '9 digits',
    ...needed('payouts_account'),
  },
  inn: {
    written: 'inn',
    fits: digits(/^([0-9]{10}|[0-9]{12})$/),
    expected: '10 or 12 digits',
    requiredBy: [],
    allowedBy: ['payouts_account'],
  },
};

const fieldMistake = (
  method: PayoutMethod,
  { written, fits, expected, requiredBy, allowedBy }: Field,
  text: string | null,
): string | null => {
  if (text === null)
    return requiredBy.includes(method)
      ? `${written}: required, expected ${expected}, got nothing`
      : null;
  if (!allowedBy.includes(method)) return `${written}: not a field of ${method}`;
  return fits(text)
    ? null
    : `${written}: expected ${expected}, got a string of ${text.length} characters`;
};

const mistakesIn = (method: PayoutMethod, input: PayoutInput): (string | null)[] => {
  const { amount, currency, fullName, orderId, metadata } = input;
  const names: readonly FieldName[] = ['phone', 'bankId', 'cardPan', 'accountNumber', 'bik', 'inn'];
  return [
    amount < 1n || amount > largestAmount
      ? `amount: expected an integer from 1 to ${largestAmount}, got ${amount}`
      : null,
    typeof currency === 'string' && currency !== defaultCurrency
      ? `currency: expected ${defaultCurrency}, got ${asCame(currency)}`
      : null,
    textMistake('full_name', fullName, 1, recipientName_max_chars),
    textMistake('order_id', orderId, 1, orderId_max_chars),
    ...names.map((name) => fieldMistake(method, fields[name], input[name] ?? null)),
    ...metadataMistakes(metadata),
  ];
};

/** The recipient of a method; a field that the method needs is there. */
export const recipientOf = (method: PayoutMethod, input: RecipientInput): Recipient => {
  const fullName = input.fullName ?? null;
  switch (method) {
    case 'payouts_sbp':
      return { way: 'sbp', phone: input.phone ?? '', bankId: input.bankId ?? '', fullName };
    case 'payouts_card':
      return { way: 'card', cardNumber: input.cardPan ?? '', fullName };
    case 'payouts_account':
      return {
        way: 'account',
        accountNumber: input.accountNumber ?? '',
        bik: input.bik ?? '',
        inn: input.inn ?? null,
        fullName,
      };
  }
};

/**
 * The terms of a payout by method, or `bad_request`. The check digit of an account is not verified:
 * the API accepts any 20 digits.
 */
export const payoutTerms = (method: PayoutMethod, input: PayoutInput) => {
  const refusal = refuseMistakes(mistakesIn(method, input));
  if (refusal) return refusal;
  return {
    method,
    amount: minorUnits(input.amount),
    currency: defaultCurrency,
    recipient: recipientOf(method, input),
    orderId: input.orderId ?? null,
    metadata: input.metadata ?? null,
  };
};
export type PayoutTerms = Exclude<ReturnType<typeof payoutTerms>, Refusal>;

/** The rate at which a mode charges payouts, in basis points: test mode charges none. */
export const chargedRate = (mode: Mode, rate_bps: number): number =>
  mode === 'test' ? 0 : rate_bps;

/** The fee of a payout, on top of its amount, at a rate in basis points. */
export const payoutFee = (amount: MinorUnits, rate_bps: number): MinorUnits =>
  shareOf(amount, rate_bps);

/** The amount that the balance must cover; `kept`: it stays reserved. */
interface Covered {
  readonly amount: MinorUnits;
  readonly kept: boolean;
}

/**
 * The amounts reserved for payouts from the available balance, in order; null where the rest does
 * not cover one. The fee, at a rate in basis points, is added to the amount.
 */
export const reserveEach = (
  available: bigint,
  rate_bps: number,
  payouts: readonly Covered[],
): readonly (Amounts | null)[] => {
  let left = available;
  return payouts.map(({ amount, kept }) => {
    const fee = payoutFee(amount, rate_bps);
    const total = amount + fee;
    if (total > left || total > largestAmount) return null;
    if (kept) left -= total;
    return { amount, fee };
  });
};
