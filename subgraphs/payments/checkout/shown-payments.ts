/**
 * The payments that this process created or showed last, so that what the buyer does next needs no
 * read of the row: the statement that writes a change proves that the payment, and the rate of its
 * fee, are still as they are remembered.
 */
import { LRUCache } from 'lru-cache';
import type { Payment } from '../entities.ts';
import type { RatedPayment } from '../store-payment.ts';

/** Payments of buyers that pay at the same time, and shops with a method. */
const remembered_max = 2_000;

export interface ShownPayments {
  /** The payment as it was last known here, with the rate that was last read for its like. */
  readonly find: (paymentId: string) => RatedPayment | undefined;
  /** Remembers a payment as it is now; `rateBps` null: its rate was not read. */
  readonly keep: (rated: RatedPayment) => void;
}

const rateName = ({ shopId, method }: Payment): string => `${shopId}/${method}`;

/** Opens the memory of one process. */
export const openShownPayments = (): ShownPayments => {
  const payments = new LRUCache<string, RatedPayment>({ max: remembered_max });
  const rates = new LRUCache<string, number>({ max: remembered_max });
  return {
    find: (paymentId) => {
      const known = payments.get(paymentId);
      return (
        known && {
          ...known,
          rateBps: known.rateBps ?? rates.get(rateName(known.payment)) ?? null,
        }
      );
    },
    keep: (rated) => {
      payments.set(rated.payment.id, rated);
      if (rated.rateBps !== null) rates.set(rateName(rated.payment), rated.rateBps);
    },
  };
};
