/**
 * The platform's commission. Amount x effective rate, rounded half up, when the payment succeeds; 0
 * for test payments.
 */
import { minorUnits, shareOf, type MinorUnits } from '../../kernel/rules/money.ts';
import type { Mode } from '../../kernel/rules/mode.ts';

/** The fee of a payment of `amount` at `rate_bps` (200 = 2.00 %). */
export const feeOf = (mode: Mode, amount: MinorUnits, rate_bps: number): MinorUnits =>
  mode === 'test' ? minorUnits(0n) : shareOf(amount, rate_bps);
