/** What a new payment is. Contract "Create-payment input" and "Reserved metadata keys"; decision D-30 for the plan. */
import { minorUnits, type MinorUnits } from '../../kernel/rules/money.ts';
import { refused, type Refused } from '../../kernel/rules/refusal.ts';
import type { Mode } from '../../kernel/rules/mode.ts';
import type { PaymentMethod } from './payment.ts';
import { planFor, planMetadata, type Plan } from './plan.ts';

export const linkTtlDefault_min = 60;
/** 7 days. */
export const linkTtlMax_min = 10_080;
export const metadataMax_pairs = 20;
export const metadataValueMax_chars = 500;

const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

export interface PaymentInput {
  readonly amount: bigint;
  readonly currency?: string | null | undefined;
  readonly method?: PaymentMethod | null | undefined;
  readonly orderId?: string | null | undefined;
  readonly customerId?: string | null | undefined;
  readonly returnUrl?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly webhookUrl?: string | null | undefined;
  readonly ttlMinutes?: number | null | undefined;
  readonly metadata?: Readonly<Record<string, string>> | null | undefined;
}

/** A payment's terms, with every default filled in. */
export interface PaymentTerms {
  readonly amount: MinorUnits;
  readonly currency: string;
  readonly method: PaymentMethod;
  readonly orderId: string;
  readonly customerId: string | null;
  readonly returnUrl: string | null;
  readonly webhookUrl: string | null;
  readonly description: string | null;
  readonly expiresAt: Temporal.Instant;
  readonly metadata: Record<string, string>;
  /** Null in live mode. */
  readonly plan: Plan | null;
}

const mistakeIn = (input: PaymentInput): string | null => {
  const { amount, currency, method, returnUrl, webhookUrl, ttlMinutes, metadata } = input;
  if (amount < 1n) return `amount: expected an integer from 1 to 2^53-1, got ${amount}`;
  if (currency && !currencies.has(currency)) return `currency: expected an ISO 4217 code such as RUB, got ${currency}`;
  if (method === 'recurrent') return 'method: recurrent payments are made by charging a token (POST /v1/public/tokens/{id}/charge)';
  if (returnUrl && !(URL.canParse(returnUrl) && new URL(returnUrl).protocol === 'https:')) return 'return_url: expected an address with https://';
  if (webhookUrl && !(URL.canParse(webhookUrl) && /^https?:$/.test(new URL(webhookUrl).protocol))) return 'webhook_url: expected an address with https://';
  if (ttlMinutes !== null && ttlMinutes !== undefined && (ttlMinutes < 1 || ttlMinutes > linkTtlMax_min)) {
    return `ttl_minutes: expected an integer from 1 to ${linkTtlMax_min}, got ${ttlMinutes}`;
  }
  const pairs = Object.entries(metadata ?? {});
  if (pairs.length > metadataMax_pairs) return `metadata: expected up to ${metadataMax_pairs} pairs, got ${pairs.length}`;
  const long = pairs.find(([, value]) => value.length > metadataValueMax_chars);
  return long ? `metadata.${long[0]}: expected up to ${metadataValueMax_chars} characters, got ${long[1].length}` : null;
};

/** The terms of a new payment, or `bad_request` naming the field, what was expected and what came (decision D-06). */
export const paymentTerms = (input: PaymentInput, mode: Mode, now: Temporal.Instant): PaymentTerms | Refused => {
  const mistake = mistakeIn(input);
  if (mistake) return refused('bad_request', mistake);
  const plan = mode === 'test' ? planFor(input.amount, input.metadata ?? {}) : null;
  return {
    amount: minorUnits(input.amount),
    currency: input.currency ?? 'RUB',
    method: input.method ?? 'any',
    orderId: input.orderId ?? `ord_${now.epochMilliseconds}`,
    customerId: input.customerId ?? null,
    returnUrl: input.returnUrl ?? null,
    webhookUrl: input.webhookUrl ?? null,
    description: input.description ?? null,
    expiresAt: now.add({ minutes: input.ttlMinutes ?? linkTtlDefault_min }),
    plan,
    metadata: {
      ...input.metadata,
      mode,
      ...(input.webhookUrl ? { webhook_url: input.webhookUrl } : {}),
      ...(input.customerId ? { customer_id: input.customerId } : {}),
      ...(plan ? planMetadata(plan) : {}),
    },
  };
};
