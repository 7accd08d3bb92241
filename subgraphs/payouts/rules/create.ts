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
import {
  metadataMistakes,
  textMistake,
  asCame,
  refuseMistakes,
  type Refusal,
} from '../../rules/refusal.ts';
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

/** A field of the recipient: as merchants write it, its method, its form, and that in words. */
type Field = readonly [
  name: Exclude<keyof RecipientInput, 'fullName'>,
  written: string,
  method: PayoutMethod,
  form: RegExp,
  expected: string,
];

const fields: readonly Field[] = [
  ['phone', 'phone', 'payouts_sbp', /^\+7[0-9]{10}$/, '+7 and 10 digits'],
  ['bankId', 'bank_id', 'payouts_sbp', /^[0-9]{12}$/, '12 digits'],
  [
    'cardPan',
    'card_pan',
    'payouts_card',
    /^[0-9]{16,18}$/,
    '16 to 18 digits of a valid card number',
  ],
  ['accountNumber', 'account_number', 'payouts_account', /^[0-9]{20}$/, '20 digits'],
  ['bik', 'bik', 'payouts_account', /^[0-9]{9}$/, '9 digits'],
  ['inn', 'inn', 'payouts_account', /^([0-9]{10}|[0-9]{12})$/, '10 or 12 digits'],
];

const fieldMistake = (
  method: PayoutMethod,
  [name, written, ofMethod, form, expected]: Field,
  text: string | null,
): string | null => {
  if (text === null)
    return method === ofMethod && name !== 'inn'
      ? `${written}: required, expected ${expected}, got nothing`
      : null;
  if (method !== ofMethod) return `${written}: not a field of ${method}`;
  return form.test(text) && (name !== 'cardPan' || isCardNumber(text))
    ? null
    : `${written}: expected ${expected}, got a string of ${text.length} characters`;
};

const mistakesIn = (method: PayoutMethod, input: PayoutInput): (string | null)[] => {
  const { amount, currency, fullName, orderId, metadata } = input;
  return [
    amount < 1n || amount > largestAmount
      ? `amount: expected an integer from 1 to ${largestAmount}, got ${amount}`
      : null,
    typeof currency === 'string' && currency !== defaultCurrency
      ? `currency: expected ${defaultCurrency}, got ${asCame(currency)}`
      : null,
    textMistake('full_name', fullName, 1, recipientName_max_chars),
    textMistake('order_id', orderId, 1, orderId_max_chars),
    ...fields.map((field) => fieldMistake(method, field, input[field[0]] ?? null)),
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
