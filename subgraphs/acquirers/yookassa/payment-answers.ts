/** The meaning of YooKassa's answers about a payment, to an order, a query or a charge. */
import type { Accepted, BankAnswer, FoundSession, PayerTraits, ChargeAnswer } from '../bank.ts';
import type { Account } from '../bank-accounts.ts';
import type { Caller, ApiAnswer, Client } from './client.ts';
import type { ReceiptRefusal } from './receipt-words.ts';
import {
  type CheckEcho,
  type Ordered,
  paymentFailure,
  readPage,
  rejectedOrder,
  type WirePayment,
} from './wire.ts';

export interface PaymentCalls {
  readonly client: Client;
  readonly shop: Account;
  readonly checkEcho: CheckEcho;
  readonly receiptRefusal: ReceiptRefusal;
}

/** The shop that serves a merchant, with the other inputs of calls. */
export type PaymentCaller = Caller & Pick<PaymentCalls, 'checkEcho' | 'receiptRefusal'>;

/** How often to query a payment that waits for its buyer; notifications arrive sooner. */
export const askEvery_s = 15;

export const unknown = { kind: 'unknown' } as const;

/** Our names of an operation, which the bank repeats. */
export const metadataOf = (
  { merchantId, operationId }: Pick<Ordered, 'merchantId' | 'operationId'>,
  operation: 'payment' | 'refund' | 'payout',
) => ({ merchant_id: merchantId, operation_id: operationId, operation });

/**
 * Finds the item of an operation in a list, within `pages_max` pages. Null when it is not there;
 * `unknown` when the list could not be read.
 */
export const findListed = async <Item extends { readonly operationId: string | null }>(
  { client, shop }: Pick<PaymentCalls, 'client' | 'shop'>,
  {
    path,
    query,
    pages_max,
  }: {
    readonly path: string;
    readonly query: Readonly<Record<string, string>>;
    readonly pages_max: number;
  },
  readItem: (item: unknown) => Item | null,
  operationId: string,
): Promise<Item | null | typeof unknown> => {
  let cursor: string | null = null;
  for (let page = 0; page < pages_max; page++) {
    const answer: ApiAnswer = await client.call({
      account: shop,
      path,
      query: { ...query, limit: '100', ...(cursor === null ? {} : { cursor }) },
    });
    const read = answer.kind === 'answered' ? readPage(answer.body, readItem) : null;
    if (!read) return unknown;
    const found = read.items.find((item) => item.operationId === operationId);
    if (found) return found;
    if (read.nextCursor === null) return null;
    cursor = read.nextCursor;
  }
  return unknown;
};

export const traitsOf = ({ cardBrand, cardLast4, payerBankId }: WirePayment): PayerTraits => ({
  cardBrand,
  cardMask: cardLast4 === null ? null : `**** **** **** ${cardLast4}`,
  cardHolder: null,
  phoneMask: null,
  payerBank: payerBankId,
});

/** 401 and 403 are about our own account, not about the buyer or the order. */
export const isAboutUs = ({ status }: ApiAnswer & { kind: 'rejected' }): boolean =>
  status === 401 || status === 403;

/** An order that certainly was not accepted, as a failure code. */
export const declinedOrder = (
  answer: ApiAnswer & { kind: 'rejected' },
): BankAnswer & { kind: 'declined' } => ({
  kind: 'declined',
  failureCode: isAboutUs(answer) ? 'method_unavailable' : rejectedOrder(answer.parameter),
  bankCode: answer.code,
});

/** A receipt cannot be registered with the movement, which is not ordered. */
export const withoutReceipt = (bankCode: string) =>
  ({ kind: 'declined', failureCode: 'method_unavailable', bankCode }) as const;

export const declined = ({ cancellation }: WirePayment): BankAnswer & { kind: 'declined' } => ({
  kind: 'declined',
  failureCode: paymentFailure(cancellation),
  bankCode: cancellation.reason,
});

/** What is kept of a payment whose buyer has confirmed. */
export const acceptedBy = (payment: WirePayment): Accepted => ({
  reference: payment.id,
  rrn: payment.rrn ?? payment.sbpOperationId,
  traits: traitsOf(payment),
  ...(payment.isSaved && payment.methodId !== null ? { savedReference: payment.methodId } : {}),
});

export const approved = (payment: WirePayment): BankAnswer & { kind: 'approved' } => ({
  kind: 'approved',
  ...acceptedBy(payment),
});

/** Where the buyer confirms, in an answer that finds an order again. */
const sessionOf = ({
  id: reference,
  confirmationType,
  confirmationUrl: stepUrl,
  methodType,
}: WirePayment): { readonly session?: FoundSession } => {
  if (stepUrl === null) return {};
  const redirected = methodType === 'bank_card' ? 'three_d_secure' : 'redirect';
  return { session: { reference, step: confirmationType === 'qr' ? 'qr' : redirected, stepUrl } };
};

/** It waits, and no job queries it any more: an alert was raised. */
export const stopped = { kind: 'pending', askAt: null } as const;

/**
 * Where a payment stands that was ordered so; `pending` without a next question when the bank
 * reports something else.
 */
export const standing = async (
  calls: PaymentCalls,
  ordered: Ordered,
  payment: WirePayment | null,
): Promise<ChargeAnswer> => {
  if (!payment) return unknown;
  if (!(await calls.checkEcho(ordered, payment))) return stopped;
  switch (payment.status) {
    case 'succeeded':
      return approved(payment);
    case 'canceled':
      return declined(payment);
    case 'pending':
    case 'waiting_for_capture':
      return {
        kind: 'pending',
        askAt: ordered.now.add({ seconds: askEvery_s }),
        ...sessionOf(payment),
      };
  }
};
