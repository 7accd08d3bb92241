/**
 * The input of payments of saved methods, checked and with defaults. In test mode the amount
 * decides the outcome. The method of a charge is `recurrent`.
 */
import { isCurrency } from '../../../schema/currencies.ts';
import type { Mode } from '../../kernel/rules/mode.ts';
import { minorUnits, type MinorUnits } from '../../kernel/rules/money.ts';
import {
  isBinding,
  recurringPaymentId,
  savableMethods,
  savedMethod,
  verificationAmount,
  type RecurringKind,
  type SavableMethod,
  type SavedMethod,
} from '../../kernel/rules/recurring.ts';
import type { Metadata } from '../../kernel/rules/metadata.ts';
import { refused, type Refused } from '../../kernel/rules/refusal.ts';
import { asCame } from '../../kernel/rules/repeatable.ts';
import { defaultOrderId, linkTtl_max_min, paymentDefaults } from '../rules/create.ts';
import { sessionTtl_min, type PaymentMethod } from '../rules/payment.ts';
import type { Plan } from '../../kernel/rules/plan.ts';
import { planFor, planMetadata } from '../rules/plan.ts';

/** The request of recurring billing. */
export interface RecurringInput {
  readonly merchantId: string;
  readonly shopId: string;
  readonly mode: Mode;
  readonly kind: RecurringKind;
  readonly idempotencyKey: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly method: PaymentMethod;
  readonly tokenId: string;
  readonly subscriptionId?: string | null | undefined;
  readonly customerRef: string;
  readonly savedReference?: string | null | undefined;
  readonly verification: boolean;
  readonly orderId?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly returnUrl?: string | null | undefined;
  readonly ttlMinutes?: number | null | undefined;
  /** Whose terms its receipt has. */
  readonly receiptTermsId?: string | null | undefined;
  /** The merchant's pairs; the reserved keys overwrite them. */
  readonly metadata?: Metadata | null | undefined;
}

const key_max_chars = 200;

/** The terms of a payment of a saved method, with every default filled in. */
export interface RecurringTerms {
  readonly id: string;
  readonly amount: MinorUnits;
  readonly orderId: string;
  readonly expiresAt: Temporal.Instant;
  readonly metadata: Record<string, string>;
  /** Null in live mode. */
  readonly plan: Plan | null;
  /** The method that the buyer binds, or the saved method that is charged. */
  readonly by: { readonly binds: SavableMethod } | { readonly charges: SavedMethod };
}

const mistakeIn = (input: RecurringInput): string | null => {
  const { idempotencyKey, amount, currency, verification, kind, ttlMinutes } = input;
  if (idempotencyKey.length < 1 || idempotencyKey.length > key_max_chars)
    return `idempotencyKey: expected 1 to ${key_max_chars} characters`;
  if (amount < 1n) return `amount: expected an integer from 1 to 2^53-1, got ${amount}`;
  if (!isCurrency(currency))
    return `currency: expected an ISO 4217 code such as RUB, got ${asCame(currency)}`;
  if (verification && (!isBinding(kind) || amount !== verificationAmount))
    return `verification: expected a binding of ${verificationAmount}, got ${kind} of ${amount}`;
  if (ttlMinutes && (ttlMinutes < 1 || ttlMinutes > linkTtl_max_min))
    return `ttlMinutes: expected an integer from 1 to ${linkTtl_max_min}, got ${ttlMinutes}`;
  return null;
};

const byOf = ({ kind, method, savedReference }: RecurringInput): RecurringTerms['by'] | string => {
  if (!isBinding(kind)) {
    const charges = savedMethod(savedReference ?? null);
    return charges ? { charges } : 'savedReference: required for a charge';
  }
  const binds = savableMethods.find((candidate) => candidate === method);
  return binds ? { binds } : `method: expected ${savableMethods.join(', ')}, got ${method}`;
};

/**
 * A card is bound with 3-D Secure (docs/contract.md#tokens), so a planned success is confirmed at
 * the bank first.
 */
const planOfRecurring = ({ amount, kind, method, metadata }: RecurringInput): Plan => {
  const plan = planFor(amount, metadata ?? {});
  return isBinding(kind) && method === 'cards' && plan.outcome === 'succeeded'
    ? { outcome: 'requires_action', failureCode: null }
    : plan;
};

/**
 * The terms of a payment, or `bad_request`. Its metadata name its token or subscription, in
 * addition to the reserved keys. A charge has no link: it ends with the bank's session.
 */
export const recurringTerms = (
  input: RecurringInput,
  now: Temporal.Instant,
): RecurringTerms | Refused => {
  const by = byOf(input);
  const mistake = mistakeIn(input) ?? (typeof by === 'string' ? by : null);
  if (mistake !== null || typeof by === 'string') return refused('bad_request', mistake ?? '');
  const { merchantId, mode, idempotencyKey, customerRef, tokenId, subscriptionId } = input;
  const plan = mode === 'test' ? planOfRecurring(input) : null;
  const id = recurringPaymentId(merchantId, mode, idempotencyKey);
  return {
    id,
    amount: minorUnits(input.amount),
    orderId: input.orderId ?? defaultOrderId(id, now),
    expiresAt: now.add({
      minutes: 'charges' in by ? sessionTtl_min : (input.ttlMinutes ?? paymentDefaults.ttlMinutes),
    }),
    plan,
    by,
    metadata: {
      ...input.metadata,
      mode,
      customer_id: customerRef,
      token_id: tokenId,
      ...(subscriptionId ? { subscription_id: subscriptionId } : {}),
      ...(plan ? planMetadata(plan) : {}),
    },
  };
};
