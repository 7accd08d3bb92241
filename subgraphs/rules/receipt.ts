/**
 * Receipts of 54-FZ: what a shop sold, as it states it, which a cash register makes a fiscal
 * document of. Additions, section 2. Codes and names are those of YooKassa's reference of receipt
 * parameters.
 */
import { enums } from '../../schema/generated/enums.ts';
import type { MinorUnits } from './money.ts';
import { maskedPhone } from './recipient.ts';

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
