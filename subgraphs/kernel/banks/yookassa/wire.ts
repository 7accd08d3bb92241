/**
 * YooKassa's objects as they arrive: read here once, trusted afterwards. What cannot be read is
 * null, and counts as no answer.
 */
import type { WireAmount } from './amount.ts';

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const fields = (value: unknown): Fields => (isFields(value) ? value : {});
const text = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null;

const instant = (value: unknown): Temporal.Instant | null => {
  try {
    return typeof value === 'string' ? Temporal.Instant.from(value) : null;
  } catch {
    return null;
  }
};

/** Who cancelled, and why. */
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

const readObject = <Status extends string>(
  body: unknown,
  statuses: readonly Status[],
): WireObject<Status> | null => {
  const given = fields(body);
  const { value, currency } = fields(given['amount']);
  const id = text(given['id']);
  const status = statuses.find((known) => known === given['status']);
  if (
    id === null ||
    status === undefined ||
    typeof value !== 'string' ||
    typeof currency !== 'string'
  )
    return null;
  const { party, reason } = fields(given['cancellation_details']);
  const cancellation = { party: text(party) ?? 'unknown', reason: text(reason) ?? 'unknown' };
  return {
    id,
    status,
    amount: { value, currency },
    operationId: text(fields(given['metadata'])['operation_id']),
    cancellation,
  };
};

const ended = ['pending', 'succeeded', 'canceled'] as const;

/** A payment; null when what every payment has cannot be read. */
export const readPayment = (body: unknown): WirePayment | null => {
  const object = readObject(body, ['pending', 'waiting_for_capture', 'succeeded', 'canceled']);
  if (!object) return null;
  const { confirmation, payment_method: paid, authorization_details: authorization } = fields(body);
  const { type, confirmation_url: url, confirmation_data: data } = fields(confirmation);
  const method = fields(paid);
  const card = fields(method['card']);
  return {
    ...object,
    confirmationType: text(type),
    confirmationUrl: text(url) ?? text(data),
    methodType: text(method['type']),
    createdAt: instant(fields(body)['created_at']),
    rrn: text(fields(authorization)['rrn']),
    methodId: text(method['id']),
    isSaved: method['saved'] === true,
    cardBrand: text(card['card_type']),
    cardLast4: text(card['last4']),
    sbpOperationId: text(method['sbp_operation_id']),
    payerBankId: text(fields(method['payer_bank_details'])['bank_id']),
  };
};

/** A refund; null when it cannot be read or names no payment. */
export const readRefund = (body: unknown): WireRefund | null => {
  const object = readObject(body, ended);
  const paymentId = text(fields(body)['payment_id']);
  return object && paymentId !== null ? { ...object, paymentId } : null;
};

/** A payout; null when it cannot be read. */
export const readPayout = (body: unknown): WirePayout | null => readObject(body, ended);

/** One page of a list, and where the next begins. */
export interface WirePage<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

/** Reads a page; null when any of it cannot be read. */
export const readPage = <Item>(
  body: unknown,
  readItem: (item: unknown) => Item | null,
): WirePage<Item> | null => {
  const { items: listed, next_cursor: next } = fields(body);
  if (!Array.isArray(listed)) return null;
  const items = listed.map(readItem).filter((item) => item !== null);
  return items.length === listed.length ? { items, nextCursor: text(next) } : null;
};

/** An id of personal data that were stored. */
export const readId = (body: unknown): string | null => text(fields(body)['id']);

/** A participant of SBP. */
export const readSbpBank = (
  body: unknown,
): { readonly memberId: string; readonly name: string; readonly nameEn: string } | null => {
  const { bank_id: memberId, name } = fields(body);
  return typeof memberId === 'string' && typeof name === 'string'
    ? { memberId, name, nameEn: name }
    : null;
};
