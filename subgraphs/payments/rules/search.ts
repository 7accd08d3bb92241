/**
 * The conditions of a search over payments. A malformed value is refused, instead of finding
 * nothing.
 */
import type { PaymentStatus } from './payment.ts';
import { uuidInAnyCase } from '../../rules/ids.ts';

/** What is searched for; null or absent: anything. */
export interface PaymentSearch {
  readonly id?: string | null | undefined;
  readonly publicId?: string | null | undefined;
  readonly orderId?: string | null | undefined;
  readonly customerId?: string | null | undefined;
  readonly rrn?: string | null | undefined;
  /** The card's last 4 digits. */
  readonly cardMask?: string | null | undefined;
  readonly amount?: bigint | null | undefined;
  readonly status?: readonly PaymentStatus[] | null | undefined;
  /** UTC days, inclusive. */
  readonly from?: string | null | undefined;
  readonly to?: string | null | undefined;
}

/** How many days a search may walk through when nothing in it has an index of its own. */
export const searchSpan_days = 31;

const shapes = {
  id: [uuidInAnyCase, 'a UUID'],
  publicId: [/^P-\d{1,18}$/, 'P-<digits>'],
  orderId: [/^[^\0\p{Cs}]{1,500}$/su, '1 to 500 characters'],
  customerId: [/^[^\0\p{Cs}]{1,500}$/su, '1 to 500 characters'],
  rrn: [/^[0-9A-Za-z]{1,40}$/, 'up to 40 letters and digits'],
  cardMask: [/^\d{4}$/, 'the last 4 digits of a card'],
} as const satisfies Partial<Record<keyof PaymentSearch, readonly [RegExp, string]>>;

/**
 * Whether something is asked for that has an index of its own, or lies in the span that one may
 * walk through.
 */
export const isExact = ({ id, publicId, orderId, customerId, rrn }: PaymentSearch): boolean =>
  [id, publicId, orderId, customerId, rrn].some((value) => value !== null && value !== undefined);

/** The first mistake in a search, with its field; null if there is none. */
export const searchMistake = (search: PaymentSearch): string | null => {
  for (const name of ['id', 'publicId', 'orderId', 'customerId', 'rrn', 'cardMask'] as const) {
    const value = search[name];
    const [shape, expected] = shapes[name];
    if (value !== null && value !== undefined && !shape.test(value))
      return `search.${name}: expected ${expected}`;
  }
  const { amount, status } = search;
  if (amount !== null && amount !== undefined && amount < 1n)
    return `search.amount: expected an integer from 1 to 2^53-1, got ${amount}`;
  return status?.length === 0 ? 'search.status: expected at least one status' : null;
};
