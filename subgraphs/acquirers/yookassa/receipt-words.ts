/**
 * Receipts in YooKassa's words: its codes and names are those of our receipts (additions, section
 * 2). What it has no words for is refused before money moves.
 */
import type { ReceiptItem, ReceiptTerms } from '../../rules/receipt.ts';
import { markCodeOf, type MarkCode } from '../mark-code.ts';
import { wireAmount } from './amount.ts';

const markFields = {
  ean8: 'ean_8',
  ean13: 'ean_13',
  itf14: 'itf_14',
  gs1m: 'gs_1m',
  fur: 'fur',
  unknown: 'unknown',
} as const satisfies Record<MarkCode['kind'], string>;

/**
 * A marked product (tag 1163): its code by its kind, "0" as the mode of its check, and a whole
 * package where pieces are counted.
 */
const wireMark = ({ markCode, measure }: ReceiptItem) => {
  const mark = markCode === null ? null : markCodeOf(markCode);
  if (!mark) return {};
  return {
    mark_code_info: { [markFields[mark.kind]]: mark.code },
    mark_mode: '0',
    ...(measure === 'piece' ? { mark_quantity: { numerator: 1, denominator: 1 } } : {}),
  };
};

const wireItem = (item: ReceiptItem, currency: string) => ({
  description: item.description,
  amount: wireAmount(item.price, currency),
  vat_code: item.vatCode,
  // Its API has numbers; three places are exact in one.
  quantity: Number(item.quantity),
  ...(item.measure === null ? {} : { measure: item.measure }),
  ...(item.paymentSubject === null ? {} : { payment_subject: item.paymentSubject }),
  ...(item.paymentMode === null
    ? {}
    : {
        payment_mode: item.paymentMode === 'prepayment' ? 'partial_prepayment' : item.paymentMode,
      }),
  ...wireMark(item),
});

/** What goes with a movement as `receipt`, and into an order of a receipt of its own. */
export const wireReceipt = (
  { customer: { fullName, inn, email, phone }, taxSystem, items }: ReceiptTerms,
  currency: string,
) => ({
  customer: {
    ...(fullName === null ? {} : { full_name: fullName }),
    ...(inn === null ? {} : { inn }),
    ...(email === null ? {} : { email }),
    ...(phone === null ? {} : { phone: phone.replaceAll(/\D/g, '') }),
  },
  items: items.map((item) => wireItem(item, currency)),
  ...(taxSystem === null ? {} : { tax_system_code: taxSystem }),
});

/** What registers a shop's receipts, as YooKassa says of its settings. */
export interface CashRegister {
  readonly isOn: boolean;
  readonly provider: string | null;
}

/** YooKassa's own registers, which send receipts by e-mail alone. */
const ownRegisters: ReadonlySet<string> = new Set(['avanpost', 'yoo_receipt']);
const ownItems_max = 80;
const quantity_max = 100_000;

/** Why it does not support a receipt, as a code for people; null when it does. */
export const receiptMistake = (
  { customer, items }: ReceiptTerms,
  register: CashRegister | null,
): string | null => {
  if (register?.isOn === false) return 'no_cash_register';
  const isOwn = ownRegisters.has(register?.provider ?? '');
  if (isOwn && customer.email === null) return 'receipt_email';
  if (isOwn && items.length > ownItems_max) return 'receipt_items';
  if (items.some(({ quantity }) => Number(quantity) >= quantity_max)) return 'receipt_quantity';
  const isMarkUnknown = ({ markCode }: ReceiptItem): boolean =>
    markCode !== null && markCodeOf(markCode) === null;
  return items.some(isMarkUnknown) ? 'receipt_mark_code' : null;
};
