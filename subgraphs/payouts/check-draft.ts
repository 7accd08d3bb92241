/**
 * The checks before a payout is created: its terms, the operator's lists, the route, and the bank's
 * check of the recipient. They write nothing and move no money.
 */
import type { Bank } from '../acquirers/bank.ts';
import type { RecipientVerdict } from '../acquirers/payout-bank.ts';
import type { Banks } from '../acquirers/route.ts';
import type { ClaimingCaller } from '../platform/database/idempotency.ts';
import type { PolicyLists } from '../platform/policies/policies.ts';
import { defaultCurrency } from '../rules/money.ts';
import type { FailureCode } from '../rules/failure-code.ts';
import type { Recipient } from '../rules/recipient.ts';
import { isRefusal, refuse, type Refusal } from '../rules/refusal.ts';
import type { Logger } from '../platform/tracing/telemetry.ts';
import { callWithin } from './order-payout.ts';
import { wayOf, type PayoutMethod } from './rules/payout.ts';

/** What of a recipient the operator's lists name. */
const listedOf = (recipient: Recipient): readonly ['phone' | 'card' | 'account', string] => {
  switch (recipient.way) {
    case 'sbp':
      return ['phone', recipient.phone];
    case 'card':
      return ['card', recipient.cardNumber];
    case 'account':
      return ['account', recipient.accountNumber];
  }
};

/**
 * The bank for payouts of a method; `route_not_configured`, or `method_unsupported` when no bank of
 * the shop's routes supports it.
 */
export const payoutBank = (
  banks: Banks,
  { merchantId, shopId, mode }: ClaimingCaller,
  method: PayoutMethod,
): Promise<Bank | Refusal> =>
  banks.route({
    merchantId,
    shopId,
    mode,
    operation: 'payout',
    method: wayOf[method],
    currency: defaultCurrency,
  });

/** How long a caller waits for the bank's answer about a recipient. */
const checkDeadline_s = 5;

/** The bank's check, where it has one. A card's number is sent only once, with the order. */
const recipientVerdict = async (
  bank: Bank,
  recipient: Recipient,
  log: Logger,
): Promise<RecipientVerdict> => {
  if (recipient.way === 'card' || !bank.checkRecipient) return { kind: 'acceptable' };
  return callWithin(
    checkDeadline_s,
    log,
    null,
    async (signal) => bank.checkRecipient?.(recipient, signal) ?? { kind: 'acceptable' },
  );
};

/** An accepted recipient and its bank; `refusedAs` when that bank has already refused it. */
export interface Checked {
  readonly bank: Bank;
  readonly refusedAs: FailureCode | null;
}

interface Checking {
  readonly policies: PolicyLists;
  readonly merchantId: string;
  readonly bank: Bank | Refusal;
  readonly log: Logger;
}

/**
 * Checks a recipient against the lists, the route (a bank, or why there is none) and the bank's own
 * check. A replay does not need it.
 */
export const checkRecipient = async (
  { policies, merchantId, bank, log }: Checking,
  recipient: Recipient,
): Promise<Checked | Refusal> => {
  const [kind, listed] = listedOf(recipient);
  if (policies.isBlocked(merchantId, kind, listed))
    return refuse('aml_blocked', `payouts to this ${kind} are not accepted`);
  if (isRefusal(bank)) return bank;
  const verdict = await recipientVerdict(bank, recipient, log);
  switch (verdict.kind) {
    case 'acceptable':
    case 'unknown':
      return { bank, refusedAs: null };
    case 'declined':
      return { bank, refusedAs: verdict.failureCode };
    case 'misrouted':
      return { bank, refusedAs: 'bank_unknown' };
  }
};
