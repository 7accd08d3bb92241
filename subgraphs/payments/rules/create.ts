/**
 * The input of a new payment, the reserved metadata keys, the method that its page offers, and the
 * planned outcome of the simulator.
 */
import {
  plannedCallbacks,
  planOfAmount,
  type Plan,
  buyerMethods,
  type BuyerMethod,
  plannedOutcomes,
  type PlannedCallbacks,
  type PlannedOutcome,
} from '../../rules/banks.ts';
import { isCurrency } from '../../../schema/currencies.ts';
import { defaultCurrency, minorUnits } from '../../rules/money.ts';
import {
  metadataMistakes,
  textMistake,
  asCame,
  refuseMistakes,
  type Refusal,
} from '../../rules/refusal.ts';
import type { Mode } from '../../rules/mode.ts';
import type { ReceiptInput } from '../../rules/receipt.ts';
import type { CaptureMode } from './amounts.ts';
import type { OnDecline, PaymentMethod } from './payment.ts';
import { isFailureCode } from '../../rules/failure-code.ts';
import type { RecurringKind } from '../../rules/recurring.ts';

/** The defaults of a payment's fields. The API documents state the same. */
export const paymentDefaults = {
  currency: defaultCurrency,
  method: 'any',
  capture: 'automatic',
  onDecline: 'return',
  ttlMinutes: 60,
} as const satisfies Partial<PaymentInput>;
/** 7 days. */
export const linkTtl_max_min = 10_080;
const orderId_max_chars = 255;
const customerId_max_chars = 255;
const description_max_chars = 4_000;
const url_max_chars = 2_048;

export interface PaymentInput {
  readonly amount: bigint;
  readonly currency?: string | null | undefined;
  readonly method?: PaymentMethod | null | undefined;
  readonly capture?: CaptureMode | null | undefined;
  readonly orderId?: string | null | undefined;
  readonly customerId?: string | null | undefined;
  readonly returnUrl?: string | null | undefined;
  readonly onDecline?: OnDecline | null | undefined;
  readonly description?: string | null | undefined;
  readonly webhookUrl?: string | null | undefined;
  readonly ttlMinutes?: number | null | undefined;
  readonly metadata?: Readonly<Record<string, string>> | null | undefined;
  /** What the service itself adds: it overwrites the merchant's metadata, and is not counted. */
  readonly reserved?: Readonly<Record<string, string>>;
  /** Additions, section 2. */
  readonly receipt?: ReceiptInput | null | undefined;
}

type Absent = null | undefined;

/** For callers of the graph: REST callers got this from the description's check already. */
const textMistakesIn = (input: PaymentInput): (string | null)[] => [
  textMistake('order_id', input.orderId, 1, orderId_max_chars),
  textMistake('customer_id', input.customerId, 1, customerId_max_chars),
  textMistake('description', input.description, 0, description_max_chars),
  textMistake('return_url', input.returnUrl, 1, url_max_chars),
  textMistake('webhook_url', input.webhookUrl, 1, url_max_chars),
];

/** An unknown value would silently plan nothing, so it is refused. */
const callbacksMistake = (metadata: PaymentInput['metadata']): string | null => {
  const given = metadata?.['simulator_callbacks'];
  return given === undefined || plannedCallbacks.some((planned) => planned === given)
    ? null
    : `metadata.simulator_callbacks: expected one of ${plannedCallbacks.join(', ')}, got ${asCame(given)}`;
};

const returnUrlMistake = (address: string | Absent): string | null =>
  typeof address !== 'string' || URL.parse(address)?.protocol === 'https:'
    ? null
    : `return_url: expected an address that starts with https://, got ${asCame(address)}`;

const mistakesIn = (input: PaymentInput): (string | null)[] => {
  const { amount, currency, returnUrl, ttlMinutes, metadata } = input;
  return [
    amount < 1n ? `amount: expected an integer from 1 to 2^53-1, got ${amount}` : null,
    typeof currency === 'string' && !isCurrency(currency)
      ? `currency: expected an ISO 4217 code such as RUB, got ${asCame(currency)}`
      : null,
    typeof ttlMinutes === 'number' && (ttlMinutes < 1 || ttlMinutes > linkTtl_max_min)
      ? `ttl_minutes: expected an integer from 1 to ${linkTtl_max_min}, got ${ttlMinutes}`
      : null,
    input.capture === 'manual' && input.method === 'recurrent'
      ? 'capture: a recurrent payment cannot be captured manually'
      : null,
    ...textMistakesIn(input),
    returnUrlMistake(returnUrl),
    ...metadataMistakes(metadata),
  ];
};

/**
 * The order id of a payment that came without one: `ord_<timestamp>`. Since many payments are made
 * in one millisecond, six digits of the payment's own id follow, as if the clock were finer.
 */
export const defaultOrderId = (id: string, now: Temporal.Instant): string =>
  `ord_${now.epochMilliseconds}${String(Number.parseInt(id.slice(-8), 16) % 1_000_000).padStart(6, '0')}`;

/**
 * The terms of a new payment `id`, or `bad_request` naming the field, what was expected and what
 * came. Its webhook address is checked separately, by the current setting.
 */
export const paymentTerms = (
  input: PaymentInput,
  mode: Mode,
  id: string,
  now: Temporal.Instant,
) => {
  const callbacks = mode === 'test' ? callbacksMistake(input.metadata) : null;
  const refusal = refuseMistakes([...mistakesIn(input), callbacks]);
  if (refusal) return refusal;
  const plan = mode === 'test' ? planFor(input.amount, input.metadata ?? {}) : null;
  const metadata: Record<string, string> = {
    ...input.metadata,
    ...input.reserved,
    mode,
    ...(input.webhookUrl ? { webhook_url: input.webhookUrl } : {}),
    ...(input.customerId ? { customer_id: input.customerId } : {}),
    ...(plan ? planMetadata(plan) : {}),
  };
  return {
    amount: minorUnits(input.amount),
    currency: input.currency ?? paymentDefaults.currency,
    method: input.method ?? paymentDefaults.method,
    /** Null: the money is taken as the buyer pays. */
    capture: input.capture === 'manual' ? ('manual' as const) : null,
    orderId: input.orderId ?? defaultOrderId(id, now),
    customerId: input.customerId ?? null,
    returnUrl: input.returnUrl ?? null,
    /** Null: the page leads back by itself, also after a failure. */
    onDecline: input.onDecline === 'stay' ? ('stay' as const) : null,
    webhookUrl: input.webhookUrl ?? null,
    description: input.description ?? null,
    expiresAt: now.add({ minutes: input.ttlMinutes ?? paymentDefaults.ttlMinutes }),
    /** Null in live mode. */
    plan,
    metadata,
  };
};
/** A payment's terms, with every default filled in. */
export type PaymentTerms = Exclude<ReturnType<typeof paymentTerms>, Refusal>;

// The choice of a method on the hosted page, while it is `any`.

/** A method that a buyer pays with; null for `any` (not chosen yet) and `recurrent` (no buyer). */
export const buyerMethod = (method: PaymentMethod): BuyerMethod | null =>
  buyerMethods.find((candidate) => candidate === method) ?? null;

/**
 * The method that the page uses. The buyer of a `recurrent` payment pays by card, while the payment
 * keeps its method and that method's rate. A charge of a saved method has no buyer.
 */
export const pageMethod = (payment: {
  readonly method: PaymentMethod;
  readonly kind: RecurringKind | null;
}): PaymentMethod =>
  payment.method === 'recurrent' && payment.kind === null ? 'cards' : payment.method;

// What the simulator will answer to a payment. A valid metadata hint, else the amount's last two
// digits.

/** The plan of an outcome; a failure without a valid code is `do_not_honor`. */
export const planOf = (outcome: PlannedOutcome, code: string | null | undefined): Plan => {
  if (outcome !== 'failed') return { outcome, failureCode: null };
  return { outcome, failureCode: code && isFailureCode(code) ? code : 'do_not_honor' };
};

/** The plan of a new test payment. */
export const planFor = (amount: bigint, metadata: Readonly<Record<string, string>>): Plan => {
  const hint = plannedOutcomes.find((outcome) => outcome === metadata['simulator_outcome']);
  return hint ? planOf(hint, metadata['simulator_failure_code']) : planOfAmount(amount);
};

/** The metadata keys of a plan (docs/contract.md#reserved-metadata). */
export const planMetadata = (plan: Plan): Record<string, string> =>
  plan.failureCode
    ? { simulator_outcome: plan.outcome, simulator_failure_code: plan.failureCode }
    : { simulator_outcome: plan.outcome };

/**
 * How the simulator delivers its answer, by the metadata key `simulator_callbacks`; null: by
 * queries. `create` has refused unknown values.
 */
export const callbacksOf = (metadata: Readonly<Record<string, string>>): PlannedCallbacks | null =>
  plannedCallbacks.find((planned) => planned === metadata['simulator_callbacks']) ?? null;
