/** The editable items of a receipt, and their sum. */
import type * as graph from '../../../schema/generated/console.ts';

type Receipt = NonNullable<graph.ReceiptTermsQuery['payment']>['receipts'][number];
type Item = Receipt['items'][number];

export interface TypedItem {
  readonly item: Item;
  readonly quantity: string;
  readonly price: string;
}

const quantityForm = /^\d{1,9}(?:[.,]\d{1,3})?$/;

/** A quantity in thousandths; null when it is invalid. */
export const readQuantity = (text: string): number | null => {
  const typed = text.trim();
  if (!quantityForm.test(typed)) return null;
  const [whole = '0', part = ''] = typed.split(/[.,]/);
  return Number(whole) * 1_000 + Number(part.padEnd(3, '0'));
};

/** Price times quantity, rounded half up to a minor unit, as on the receipt. */
export const totalOf = (price: number, thousandths: number): number =>
  Number((BigInt(price) * BigInt(thousandths) + 500n) / 1_000n);

/** The items to send, without empty ones, and their sum; null when a number is invalid. */
export const readItems = (
  typed: readonly TypedItem[],
  readPrice: (text: string) => number | null,
  /** Whether each is paid for as it was; else in full: the goods of a closing receipt are there. */
  isKept = false,
): { readonly items: readonly graph.ReceiptItemInput[]; readonly sum: number } | null => {
  const items: graph.ReceiptItemInput[] = [];
  let sum = 0;
  for (const { item, quantity, price } of typed) {
    const thousandths = readQuantity(quantity);
    const each = readPrice(price);
    if (thousandths === null || each === null) return null;
    if (thousandths === 0) continue;
    sum += totalOf(each, thousandths);
    items.push({
      ...item,
      quantity: quantity.trim().replace(',', '.'),
      price: each,
      paymentMode: isKept ? item.paymentMode : 'full_payment',
    });
  }
  return { items, sum };
};

/** The items of the payment's receipt, less refunded quantities. */
export const itemsLeft = (
  receipts: readonly Receipt[],
  priceText: (price: number) => string,
): readonly TypedItem[] => {
  const given = receipts.filter(({ type }) => type === 'refund').flatMap(({ items }) => items);
  const back = new Map<string, number>();
  const nameOf = ({ description, price }: Item): string => `${price} ${description}`;
  for (const item of given)
    back.set(nameOf(item), (back.get(nameOf(item)) ?? 0) + (readQuantity(item.quantity) ?? 0));
  const items = receipts.find(({ type }) => type === 'payment')?.items ?? [];
  return items.map((item) => {
    const all = readQuantity(item.quantity) ?? 0;
    const gone = Math.min(all, back.get(nameOf(item)) ?? 0);
    back.set(nameOf(item), (back.get(nameOf(item)) ?? 0) - gone);
    return { item, quantity: String((all - gone) / 1_000), price: priceText(item.price) };
  });
};
