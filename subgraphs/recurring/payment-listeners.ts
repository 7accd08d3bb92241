/**
 * The listeners to payments that have moved, in this order, in one transaction
 * (consume-payments.ts). Tokens first: a subscription that becomes active has one.
 */
import type { OnPaymentsMoved } from './consume-payments.ts';
import { followSubscriptions } from './subscriptions/follow-subscriptions.ts';
import { settleTokens } from './tokens/settle-tokens.ts';

export const paymentListeners: readonly OnPaymentsMoved[] = [settleTokens, followSubscriptions];
