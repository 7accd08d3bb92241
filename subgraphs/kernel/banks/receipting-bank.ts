/**
 * An acquirer whose orders get their receipts: payments name the owner of the terms, and the order
 * gets the terms here, just before it is sent. An order without a receipt costs nothing.
 */
import type { Bank } from './bank.ts';
import type { HoldOrder } from './hold-bank.ts';
import type { ReadTerms } from './receipt-terms.ts';

interface Ordered {
  readonly merchantId: string;
  readonly receiptTermsId?: string | null;
}

/** The bank behind that look-up. */
export const receiptingBank = (bank: Bank, readTerms: ReadTerms): Bank => {
  const withReceipt = async <Order extends Ordered>(order: Order): Promise<Order> => {
    const { merchantId, receiptTermsId: termsId } = order;
    if (!termsId) return order;
    const [receipt] = await readTerms([{ merchantId, termsId }]);
    return receipt ? { ...order, receipt } : order;
  };
  return {
    ...bank,
    openSession: async (order) => bank.openSession(await withReceipt(order)),
    charge: async (order) => bank.charge(await withReceipt(order)),
    refund: async (order) => bank.refund(await withReceipt(order)),
    ...(bank.settleHold
      ? {
          settleHold: async (order: HoldOrder) =>
            (await bank.settleHold?.(await withReceipt(order))) ?? { kind: 'unknown' },
        }
      : {}),
  };
};
