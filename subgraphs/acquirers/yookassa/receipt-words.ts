/**
 * Receipts in YooKassa's words: its codes and names are those of our receipts (additions, section
 * 2). What it has no words for is refused before money moves.
 */
import { LRUCache } from 'lru-cache';
import * as v from 'valibot';
import { largestAmount, minorUnits, type MinorUnits } from '../../rules/money.ts';
import {
  type ReceiptItem,
  type ReceiptTerms,
  itemTotal,
  type ReceiptType,
} from '../../rules/receipt.ts';
import type { Account } from '../bank-accounts.ts';
import { orNull, part, text } from '../bank-http.ts';
import { markCodeOf, type MarkCode } from '../receipt-terms.ts';
import type { Client } from './client.ts';
import { wireAmount, amountIn, instant } from './wire.ts';

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

// What registers a shop's receipts, in its settings (`/me`). A receipt for a shop without a cash
// register would be lost: its movement is not ordered.

/** Why a receipt cannot be registered for a shop, as a code; null when nothing says so. */
export type ReceiptRefusal = (
  shop: Account,
  terms: ReceiptTerms | undefined,
  now: Temporal.Instant,
) => Promise<string | null>;

const kept_min = 10;
const shops_max = 1_000;
/** An order stops waiting for the settings, and is sent without them. */
const patience_ms = 2_000;

interface Known {
  readonly until: Temporal.Instant;
  readonly register: Promise<CashRegister | null>;
}

// YooKassa's receipts and a shop's settings of them, as they arrive.

const money = v.object({ value: v.string(), currency: v.string() });

const receipt = v.object({
  id: text,
  type: v.picklist(['payment', 'refund']),
  status: v.picklist(['pending', 'succeeded', 'canceled']),
  payment_id: orNull(text),
  refund_id: orNull(text),
  fiscal_storage_number: orNull(text),
  fiscal_document_number: orNull(text),
  fiscal_attribute: orNull(text),
  registered_at: orNull(instant),
  items: v.array(v.object({ quantity: v.number(), amount: money })),
  settlements: orNull(v.array(v.object({ type: v.string(), amount: money }))),
});

export interface WireReceipt {
  readonly id: string;
  /** One that settles a prepayment is a closing one. */
  readonly type: ReceiptType;
  readonly status: 'pending' | 'succeeded' | 'canceled';
  readonly paymentId: string | null;
  readonly refundId: string | null;
  /** Its sum as its settlements state it, else as its items do; null when it cannot be read. */
  readonly sum: MinorUnits | null;
  /** Null until they are all there. */
  readonly fiscal: {
    readonly storageNumber: string;
    readonly documentNumber: string;
    readonly attribute: string;
    readonly registeredAt: Temporal.Instant;
  } | null;
}

/** More than any receipt has: what is beyond is not read. */
const price = /^\d{1,8}\.\d{2}$/;

const kopecks = (amount: v.InferOutput<typeof money>): MinorUnits | null =>
  price.test(amount.value) ? amountIn(amount, 'RUB') : null;

/** The sum of what is all there; null when a part is not, or it is no amount of money. */
const together = (parts: readonly (bigint | null)[]): MinorUnits | null => {
  const sum = parts.reduce((so, each) => (so === null || each === null ? null : so + each), 0n);
  return sum === null || sum > largestAmount ? null : minorUnits(sum);
};

const totalOf = ({ quantity, amount }: v.InferOutput<typeof receipt>['items'][number]) => {
  const ofOne = kopecks(amount);
  if (ofOne === null || !(quantity >= 0 && quantity < quantity_max)) return null;
  return itemTotal({ price: ofOne, quantity: quantity.toFixed(3) });
};

const fiscalOf = ({
  fiscal_storage_number: storageNumber,
  fiscal_document_number: documentNumber,
  fiscal_attribute: attribute,
  registered_at: registeredAt,
}: v.InferOutput<typeof receipt>): WireReceipt['fiscal'] =>
  storageNumber !== null && documentNumber !== null && attribute !== null && registeredAt !== null
    ? { storageNumber, documentNumber, attribute, registeredAt }
    : null;

/** A receipt; null when what every receipt has cannot be read. */
export const readReceipt = (body: unknown): WireReceipt | null => {
  const { success, output } = v.safeParse(receipt, body);
  if (!success) return null;
  const { id, status, payment_id: paymentId, refund_id: refundId, items } = output;
  const settlements = output.settlements ?? [];
  const isClosing =
    output.type === 'payment' && settlements.some(({ type }) => type === 'prepayment');
  return {
    id,
    type: isClosing ? 'closing' : output.type,
    status,
    paymentId,
    refundId,
    sum: together(
      settlements.length > 0
        ? settlements.map(({ amount }) => kopecks(amount))
        : items.map(totalOf),
    ),
    fiscal: fiscalOf(output),
  };
};

const settings = part({
  fiscalization: v.nullish(v.object({ enabled: v.boolean(), provider: orNull(text) })),
});

/** How a shop's receipts are registered, in its settings. */
const readCashRegister = (body: unknown): CashRegister => {
  const { fiscalization } = v.parse(settings, body);
  return { isOn: fiscalization?.enabled === true, provider: fiscalization?.provider ?? null };
};

/** Opens the lookup; settings are cached for ten minutes. */
export const openReceiptRefusal = (client: Client): ReceiptRefusal => {
  const known = new LRUCache<string, Known>({ max: shops_max });
  const ask = async (account: Account): Promise<CashRegister | null> => {
    const signal = AbortSignal.timeout(patience_ms);
    const answer = await client.call({ account, path: '/me', signal });
    // Without an answer the next order queries again.
    if (answer.kind !== 'answered') known.delete(account.id);
    return answer.kind === 'answered' ? readCashRegister(answer.body) : null;
  };
  const registerOf = (shop: Account, now: Temporal.Instant): Promise<CashRegister | null> => {
    const found = known.get(shop.id);
    if (found && Temporal.Instant.compare(now, found.until) < 0) return found.register;
    const register = ask(shop);
    known.set(shop.id, { until: now.add({ minutes: kept_min }), register });
    return register;
  };
  return async (shop, terms, now) => {
    if (!terms) return null;
    return receiptMistake(terms, null) ?? receiptMistake(terms, await registerOf(shop, now));
  };
};
