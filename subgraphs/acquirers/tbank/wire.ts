/**
 * T-Bank's objects as they arrive: parsed here once, trusted afterwards. An unreadable object is
 * null, and counts as no answer.
 */
import * as v from 'valibot';
import { isFailureCode, type FailureCode } from '../../rules/failure-code.ts';
import type { MinorUnits } from '../../rules/money.ts';
import { orNull, part, reader, text } from '../bank-http.ts';

/** What a status means for the money of a payment. */
const meanings = {
  NEW: 'open',
  FORM_SHOWED: 'open',
  DEADLINE_EXPIRED: 'failed',
  CANCELED: 'failed',
  AUTHORIZING: 'open',
  '3DS_CHECKING': 'open',
  '3DS_CHECKED': 'open',
  AUTH_FAIL: 'failed',
  REJECTED: 'failed',
  AUTHORIZED: 'held',
  CONFIRMING: 'open',
  CONFIRMED: 'paid',
  REVERSING: 'open',
  PARTIAL_REVERSED: 'held',
  REVERSED: 'given_up',
  ASYNC_REFUNDING: 'paid',
  REFUNDING: 'paid',
  PARTIAL_REFUNDED: 'paid',
  REFUNDED: 'paid',
} as const satisfies Record<string, 'open' | 'held' | 'paid' | 'given_up' | 'failed'>;

type WireStatus = keyof typeof meanings;
type Meaning = (typeof meanings)[WireStatus];

/** What a payment's status means for its money. */
export const meaningOf = (status: WireStatus): Meaning => meanings[status];

type RefundStanding = 'none' | 'under_way' | 'part' | 'all';

/** How much of a payment was refunded, or whether a refund is in progress. */
export const refundStanding = (status: WireStatus): RefundStanding => {
  if (status === 'REFUNDED' || status === 'REVERSED') return 'all';
  if (status === 'PARTIAL_REFUNDED' || status === 'PARTIAL_REVERSED') return 'part';
  return ['REFUNDING', 'ASYNC_REFUNDING', 'REVERSING'].includes(status) ? 'under_way' : 'none';
};

/** Whether an amount that it repeats is what was ordered. It knows the ruble alone. */
export const isSameAmount = (
  amount: number | null,
  ordered: MinorUnits,
  currency: string,
): boolean =>
  amount !== null &&
  Number.isSafeInteger(amount) &&
  BigInt(amount) === ordered &&
  currency === 'RUB';

/** Ids and codes come as texts or as numbers. */
export const code = v.union([text, v.pipe(v.number(), v.safeInteger(), v.transform(String))]);

const wireStatus = v.custom<WireStatus>(
  (value) => typeof value === 'string' && Object.hasOwn(meanings, value),
);

const listedPayment = v.object({
  PaymentId: code,
  Status: wireStatus,
  Amount: orNull(v.number()),
  ErrorCode: v.fallback(code, '0'),
  RRN: orNull(code),
  SbpPaymentId: orNull(code),
});

const paymentOf = (given: v.InferOutput<typeof listedPayment>, orderId: string) => ({
  id: given.PaymentId,
  orderId,
  status: given.Status,
  /** Kopecks; null where the bank does not repeat it. */
  amount: given.Amount,
  errorCode: given.ErrorCode,
  rrn: given.RRN,
  /** Present: it was paid by SBP. */
  sbpId: given.SbpPaymentId,
});
export type WirePayment = ReturnType<typeof paymentOf>;

/** A payment as Init, GetState, Charge and Cancel answer it. */
export const readPayment = reader(
  v.pipe(
    v.object({ ...listedPayment.entries, OrderId: code }),
    v.transform((given) => paymentOf(given, given.OrderId)),
  ),
);

const order = v.object({ OrderId: orNull(code), Payments: v.array(listedPayment) });

/** The payments of an order, the first ordered first; null when the answer cannot be read. */
export const readOrder = (body: unknown): readonly WirePayment[] | null => {
  const { success, output } = v.safeParse(order, body);
  if (!success) return null;
  const { OrderId: orderId, Payments: listed } = output;
  if (orderId === null) return listed.length === 0 ? [] : null;
  return listed
    .map((each) => paymentOf(each, orderId))
    .toSorted((one, other) => Number(one.id) - Number(other.id));
};

const address = orNull(
  v.custom<string>((value) => typeof value === 'string' && URL.canParse(value)),
);
const initAnswer = part({ PaymentURL: address });
const qrAnswer = part({ Data: address });
const linkAnswer = part({ Params: part({ RedirectUrl: address }) });

/** Where the buyer pays, in the answer of Init. */
export const readPaymentUrl = (body: unknown): string | null =>
  v.parse(initAnswer, body).PaymentURL;

/** What the QR code holds, in the answer of GetQr. */
export const readQr = (body: unknown): string | null => v.parse(qrAnswer, body).Data;

/** Where T-Pay is opened. */
export const readLink = (body: unknown): string | null =>
  v.parse(linkAnswer, body).Params.RedirectUrl;

/** `Pan` is as `430000******0777`. */
const card = v.object({ Status: v.literal('A'), RebillId: code, Pan: v.string() });

/**
 * The active cards of a customer that can be charged again; null when the answer cannot be read.
 */
export const readCards = reader(
  v.pipe(
    v.array(orNull(card)),
    v.transform((cards) => cards.filter((each) => each !== null)),
  ),
);

// T-Bank's codes as failure codes (docs/contract.md#failure-codes). An unlisted code is
// `unknown_bank_code`.

const codesOf: Readonly<Partial<Record<FailureCode, readonly string[]>>> = {
  do_not_honor: ['99', '1005'],
  generic_decline: ['1006', '1008', '1012', '1088', '1092'],
  insufficient_funds: ['103', '116', '1051'],
  limit_exceeded: ['1013', '1019', '1061', '1065', '1075'],
  call_issuer: ['1001'],
  expired_card: ['1033', '1054'],
  invalid_card_number: ['1014', '1015'],
  invalid_expiry: ['1080'],
  incorrect_cvc: ['1082'],
  lost_card: ['1041'],
  stolen_card: ['1043'],
  pickup_card: ['1004', '1007'],
  card_restricted: ['1062'],
  transaction_not_permitted: ['1057', '1058', '1078'],
  country_not_supported: ['76'],
  fraud_suspected: ['1059', '1063', '1093', '1094'],
  authentication_failed: ['101', '106'],
  authorization_revoked: ['3012', '3014', '3015'],
  account_not_found: ['1039', '1053'],
  issuer_unavailable: ['1091'],
  processing_error: ['1096'],
  method_unavailable: ['1099'],
};

const meaning: ReadonlyMap<string, string> = new Map(
  Object.entries(codesOf).flatMap(([failure, codes]) => codes.map((listed) => [listed, failure])),
);

/** Why the bank refused, by its code. */
const failureOf = (bankCode: string): FailureCode => {
  const found = meaning.get(bankCode) ?? '';
  return isFailureCode(found) ? found : 'unknown_bank_code';
};

/** A call that it rejected, as a refusal of what was ordered. */
export const declinedBy = (bankCode: string) =>
  ({ kind: 'declined', failureCode: failureOf(bankCode), bankCode }) as const;

/** Why a payment failed: by its code, else by the status in which it ended. */
const paymentFailure = ({ status, errorCode }: WirePayment): FailureCode => {
  if (errorCode !== '0') return failureOf(errorCode);
  if (status === 'DEADLINE_EXPIRED') return 'session_expired';
  return status === 'AUTH_FAIL' ? 'authentication_failed' : 'generic_decline';
};

export const declinedPayment = (ended: WirePayment) =>
  ({
    kind: 'declined',
    failureCode: paymentFailure(ended),
    bankCode: ended.errorCode === '0' ? ended.status : ended.errorCode,
  }) as const;
