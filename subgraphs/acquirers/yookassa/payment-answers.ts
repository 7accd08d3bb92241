/** The meaning of YooKassa's answers about a payment, to an order, a query or a charge. */
import { bodyOf, stopped, unknown } from '../bank-http.ts';
import { buyerSteps } from '../bank.ts';
import type { Ordered } from '../check-echo.ts';
import type { Accepted, BankAnswer, HoldOrder, PayerTraits, ChargeAnswer } from '../bank.ts';
import type { BuyerMethod } from '../../rules/banks.ts';
import type { ReceiptTerms } from '../../rules/receipt.ts';
import type { Account } from '../bank-accounts.ts';
import { holderOf, type ApiCall, type Caller, type ApiAnswer, type Client } from './client.ts';
import {
  type CheckEcho,
  paymentFailure,
  readPage,
  rejectedOrder,
  type WirePayment,
} from './wire.ts';

/** Why a receipt cannot be registered for a shop, as a code; null when nothing says so. */
export type ReceiptRefusal = (
  shop: Account,
  terms: ReceiptTerms | undefined,
  now: Temporal.Instant,
) => Promise<string | null>;

export interface PaymentCalls {
  readonly client: Client;
  readonly shop: Account;
  readonly checkEcho: CheckEcho;
  readonly receiptRefusal: ReceiptRefusal;
}

/** The shop that serves a merchant, with the other inputs of calls. */
export type PaymentCaller = Caller & Pick<PaymentCalls, 'checkEcho' | 'receiptRefusal'>;

export const get = (
  { client, shop: account }: Pick<PaymentCalls, 'client' | 'shop'>,
  path: string,
): Promise<ApiAnswer> => client.call({ account, path });

/** Orders something of the shop under an idempotency key. */
export const post = (
  { client, shop: account }: Pick<PaymentCalls, 'client' | 'shop'>,
  path: string,
  key: string,
  body: object,
): Promise<ApiAnswer> => client.call({ account, path, post: { key, body } });

/** Calls with the account that has a payment; unknown when none reports it. */
export const withHolder = async <Answer>(
  callerOf: (merchantId: string) => Promise<PaymentCaller>,
  merchantId: string,
  reference: string | null,
  call: (calls: PaymentCalls) => Promise<Answer>,
): Promise<Answer | typeof unknown> => {
  if (reference === null) return unknown;
  const caller = await callerOf(merchantId);
  const shop = await holderOf(caller, `/payments/${reference}`);
  return shop ? call({ ...caller, shop }) : unknown;
};

/** The same for the orders of a payment: each is given to the account that has it. */
export const byHolder =
  <Given extends Pick<HoldOrder, 'merchantId' | 'payment'>, Answer>(
    callerOf: (merchantId: string) => Promise<PaymentCaller>,
    act: (calls: PaymentCalls, order: Given) => Promise<Answer>,
  ) =>
  (order: Given): Promise<Answer | typeof unknown> =>
    withHolder(callerOf, order.merchantId, order.payment.reference, (calls) => act(calls, order));

/** How often to query a payment that waits for its buyer; notifications arrive sooner. */
export const askEvery_s = 15;

/** Our names of an operation, which the bank repeats. */
export const metadataOf = (
  { merchantId, operationId }: Pick<Ordered, 'merchantId' | 'operationId'>,
  operation: 'payment' | 'refund' | 'payout',
) => ({ merchant_id: merchantId, operation_id: operationId, operation });

/**
 * Finds the item of an operation in a list, within `pages_max` pages. Null when it is not there;
 * `unknown` when the list could not be read.
 */
export const findListed = async <Item extends Pick<WirePayment, 'metadata'>>(
  { client, shop }: Pick<PaymentCalls, 'client' | 'shop'>,
  list: Required<Pick<ApiCall, 'path' | 'query'>> & { readonly pages_max: number },
  readItem: (item: unknown) => Item | null,
  operationId: string,
): Promise<Item | null | typeof unknown> => {
  let cursor: string | null = null;
  for (let page = 0; page < list.pages_max; page++) {
    const answer: ApiAnswer = await client.call({
      account: shop,
      path: list.path,
      query: { ...list.query, limit: '100', ...(cursor === null ? {} : { cursor }) },
    });
    const read = readPage(bodyOf(answer), readItem);
    if (!read) return unknown;
    const found = read.items.find(({ metadata }) => metadata.operation_id === operationId);
    if (found) return found;
    if (read.nextCursor === null) return null;
    cursor = read.nextCursor;
  }
  return unknown;
};

export const traitsOf = ({
  payment_method: { card, payer_bank_details: bank },
}: WirePayment): PayerTraits => ({
  cardBrand: card.card_type,
  cardMask: card.last4 === null ? null : `**** **** **** ${card.last4}`,
  cardHolder: null,
  phoneMask: null,
  payerBank: bank.bank_id,
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

export const declined = ({
  cancellation_details: cancellation,
}: WirePayment): BankAnswer & { kind: 'declined' } => ({
  kind: 'declined',
  failureCode: paymentFailure(cancellation),
  bankCode: cancellation.reason,
});

/** What is kept of a payment whose buyer has confirmed. */
export const acceptedBy = (payment: WirePayment): Accepted => {
  const { id, saved, sbp_operation_id } = payment.payment_method;
  return {
    reference: payment.id,
    rrn: payment.authorization_details.rrn ?? sbp_operation_id,
    traits: traitsOf(payment),
    ...(saved && id !== null ? { savedReference: id } : {}),
  };
};

export const approved = (payment: WirePayment): BankAnswer & { kind: 'approved' } => ({
  kind: 'approved',
  ...acceptedBy(payment),
});

/** Where the buyer confirms; null: there is nothing to confirm. */
export const stepOf = (method: BuyerMethod, { confirmation }: WirePayment) => {
  const stepUrl = confirmation.confirmation_url ?? confirmation.confirmation_data;
  return stepUrl === null ? null : { step: buyerSteps[method], stepUrl };
};

/**
 * Where a payment stands that was ordered so; `pending` without a next question when the bank
 * reports something else.
 */
export const standing = async (
  calls: PaymentCalls,
  ordered: Ordered & { readonly method?: BuyerMethod | null },
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
    case 'waiting_for_capture': {
      const askAt = ordered.now.add({ seconds: askEvery_s });
      const step = ordered.method && stepOf(ordered.method, payment);
      return step
        ? { kind: 'pending', askAt, session: { reference: payment.id, ...step } }
        : { kind: 'pending', askAt };
    }
  }
};
