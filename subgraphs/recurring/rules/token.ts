/**
 * A token's life. A binding that ends without a saved method ends the token: it can no longer be
 * confirmed.
 */
import { enums } from '../../../schema/generated/enums.ts';
import { movesBy } from '../../rules/moves.ts';
import type { ReceiptInput } from '../../rules/receipt.ts';
import {
  metadataMistakes,
  textMistake,
  refuseMistakes,
  type Refusal,
} from '../../rules/refusal.ts';
import { verificationAmount, type SavableMethod } from '../../rules/recurring.ts';

export const tokenStatuses = enums.TokenStatus;
export type TokenStatus = (typeof tokenStatuses)[number];

type TokenTrigger = 'bound' | 'binding_ended' | 'merchant_cancelled';

export const tokenMove = movesBy<TokenStatus, TokenTrigger>({
  pending: { bound: 'active', binding_ended: 'cancelled', merchant_cancelled: 'cancelled' },
  active: { merchant_cancelled: 'cancelled' },
  cancelled: {},
});

export const customerRef_max_chars = 255;
export const customerEmail_max_chars = 254;
const orderId_max_chars = 255;
const description_max_chars = 4_000;
const returnUrl_max_chars = 2_048;

/** What is wrong with a page's return address; null when nothing is. */
export const returnUrlMistake = (returnUrl: string | null | undefined): string | null =>
  textMistake('return_url', returnUrl, 1, returnUrl_max_chars) ??
  (typeof returnUrl !== 'string' || URL.parse(returnUrl)?.protocol === 'https:'
    ? null
    : 'return_url: expected an address that starts with https://');

/** The merchant's input. */
export interface TokenInput {
  readonly customerRef: string;
  readonly method?: SavableMethod | null | undefined;
  /** Minor units. */
  readonly amount?: bigint | null | undefined;
  readonly customerEmail?: string | null | undefined;
  readonly returnUrl?: string | null | undefined;
  readonly metadata?: Record<string, string> | null | undefined;
  /** The description of the first charge, which binds the token; a card has none. */
  readonly receipt?: ReceiptInput | null | undefined;
}

const mistakesIn = (input: TokenInput): (string | null)[] => [
  textMistake('customer_ref', input.customerRef, 1, customerRef_max_chars),
  textMistake('customer_email', input.customerEmail, 0, customerEmail_max_chars),
  input.customerEmail && !/^[^@\s]+@[^@\s]+$/.test(input.customerEmail)
    ? 'customer_email: expected an address such as buyer@example.com'
    : null,
  returnUrlMistake(input.returnUrl),
  ...metadataMistakes(input.metadata),
  chargeMistakeIn(input),
];

const chargeMistakeIn = ({ method, amount, receipt }: TokenInput): string | null => {
  // The amount of a card's binding is ignored, whatever it is.
  if ((method ?? 'cards') === 'cards')
    return receipt
      ? 'receipt: allowed only with sbp or tpay, which are bound by a first charge, got cards'
      : null;
  if (amount === null || amount === undefined)
    return `amount: required for ${method}, which is bound by a first charge`;
  return amount < 1n ? `amount: expected an integer from 1 to 2^53-1, got ${amount}` : null;
};

/**
 * The terms of a new token, or `bad_request` naming the field, the expected and the given value.
 */
export const tokenTerms = (input: TokenInput) => {
  const refusal = refuseMistakes(mistakesIn(input));
  if (refusal) return refusal;
  const method = input.method ?? 'cards';
  const verification = method === 'cards';
  return {
    customerRef: input.customerRef,
    method,
    /** Of the binding payment, minor units. */
    amount: verification ? verificationAmount : (input.amount ?? verificationAmount),
    /** A card is verified with 1 RUB that is not charged; others are bound by the first charge. */
    verification,
    customerEmail: input.customerEmail ?? null,
    returnUrl: input.returnUrl ?? null,
    metadata: input.metadata ?? null,
  };
};

/** The input of a charge. */
export interface ChargeTerms {
  readonly amount: bigint;
  readonly orderId: string | null;
  readonly description: string | null;
  /** Absent: none. */
  readonly metadata?: Record<string, string>;
}

/** Refuses a charge's terms with all errors; null when there are none. */
export const chargeMistake = ({ amount, ...terms }: ChargeTerms): Refusal | null =>
  refuseMistakes([
    amount < 1n ? `amount: expected an integer from 1 to 2^53-1, got ${amount}` : null,
    textMistake('order_id', terms.orderId, 1, orderId_max_chars),
    textMistake('description', terms.description, 0, description_max_chars),
    ...metadataMistakes(terms.metadata),
  ]);
