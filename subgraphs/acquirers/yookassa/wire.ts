/**
 * YooKassa's objects as they arrive: parsed here once, trusted afterwards. An unreadable object is
 * null, and counts as no answer.
 */
import * as v from 'valibot';
import type { Runner } from '../../platform/database/statement.ts';
import type { FailureCode } from '../../rules/failure-code.ts';
import { minorUnits, type MinorUnits } from '../../rules/money.ts';
import { orNull, part, reader, text } from '../bank-http.ts';
import { openCheckEcho as openForBank, type Ordered } from '../check-echo.ts';

// Amounts as YooKassa writes them: rubles with a point and two digits. Converted digit by digit,
// never as floating point numbers.

/** An amount as its API has it. */
export const wireMoney = v.object({ value: v.string(), currency: v.string() });
export type WireAmount = v.InferOutput<typeof wireMoney>;

/** Minor units as a decimal text: 10050n is `100.50`. */
export const wireAmount = (amount: MinorUnits, currency: string): WireAmount => ({
  value: `${amount / 100n}.${String(amount % 100n).padStart(2, '0')}`,
  currency,
});

/** An amount of the currency in minor units; null when it is of another, or cannot be read. */
export const amountIn = (
  { value, currency: of }: WireAmount,
  currency: string,
): MinorUnits | null => {
  const [, whole, kopecks] = /^(\d{1,16})\.(\d{2})$/.exec(value) ?? [];
  if (whole === undefined || kopecks === undefined || of !== currency) return null;
  return minorUnits(BigInt(whole) * 100n + BigInt(kopecks));
};

/** What every object has; `metadata` is what it repeats from our order. */
const common = {
  id: text,
  amount: wireMoney,
  cancellation_details: part({
    party: v.fallback(text, 'unknown'),
    reason: v.fallback(text, 'unknown'),
  }),
  metadata: part({ operation_id: orNull(text) }),
};

type Cancellation = v.InferOutput<typeof common.cancellation_details>;

const ended = v.picklist(['pending', 'succeeded', 'canceled']);

const isInstant = (value: unknown): boolean => {
  try {
    return typeof value === 'string' && Boolean(Temporal.Instant.from(value));
  } catch {
    return false;
  }
};
/** A moment in ISO 8601. */
export const instant = v.pipe(
  v.custom<string>(isInstant),
  v.transform((value) => Temporal.Instant.from(value)),
);

const payment = v.object({
  ...common,
  status: v.picklist(['pending', 'waiting_for_capture', 'succeeded', 'canceled']),
  created_at: orNull(instant),
  /** While it waits for its capture: until when. */
  expires_at: orNull(instant),
  /** Where the buyer confirms: an address, or what the QR code holds. */
  confirmation: part({ confirmation_url: orNull(text), confirmation_data: orNull(text) }),
  payment_method: part({
    id: orNull(text),
    saved: v.fallback(v.boolean(), false),
    card: part({ card_type: orNull(text), last4: orNull(text) }),
    sbp_operation_id: orNull(text),
    payer_bank_details: part({ bank_id: orNull(text) }),
  }),
  authorization_details: part({ rrn: orNull(text) }),
});
export type WirePayment = v.InferOutput<typeof payment>;

/** A payment; null when what every payment has cannot be read. */
export const readPayment = reader(payment);

const refund = v.object({ ...common, status: ended, payment_id: text });
export type WireRefund = v.InferOutput<typeof refund>;

/** A refund; null when it cannot be read or names no payment. */
export const readRefund = reader(refund);

const payout = v.object({ ...common, status: ended });
export type WirePayout = v.InferOutput<typeof payout>;

/** A payout; null when it cannot be read. */
export const readPayout = reader(payout);

const page = v.object({ items: v.array(v.unknown()), next_cursor: orNull(text) });

/** Reads one page of a list, and where the next begins; null when any of it cannot be read. */
export const readPage = <Item>(body: unknown, readItem: (item: unknown) => Item | null) => {
  const { success, output } = v.safeParse(page, body);
  if (!success) return null;
  const items = output.items.map(readItem).filter((item) => item !== null);
  return items.length === output.items.length ? { items, nextCursor: output.next_cursor } : null;
};

const identified = part({ id: orNull(text) });

/** An id of personal data that were stored. */
export const readId = (body: unknown): string | null => v.parse(identified, body).id;

/** A participant of SBP. */
export const readSbpBank = reader(
  v.pipe(
    v.object({ bank_id: v.string(), name: v.string() }),
    v.transform(({ bank_id: memberId, name }) => ({ memberId, name, nameEn: name })),
  ),
);

// YooKassa's reasons as failure codes (docs/contract.md#failure-codes). An unlisted reason is
// `unknown_bank_code`.

type Reasons = Readonly<Record<string, FailureCode>>;

const paymentReasons: Reasons = {
  insufficient_funds: 'insufficient_funds',
  payment_method_limit_exceeded: 'limit_exceeded',
  call_issuer: 'call_issuer',
  card_expired: 'expired_card',
  invalid_card_number: 'invalid_card_number',
  invalid_csc: 'incorrect_cvc',
  payment_method_restricted: 'card_restricted',
  country_forbidden: 'country_not_supported',
  fraud_suspected: 'fraud_suspected',
  '3d_secure_failed': 'authentication_failed',
  permission_revoked: 'authorization_revoked',
  identification_required: 'identification_required',
  issuer_unavailable: 'issuer_unavailable',
  internal_timeout: 'processing_error',
  expired_on_confirmation: 'session_expired',
  expired_on_capture: 'capture_expired',
};

const refundReasons: Reasons = {
  rejected_by_payee: 'refund_rejected',
  rejected_by_timeout: 'refund_rejected',
  general_decline: 'refund_rejected',
  insufficient_funds: 'insufficient_funds',
  payment_expired: 'refund_window_closed',
};

const payoutReasons: Reasons = {
  insufficient_funds: 'acquirer_balance_insufficient',
  fraud_suspected: 'fraud_suspected',
  one_time_limit_exceeded: 'payout_limit_exceeded',
  periodic_limit_exceeded: 'payout_limit_exceeded',
  rejected_by_payee: 'rejected_by_recipient_bank',
  general_decline: 'generic_decline',
  issuer_unavailable: 'issuer_unavailable',
  recipient_not_found: 'recipient_not_in_sbp',
  recipient_check_failed: 'recipient_check_failed',
  identification_required: 'identification_required',
};

const unlisted = 'unknown_bank_code';

/** Why a payment was cancelled there. A general decline is the issuer's or YooKassa's own. */
export const paymentFailure = ({ reason, party }: Cancellation): FailureCode => {
  if (reason === 'general_decline')
    return party === 'payment_network' ? 'do_not_honor' : 'generic_decline';
  return paymentReasons[reason] ?? unlisted;
};

export const refundFailure = ({ reason }: Cancellation): FailureCode =>
  refundReasons[reason] ?? unlisted;

/** Why a payout was cancelled there. */
export const payoutFailure = ({ reason }: Cancellation): FailureCode =>
  payoutReasons[reason] ?? unlisted;

/** An order that was not accepted (HTTP 4xx): by its `parameter`, what was wrong. */
export const rejectedOrder = (parameter: string | null): FailureCode => {
  const named = parameter ?? '';
  if (named.includes('card.number')) return 'invalid_card_number';
  if (named.includes('expiry')) return 'invalid_expiry';
  if (named.includes('csc')) return 'incorrect_cvc';
  if (named.startsWith('payment_method_id')) return 'authorization_revoked';
  return named.startsWith('amount') ? 'limit_exceeded' : 'processing_error';
};

// YooKassa's objects in the form for comparing every bank's answers: the order and its echo must be
// equal.

type Echo = Pick<WirePayout, 'id' | 'amount' | 'metadata'>;

/** Whether an object belongs to an order; if not, an alert is raised, once for the operation. */
export type CheckEcho = (ordered: Ordered, echo: Echo) => Promise<boolean>;

/** Opens the comparison, which raises its alerts on `pool`. */
export const openCheckEcho = (pool: Runner): CheckEcho => {
  const check = openForBank(pool, 'YooKassa');
  return (ordered, { id, metadata, amount }) => {
    const isSame = amountIn(amount, ordered.currency) === ordered.amount;
    return check(ordered, {
      id,
      operationId: metadata.operation_id,
      amount: `${amount.value} ${amount.currency}`,
      isSame,
    });
  };
};
