/**
 * Validates a new subscription. T-Pay has no trial, since its first payment is a charge
 * (docs/contract.md#first-payment).
 */
import type { SavableMethod } from '../../rules/recurring.ts';
import type { ReceiptInput } from '../../rules/receipt.ts';
import {
  metadataMistakes,
  textMistake,
  refuseMistakes,
  type Refusal,
} from '../../rules/refusal.ts';
import type { SchedulePeriod } from './schedule.ts';
import { customerEmail_max_chars, customerRef_max_chars, returnUrlMistake } from './token.ts';

const customerPhone_max_chars = 32;
const planName_max_chars = 255;
const intervalCount_max = 1_000;
const trial_max_days = 3_650;

/** The merchant's input. */
export interface SubscriptionInput {
  /** Minor units, each period. */
  readonly amount: bigint;
  readonly customerRef: string;
  readonly customerEmail?: string | null | undefined;
  readonly customerPhone?: string | null | undefined;
  readonly planName?: string | null | undefined;
  readonly method?: SavableMethod | null | undefined;
  readonly period?: SchedulePeriod | null | undefined;
  readonly intervalCount?: number | null | undefined;
  readonly trialDays?: number | null | undefined;
  readonly returnUrl?: string | null | undefined;
  readonly metadata?: Record<string, string> | null | undefined;
  /** Of each period. */
  readonly receipt?: ReceiptInput | null | undefined;
}

const withDefaults = (input: SubscriptionInput) => ({
  amount: input.amount,
  customerRef: input.customerRef,
  customerEmail: input.customerEmail ?? null,
  customerPhone: input.customerPhone ?? null,
  planName: input.planName ?? null,
  method: input.method ?? 'cards',
  period: input.period ?? 'month',
  intervalCount: input.intervalCount ?? 1,
  trialDays: input.trialDays ?? 0,
  returnUrl: input.returnUrl ?? null,
  metadata: input.metadata ?? null,
});
export type SubscriptionTerms = ReturnType<typeof withDefaults>;

const countMistake = (field: string, count: number, min: number, max: number): string | null =>
  count >= min && count <= max
    ? null
    : `${field}: expected an integer from ${min} to ${max}, got ${count}`;

const mistakesIn = ({ amount, trialDays, ...terms }: SubscriptionTerms): (string | null)[] => [
  amount < 1n ? `amount: expected an integer from 1 to 2^53-1, got ${amount}` : null,
  terms.customerEmail !== null && !/^[^@\s]+@[^@\s]+$/.test(terms.customerEmail)
    ? 'customer_email: expected an address such as buyer@example.com'
    : null,
  terms.method === 'tpay' && trialDays > 0
    ? `trial_days: tpay has no trial, its first payment is charged at once; expected 0, got ${trialDays}`
    : null,
  textMistake('customer_ref', terms.customerRef, 1, customerRef_max_chars),
  textMistake('customer_email', terms.customerEmail, 1, customerEmail_max_chars),
  textMistake('customer_phone', terms.customerPhone, 1, customerPhone_max_chars),
  textMistake('plan_name', terms.planName, 1, planName_max_chars),
  countMistake('interval_count', terms.intervalCount, 1, intervalCount_max),
  countMistake('trial_days', trialDays, 0, trial_max_days),
  returnUrlMistake(terms.returnUrl),
  ...metadataMistakes(terms.metadata),
];

/** The terms, or `bad_request` naming the field, the expected and the given value. */
export const subscriptionTerms = (input: SubscriptionInput): SubscriptionTerms | Refusal => {
  const terms = withDefaults(input);
  return refuseMistakes(mistakesIn(terms)) ?? terms;
};
