/**
 * What registers a shop's receipts, in its settings (`/me`). A receipt for a shop without a cash
 * register would be lost: its movement is not ordered.
 */
import { LRUCache } from 'lru-cache';
import type { Account } from '../bank-accounts.ts';
import type { ReceiptTerms } from '../../rules/receipt.ts';
import type { Client } from './client.ts';
import { readCashRegister } from './receipt-wire.ts';
import { receiptMistake, type CashRegister } from './receipt-words.ts';

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
