/**
 * What of the public JSON the named operations cannot write: they give their fields the names that
 * REST has, and the webhooks of an object have the fields of its fragment. Every field is always
 * present, null without a value; only fee, fee_rate_bps and net are absent before success.
 */
import type * as graph from './generated/operations.ts';

/** An event of the log (additions, section 4), named as in its webhook. */
export const loggedEventJson = <Event extends graph.LoggedEventFieldsFragment>(event: Event) => ({
  ...event,
  event: event.event.replace('_', '.'),
});

export const paymentJson = ({
  fee,
  fee_rate_bps,
  net,
  refunds,
  ...payment
}: graph.PaymentFieldsFragment) => ({
  ...payment,
  ...(fee === null ? {} : { fee, fee_rate_bps, net }),
  refunds,
});

/** A payment as answers about it alone have it: with the address of its page. */
type WholePayment = graph.PaymentFieldsFragment & { readonly payment_url: string };

/** The same with its page while it can be paid there; lists, events and webhooks leave it out. */
export const wholePaymentJson = ({ payment_url, ...payment }: WholePayment) => ({
  ...paymentJson(payment),
  payment_url: payment.status === 'pending' || payment.status === 'processing' ? payment_url : null,
});

/**
 * A payment as the answer to a token charge (docs/contract.md#token-charges): `processing` is shown
 * as `pending`.
 */
export const chargeJson = (payment: WholePayment) => ({
  ...wholePaymentJson(payment),
  status: payment.status === 'processing' ? ('pending' as const) : payment.status,
});

/** The recipient. Each method has its own fields; of a card only the mask is shown. */
const recipientJson = ({
  method,
  recipient: { phone, bank_id, account_number, bik, inn, full_name },
}: graph.PayoutFieldsFragment) => {
  switch (method) {
    case 'payouts_sbp':
      return { phone, bank_id, full_name };
    case 'payouts_account':
      return { account_number, bik, inn, full_name };
    case 'payouts_card':
      return {};
  }
};

export const payoutJson = (payout: graph.PayoutFieldsFragment) => ({
  ...payout,
  recipient: recipientJson(payout),
});

type Schedule = NonNullable<graph.GetSubscriptionScheduleQuery['billingSubscription']>;

/**
 * A charge of the schedule; none when payments refused to make its payment. A payment of another
 * shop is not the key's to read, nor is there one yet while it is being made: then the charge
 * itself says where it stands.
 */
const scheduledChargeJson = ({ settled_at, payment, ...charge }: Schedule['charges'][number]) => {
  if (charge.payment_id === null) return [];
  const known = payment ?? {
    status: charge.status === 'open' ? 'processing' : charge.status,
    created_at: charge.created_at,
    captured_at: charge.status === 'succeeded' ? settled_at : null,
  };
  return [{ ...charge, ...known }];
};

export const scheduleJson = (subscription: Schedule) => ({
  ...subscription,
  charges: subscription.charges.flatMap(scheduledChargeJson),
});

/** The envelope of every answer that is not 2xx (docs/contract.md#errors). */
export const errorJson = (code: string, message: string) => ({ error: { code, message } });

/** What an idempotency key was first used for, before or after it was printed. */
export interface FirstUse {
  readonly method: string;
  readonly path: string;
  readonly at: string | Temporal.Instant;
  readonly requestId: string | null;
}

/** The same of a refusal, with the fields that have mistakes, or the first use. */
export const refusalJson = ({
  code,
  message,
  fields,
  firstRequest,
}: {
  readonly code: string;
  readonly message: string;
  readonly fields: readonly { readonly path: string; readonly message: string }[];
  readonly firstRequest: FirstUse | null;
}) => ({
  error: {
    code,
    message,
    ...(fields.length > 0 ? { fields } : {}),
    ...(firstRequest ? { first_request: firstRequestJson(firstRequest) } : {}),
  },
});

const firstRequestJson = ({ method, path, at, requestId }: FirstUse) => ({
  method,
  path,
  at,
  request_id: requestId,
});
