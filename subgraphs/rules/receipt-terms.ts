/**
 * What a caller gives as `receipt`, checked. Additions, section 2: the shape. The items' totals sum
 * to the amount exactly. What is wrong is put in words that name the field, what was expected and
 * what came; never with personal data in them.
 */
import { defaultCurrency, largestAmount, minorUnits } from './money.ts';
import {
  itemTotal,
  measures,
  paymentModes,
  paymentSubjects,
  vatRates,
  type Measure,
  type PaymentMode,
  type PaymentSubject,
  type ReceiptCustomer,
  type ReceiptItem,
  type ReceiptTerms,
} from './receipt.ts';
import { refuse, refuseMistakes, type Refusal } from './refusal.ts';
import { asCame, charactersOf, textMistake } from './texts.ts';

type Maybe<Value> = Value | null | undefined;

export interface ReceiptItemInput {
  readonly description: string;
  readonly quantity: string;
  readonly price: bigint;
  readonly vatCode: number;
  readonly paymentSubject?: Maybe<PaymentSubject>;
  readonly paymentMode?: Maybe<PaymentMode>;
  readonly measure?: Maybe<Measure>;
  readonly markCode?: Maybe<string>;
}

/** A receipt as a caller gives it. */
export interface ReceiptInput {
  readonly customer: { readonly [Name in keyof ReceiptCustomer]?: Maybe<string> };
  readonly taxSystem?: Maybe<number>;
  readonly items: readonly ReceiptItemInput[];
}

const items_max = 100;
const description_max_chars = 128;
const markCode_max_chars = 256;
const email_max_chars = 254;
const fullName_max_chars = 256;
const taxSystem_max = 6;

/** Nine digits before the point are more than any register takes; receipts have three behind it. */
const isQuantity = (text: string): boolean =>
  /^(0|[1-9]\d{0,8})(\.\d{1,3})?$/.test(text) && /[1-9]/.test(text);

/** Whether a text has the form of an e-mail address. */
export const isEmail = (text: string): boolean =>
  charactersOf(text) <= email_max_chars && /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(text);

const customerMistakes = ({
  email,
  phone,
  fullName,
  inn,
}: ReceiptInput['customer']): Maybe<string>[] => [
  email || phone ? null : 'receipt.customer: expected email or phone',
  email && !isEmail(email) ? 'receipt.customer.email: expected an e-mail address' : null,
  phone && !/^\+7\d{10}$/.test(phone) ? 'receipt.customer.phone: expected +7 and 10 digits' : null,
  inn && !/^(\d{10}|\d{12})$/.test(inn) ? 'receipt.customer.inn: expected 10 or 12 digits' : null,
  textMistake('receipt.customer.email', email, 1, email_max_chars),
  textMistake('receipt.customer.full_name', fullName, 1, fullName_max_chars),
];

/** The first day of a code in Moscow, where receipts are registered. */
const isInForce = (code: number, now: Temporal.Instant): boolean => {
  const from = vatRates.find((rate) => rate.code === code)?.from;
  const today = now.toZonedDateTimeISO('Europe/Moscow').toPlainDate();
  return !from || Temporal.PlainDate.compare(from, today) <= 0;
};

const oneOf = (name: string, value: Maybe<string>, all: readonly string[]): string | null =>
  value === null || value === undefined || all.includes(value)
    ? null
    : `${name}: expected one of ${all.join(', ')}`;

const vatMistake = (name: string, vatCode: number, now: Temporal.Instant): string | null => {
  const rate = vatRates.find(({ code }) => code === vatCode);
  if (!rate) return `${name}: expected an integer from 1 to ${vatRates.length}, got ${vatCode}`;
  return isInForce(vatCode, now)
    ? null
    : `${name}: the rate ${rate.rate} is valid from ${rate.from}`;
};

const itemMistakes = (
  item: ReceiptItemInput,
  place: number,
  now: Temporal.Instant,
): Maybe<string>[] => {
  const { description, quantity, price, vatCode } = item;
  const name = (field: string): string => `receipt.items[${place}].${field}`;
  return [
    isQuantity(quantity)
      ? null
      : `${name('quantity')}: expected a decimal number above 0 with at most 3 places, such as "1" or "0.750", got ${asCame(quantity)}`,
    price < 0n || price > largestAmount
      ? `${name('price')}: expected an integer from 0 to 2^53-1, got ${price}`
      : null,
    vatMistake(name('vat_code'), vatCode, now),
    textMistake(name('description'), description, 1, description_max_chars),
    textMistake(name('mark_code'), item.markCode, 1, markCode_max_chars),
    oneOf(name('payment_subject'), item.paymentSubject, paymentSubjects),
    oneOf(name('payment_mode'), item.paymentMode, paymentModes),
    oneOf(name('measure'), item.measure, measures),
  ];
};

const mistakesIn = (
  { customer, taxSystem, items }: ReceiptInput,
  now: Temporal.Instant,
): Maybe<string>[] => [
  typeof taxSystem === 'number' && (taxSystem < 1 || taxSystem > taxSystem_max)
    ? `receipt.tax_system: expected an integer from 1 to ${taxSystem_max}, got ${taxSystem}`
    : null,
  ...(items.length < 1 || items.length > items_max
    ? [`receipt.items: expected 1 to ${items_max} items, got ${items.length}`]
    : items.flatMap((item, place) => itemMistakes(item, place, now))),
  ...customerMistakes(customer),
];

const itemOf = (item: ReceiptItemInput): ReceiptItem => ({
  description: item.description,
  quantity: item.quantity,
  price: minorUnits(item.price),
  vatCode: item.vatCode,
  paymentSubject: item.paymentSubject ?? null,
  paymentMode: item.paymentMode ?? null,
  measure: item.measure ?? null,
  markCode: item.markCode ?? null,
});

/**
 * The terms of a receipt, or `bad_request` naming the field. Whether its items sum to an amount is
 * a question of its own (`sumMistake`), where the amount is known.
 */
export const receiptTerms = (
  input: ReceiptInput,
  now: Temporal.Instant,
): ReceiptTerms | Refusal => {
  const refusal = refuseMistakes(mistakesIn(input, now));
  if (refusal) return refusal;
  const { email, phone, fullName, inn } = input.customer;
  return {
    customer: {
      email: email ?? null,
      phone: phone ?? null,
      fullName: fullName ?? null,
      inn: inn ?? null,
    },
    taxSystem: input.taxSystem ?? null,
    items: input.items.map(itemOf),
  };
};

/** Why the receipt is not one of `amount`, naming both sums; null when it is. */
export const sumMistake = (
  { items }: Pick<ReceiptTerms, 'items'>,
  amount: bigint,
): Refusal | null => {
  const sum = items.reduce((total, item) => total + itemTotal(item), 0n);
  return sum === amount
    ? null
    : refuse('bad_request', `receipt.items: the items sum to ${sum}, but the amount is ${amount}`);
};

/** Why nothing that is paid in this currency has a receipt; null when it may. */
export const receiptCurrencyMistake = (currency: string): Refusal | null =>
  currency === defaultCurrency
    ? null
    : refuse(
        'bad_request',
        `receipt: allowed only with the currency ${defaultCurrency}, got ${currency}`,
      );

/**
 * Why what a caller sells needs a receipt, where its shop demands them; null when it has one, or
 * none is demanded.
 */
export const receiptMistake = (
  { receiptsRequired }: { readonly receiptsRequired?: true },
  receipt: object | null | undefined,
): Refusal | null =>
  receiptsRequired && !receipt
    ? refuse(
        'bad_request',
        'receipt: required by the setting receiptsRequired of the shop, got nothing',
      )
    : null;
