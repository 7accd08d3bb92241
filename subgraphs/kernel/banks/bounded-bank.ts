/**
 * An acquirer that gets no order for money which the merchant's balance has no room for: what a
 * bank has taken cannot be refused any more.
 */
import type { Runner } from '../database/statement.ts';
import { hasRoom } from '../ledger/bound.ts';
import type { Bank } from './bank.ts';

const noRoom = {
  kind: 'declined',
  failureCode: 'limit_exceeded',
  bankCode: 'balance_at_bound',
} as const;

/**
 * The bank behind that check. An order that it has already, or may have, is given again: the
 * repeated one asks what became of the first.
 */
export const boundedBank = (bank: Bank, pool: Runner): Bank => ({
  ...bank,
  openSession: async (order) =>
    order.reference !== null || (await hasRoom(pool, order)) ? bank.openSession(order) : noRoom,
  charge: async (order) =>
    !order.isFirst || (await hasRoom(pool, order)) ? bank.charge(order) : noRoom,
});
