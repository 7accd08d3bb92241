/** Who hears of payments that have moved, in this order, in one transaction (follow-payments.ts). */
import type { OnPaymentsMoved } from './follow-payments.ts';
import { settleTokens } from './settle-tokens.ts';

export const paymentListeners: readonly OnPaymentsMoved[] = [settleTokens];
