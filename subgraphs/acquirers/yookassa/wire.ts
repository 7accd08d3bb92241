/**
 * YooKassa's objects as they arrive: parsed here once, trusted afterwards. An unreadable object is
 * null, and counts as no answer.
 */
import {
  array,
  boolean,
  custom,
  fallback,
  object,
  parse,
  pipe,
  picklist,
  safeParse,
  string,
  transform,
  unknown,
} from 'valibot';
import { orNull, part, text } from '../bank-http.ts';
import type { WireAmount } from './amount.ts';

/** The party that cancelled, and the reason. */
export interface Cancellation {
  readonly party: string;
  readonly reason: string;
}

/** What all its objects have. */
interface WireObject<Status extends string> {
  readonly id: string;
  readonly status: Status;
  readonly amount: WireAmount;
  /** Our operation's id, which it repeats from our order. */
  readonly operationId: string | null;
  readonly cancellation: Cancellation;
}

export interface WirePayment extends WireObject<
  'pending' | 'waiting_for_capture' | 'succeeded' | 'canceled'
> {
  /** Where the buyer confirms: an address, or what the QR code holds. */
  readonly confirmationUrl: string | null;
  readonly confirmationType: string | null;
  /** What it is paid by, in its own words. */
  readonly methodType: string | null;
  /** When it was ordered there. */
  readonly createdAt: Temporal.Instant | null;
  /** While it waits for its capture: until when. */
  readonly expiresAt: Temporal.Instant | null;
  readonly rrn: string | null;
  readonly methodId: string | null;
  readonly isSaved: boolean;
  readonly cardBrand: string | null;
  readonly cardLast4: string | null;
  readonly sbpOperationId: string | null;
  readonly payerBankId: string | null;
}

export interface WireRefund extends WireObject<'pending' | 'succeeded' | 'canceled'> {
  readonly paymentId: string;
}

export type WirePayout = WireObject<'pending' | 'succeeded' | 'canceled'>;

const cancellationDetails = part({
  party: fallback(text, 'unknown'),
  reason: fallback(text, 'unknown'),
});

const objectEntries = {
  id: text,
  amount: object({ value: string(), currency: string() }),
  cancellation_details: cancellationDetails,
  metadata: part({ operation_id: orNull(text) }),
};
const ended = picklist(['pending', 'succeeded', 'canceled']);

const objectOf = <Status extends string>({
  id,
  status,
  amount,
  cancellation_details: cancellation,
  metadata,
}: {
  readonly id: string;
  readonly status: Status;
  readonly amount: WireAmount;
  readonly cancellation_details: Cancellation;
  readonly metadata: { readonly operation_id: string | null };
}): WireObject<Status> => ({
  id,
  status,
  amount,
  operationId: metadata.operation_id,
  cancellation,
});

const isInstant = (value: unknown): boolean => {
  try {
    return typeof value === 'string' && Boolean(Temporal.Instant.from(value));
  } catch {
    return false;
  }
};
/** A moment in ISO 8601. */
export const instant = pipe(
  custom<string>(isInstant),
  transform((value) => Temporal.Instant.from(value)),
);

const payment = object({
  ...objectEntries,
  status: picklist(['pending', 'waiting_for_capture', 'succeeded', 'canceled']),
  created_at: orNull(instant),
  expires_at: orNull(instant),
  confirmation: part({
    type: orNull(text),
    confirmation_url: orNull(text),
    confirmation_data: orNull(text),
  }),
  payment_method: part({
    type: orNull(text),
    id: orNull(text),
    saved: fallback(boolean(), false),
    card: part({ card_type: orNull(text), last4: orNull(text) }),
    sbp_operation_id: orNull(text),
    payer_bank_details: part({ bank_id: orNull(text) }),
  }),
  authorization_details: part({ rrn: orNull(text) }),
});

/** A payment; null when what every payment has cannot be read. */
export const readPayment = (body: unknown): WirePayment | null => {
  const { success, output } = safeParse(payment, body);
  if (!success) return null;
  const { confirmation, payment_method: method } = output;
  return {
    ...objectOf(output),
    confirmationType: confirmation.type,
    confirmationUrl: confirmation.confirmation_url ?? confirmation.confirmation_data,
    methodType: method.type,
    createdAt: output.created_at,
    expiresAt: output.expires_at,
    rrn: output.authorization_details.rrn,
    methodId: method.id,
    isSaved: method.saved,
    cardBrand: method.card.card_type,
    cardLast4: method.card.last4,
    sbpOperationId: method.sbp_operation_id,
    payerBankId: method.payer_bank_details.bank_id,
  };
};

const refund = object({ ...objectEntries, status: ended, payment_id: text });

/** A refund; null when it cannot be read or names no payment. */
export const readRefund = (body: unknown): WireRefund | null => {
  const { success, output } = safeParse(refund, body);
  return success ? { ...objectOf(output), paymentId: output.payment_id } : null;
};

const payout = object({ ...objectEntries, status: ended });

/** A payout; null when it cannot be read. */
export const readPayout = (body: unknown): WirePayout | null => {
  const { success, output } = safeParse(payout, body);
  return success ? objectOf(output) : null;
};

/** One page of a list, and where the next begins. */
interface WirePage<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

const page = object({ items: array(unknown()), next_cursor: orNull(text) });

/** Reads a page; null when any of it cannot be read. */
export const readPage = <Item>(
  body: unknown,
  readItem: (item: unknown) => Item | null,
): WirePage<Item> | null => {
  const { success, output } = safeParse(page, body);
  if (!success) return null;
  const items = output.items.map(readItem).filter((item) => item !== null);
  return items.length === output.items.length ? { items, nextCursor: output.next_cursor } : null;
};

const identified = part({ id: orNull(text) });

/** An id of personal data that were stored. */
export const readId = (body: unknown): string | null => parse(identified, body).id;

const sbpBank = object({ bank_id: string(), name: string() });

/** A participant of SBP. */
export const readSbpBank = (
  body: unknown,
): { readonly memberId: string; readonly name: string; readonly nameEn: string } | null => {
  const { success, output } = safeParse(sbpBank, body);
  return success ? { memberId: output.bank_id, name: output.name, nameEn: output.name } : null;
};
