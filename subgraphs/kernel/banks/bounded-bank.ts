/**
 * An acquirer that gets no order for money that exceeds the bound of the merchant's balance: money
 * that a bank has taken can no longer be refused.
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
 * The bank behind that check. An order that it has or may have is sent again: the repeated one
 * queries the result of the first.
 */
export const boundedBank = (bank: Bank, pool: Runner): Bank => ({
  ...bank,
  openSession: async (order) =>
    order.reference !== null || (await hasRoom(pool, order)) ? bank.openSession(order) : noRoom,
  charge: async (order) =>
    !order.isFirst || (await hasRoom(pool, order)) ? bank.charge(order) : noRoom,
});
