/** What of a receipt's customer is shown. */
import { maskedPhone } from './recipient.ts';
import { keptItem, type KeptItem, type ReceiptCustomer, type ReceiptTerms } from './receipt.ts';

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
