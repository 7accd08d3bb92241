/** YooKassa's receipts and a shop's settings of them, as they arrive. */
import {
  array,
  boolean,
  nullish,
  number,
  object,
  parse,
  picklist,
  safeParse,
  string,
  type InferOutput,
} from 'valibot';
import { largestAmount, minorUnits, type MinorUnits } from '../../rules/money.ts';
import { itemTotal, type ReceiptType } from '../../rules/receipt.ts';
import { orNull, part, text } from '../bank-http.ts';
import { amountIn } from './amount.ts';
import type { CashRegister } from './receipt-words.ts';
import { instant } from './wire.ts';

const money = object({ value: string(), currency: string() });

const receipt = object({
  id: text,
  type: picklist(['payment', 'refund']),
  status: picklist(['pending', 'succeeded', 'canceled']),
  payment_id: orNull(text),
  refund_id: orNull(text),
  fiscal_storage_number: orNull(text),
  fiscal_document_number: orNull(text),
  fiscal_attribute: orNull(text),
  registered_at: orNull(instant),
  items: array(object({ quantity: number(), amount: money })),
  settlements: orNull(array(object({ type: string(), amount: money }))),
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
const quantity_max = 100_000;

const kopecks = (amount: InferOutput<typeof money>): MinorUnits | null =>
  price.test(amount.value) ? amountIn(amount, 'RUB') : null;

/** The sum of what is all there; null when a part is not, or it is no amount of money. */
const together = (parts: readonly (bigint | null)[]): MinorUnits | null => {
  const sum = parts.reduce((so, each) => (so === null || each === null ? null : so + each), 0n);
  return sum === null || sum > largestAmount ? null : minorUnits(sum);
};

const totalOf = ({ quantity, amount }: InferOutput<typeof receipt>['items'][number]) => {
  const ofOne = kopecks(amount);
  if (ofOne === null || !(quantity >= 0 && quantity < quantity_max)) return null;
  return itemTotal({ price: ofOne, quantity: quantity.toFixed(3) });
};

const fiscalOf = ({
  fiscal_storage_number: storageNumber,
  fiscal_document_number: documentNumber,
  fiscal_attribute: attribute,
  registered_at: registeredAt,
}: InferOutput<typeof receipt>): WireReceipt['fiscal'] =>
  storageNumber !== null && documentNumber !== null && attribute !== null && registeredAt !== null
    ? { storageNumber, documentNumber, attribute, registeredAt }
    : null;

/** A receipt; null when what every receipt has cannot be read. */
export const readReceipt = (body: unknown): WireReceipt | null => {
  const { success, output } = safeParse(receipt, body);
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
  fiscalization: nullish(object({ enabled: boolean(), provider: orNull(text) })),
});

/** How a shop's receipts are registered, in its settings. */
export const readCashRegister = (body: unknown): CashRegister => {
  const { fiscalization } = parse(settings, body);
  return { isOn: fiscalization?.enabled === true, provider: fiscalization?.provider ?? null };
};
