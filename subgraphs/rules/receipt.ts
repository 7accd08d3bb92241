/**
 * Receipts of 54-FZ: what a shop sold, as it states it, which a cash register makes a fiscal
 * document of. Additions, section 2. Codes and names are those of YooKassa's reference of receipt
 * parameters.
 */
import { enums } from '../../schema/generated/enums.ts';
import { type MinorUnits, defaultCurrency, largestAmount, minorUnits } from './money.ts';
import { maskedPhone } from './recipient.ts';
import {
  refuse,
  refuseMistakes,
  type Refusal,
  asCame,
  charactersOf,
  textMistake,
} from './refusal.ts';

/** For money that moved, or (`closing`) for goods handed over after a prepayment. */
export type ReceiptType = (typeof enums.ReceiptType)[number];

export const receiptStatuses = enums.ReceiptStatus;
export type ReceiptStatus = (typeof receiptStatuses)[number];

/**
 * How long after it was made a bank is asked about a receipt first: cash registers take about as
 * long, and the simulated one exactly so.
 */
export const receiptDelay_ms = 2_000;

/** A VAT rate as a receipt names it (tag 1199), and the days on which goods were sold at it. */
interface VatRate {
  readonly code: number;
  readonly rate: string;
  /** The first day; null: it is older than receipts. */
  readonly from: string | null;
  /** The last day; null: it is in force. */
  readonly until: string | null;
}

/**
 * The rates by date: chapter 21 of the tax code; 425-FZ of 28 November 2025 raised 20 % to 22 %,
 * 176-FZ of 12 July 2024 brought 5 % and 7 %. What was shipped while a rate was in force is paid,
 * returned and settled at that rate later, too.
 */
export const vatRates: readonly VatRate[] = [
  { code: 1, rate: 'none', from: null, until: null },
  { code: 2, rate: '0%', from: null, until: null },
  { code: 3, rate: '10%', from: null, until: null },
  { code: 4, rate: '20%', from: '2019-01-01', until: '2025-12-31' },
  { code: 5, rate: '10/110', from: null, until: null },
  { code: 6, rate: '20/120', from: '2019-01-01', until: '2025-12-31' },
  { code: 7, rate: '5%', from: '2025-01-01', until: null },
  { code: 8, rate: '7%', from: '2025-01-01', until: null },
  { code: 9, rate: '5/105', from: '2025-01-01', until: null },
  { code: 10, rate: '7/107', from: '2025-01-01', until: null },
  { code: 11, rate: '22%', from: '2026-01-01', until: null },
  { code: 12, rate: '22/122', from: '2026-01-01', until: null },
];

/** What is sold (tag 1212). */
export const paymentSubjects = enums.ReceiptPaymentSubject;
export type PaymentSubject = (typeof paymentSubjects)[number];

/**
 * How it is paid (tag 1214). `prepayment` is what YooKassa calls
 * `partial_prepayment`; both names are taken and kept as they came.
 */
export const paymentModes = enums.ReceiptPaymentMode;
export type PaymentMode = (typeof paymentModes)[number];

/** The unit of the quantity (tag 2108). */
export const measures = enums.ReceiptMeasure;
export type Measure = (typeof measures)[number];

export interface ReceiptItem {
  readonly description: string;
  /** A decimal number above 0 with at most three places, as it came. */
  readonly quantity: string;
  /** Of one; may be 0. */
  readonly price: MinorUnits;
  /** A code of `vatRates`. */
  readonly vatCode: number;
  readonly paymentSubject: PaymentSubject | null;
  readonly paymentMode: PaymentMode | null;
  readonly measure: Measure | null;
  readonly markCode: string | null;
}

/** The receiver of the receipt: an e-mail address or a phone at least. Personal data. */
export interface ReceiptCustomer {
  readonly email: string | null;
  /** +7 and 10 digits. */
  readonly phone: string | null;
  readonly fullName: string | null;
  /** 10 or 12 digits. */
  readonly inn: string | null;
}

/** An item as rows keep it. */
export type KeptItem = Omit<ReceiptItem, 'price'> & { readonly price: number };

export const keptItem = (item: ReceiptItem): KeptItem => ({ ...item, price: Number(item.price) });

/** What a receipt is made of. */
export interface ReceiptTerms {
  readonly customer: ReceiptCustomer;
  /** 1 to 6 (tag 1055); null: the cash register's own. */
  readonly taxSystem: number | null;
  readonly items: readonly ReceiptItem[];
}

/** Price x quantity in minor units, rounded half up to a kopeck. */
export const itemTotal = ({ price, quantity }: Pick<ReceiptItem, 'price' | 'quantity'>): bigint => {
  const [whole = '', places = ''] = quantity.split('.');
  return (price * BigInt(`${whole}${places.padEnd(3, '0')}`) + 500n) / 1_000n;
};

// What of a receipt's customer is shown.

/** `ivanov@example.com` as `i***@example.com`. */
const maskedEmail = (email: string): string => {
  const at = email.lastIndexOf('@');
  return `${Array.from(email)[0] ?? ''}***${email.slice(at)}`;
};

/** `Иван Петров` as `И*** П***`. */
export const maskedName = (name: string): string =>
  name
    .split(/\s+/)
    .filter((part) => part !== '')
    .map((part) => `${Array.from(part)[0] ?? ''}***`)
    .join(' ');

const maskedInn = (inn: string): string => `${'*'.repeat(inn.length - 4)}${inn.slice(-4)}`;

const masked = (text: string | null, mask: (text: string) => string): string | null =>
  text === null ? null : mask(text);

/** The customer as answers, events and webhooks show it. */
export const shownCustomer = (customer: ReceiptCustomer): ReceiptCustomer => ({
  email: masked(customer.email, maskedEmail),
  phone: masked(customer.phone, maskedPhone),
  fullName: masked(customer.fullName, maskedName),
  inn: masked(customer.inn, maskedInn),
});

/** A customer whose data were erased. */
export const nobody: ReceiptCustomer = { email: null, phone: null, fullName: null, inn: null };

/** Terms as all readers see them. */
export interface ShownTerms {
  /** Null once its data were erased. */
  readonly customer: ReceiptCustomer | null;
  readonly taxSystem: number | null;
  readonly items: readonly KeptItem[];
}

/** What is shown of a receipt that is yet to be made. */
export const shownTerms = ({ customer, taxSystem, items }: ReceiptTerms): ShownTerms => ({
  customer: shownCustomer(customer),
  taxSystem,
  items: items.map(keptItem),
});

/*
 * What a caller gives as `receipt`, checked. The items' totals sum to the amount exactly. What is
 * wrong is put in words that name the field, what was expected and what came; never with personal
 * data in them.
 */

type Maybe<Value> = Value | null | undefined;

interface ReceiptItemInput {
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

const isGiven = (text: Maybe<string>): text is string => text !== null && text !== undefined;

const customerMistakes = ({
  email,
  phone,
  fullName,
  inn,
}: ReceiptInput['customer']): Maybe<string>[] => [
  email || phone ? null : 'receipt.customer: expected email or phone',
  email && !isEmail(email) ? 'receipt.customer.email: expected an e-mail address' : null,
  isGiven(phone) && !/^\+7\d{10}$/.test(phone)
    ? 'receipt.customer.phone: expected +7 and 10 digits'
    : null,
  isGiven(inn) && !/^(\d{10}|\d{12})$/.test(inn)
    ? 'receipt.customer.inn: expected 10 or 12 digits'
    : null,
  textMistake('receipt.customer.email', email, 1, email_max_chars),
  textMistake('receipt.customer.full_name', fullName, 1, fullName_max_chars),
];

/** The first day of a code in Moscow, where receipts are registered. */
const isInForce = (code: number, now: Temporal.Instant): boolean => {
  const from = vatRates.find((rate) => rate.code === code)?.from;
  const today = now.toZonedDateTimeISO('Europe/Moscow').toPlainDate();
  return !from || Temporal.PlainDate.compare(from, today) <= 0;
};

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

/** Why a sale needs a receipt; null when it has one, or its shop demands none. */
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
