/**
 * GraphQL object to public JSON: one map for REST answers and webhook bodies. Every field is always
 * present, null without a value; only fee, fee_rate_bps and net are absent before success.
 */
import type * as graph from './generated/operations.ts';

export type {
  PaymentFieldsFragment,
  PayoutFieldsFragment,
  RefundFieldsFragment,
} from './generated/operations.ts';

/* Events of the log as the public JSON has them (additions, section 4). */

/** An event as its webhook has it. */
export const loggedEventJson = ({
  id,
  event,
  createdAt,
  data,
}: graph.LoggedEventFieldsFragment) => ({
  id,
  event: event.replace('_', '.'),
  created_at: createdAt,
  data,
});

/** An event with what became of its webhooks. */
export const deliveredEventJson = (
  event: NonNullable<graph.GetLoggedEventQuery['loggedEvent']>,
) => ({
  ...loggedEventJson(event),
  deliveries: event.deliveries.map(({ url, status, attemptLog }) => ({
    url,
    status,
    attempts: attemptLog.map(({ at, durationMs, status: answered, error }) => ({
      at,
      duration_ms: durationMs,
      status: answered,
      error,
    })),
  })),
});

/* Receipts as the public JSON and webhooks have them (additions, section 2). */

/** What a receipt is made of. */
const receiptTermsJson = ({
  customer,
  taxSystem,
  items,
}: Pick<graph.ReceiptFieldsFragment, 'customer' | 'taxSystem' | 'items'>) => ({
  customer: {
    email: customer.email,
    phone: customer.phone,
    full_name: customer.fullName,
    inn: customer.inn,
  },
  tax_system: taxSystem,
  items: items.map((item) => ({
    description: item.description,
    quantity: item.quantity,
    price: item.price,
    vat_code: item.vatCode,
    payment_subject: item.paymentSubject,
    payment_mode: item.paymentMode,
    measure: item.measure,
    mark_code: item.markCode,
  })),
});

export const receiptJson = (receipt: graph.ReceiptFieldsFragment) => ({
  id: receipt.id,
  payment_id: receipt.paymentId,
  refund_id: receipt.refundId,
  type: receipt.type,
  status: receipt.status,
  amount: receipt.amount,
  currency: receipt.currency,
  ...receiptTermsJson(receipt),
  fiscal_storage_number: receipt.fiscalStorageNumber,
  fiscal_document_number: receipt.fiscalDocumentNumber,
  fiscal_attribute: receipt.fiscalAttribute,
  registered_at: receipt.registeredAt,
  failure_reason: receipt.failureReason,
  created_at: receipt.createdAt,
});

export const refundJson = (refund: graph.RefundFieldsFragment) => ({
  id: refund.id,
  payment_id: refund.paymentId,
  merchant_id: refund.merchantId,
  amount: refund.amount,
  reason: refund.reason,
  metadata: refund.metadata,
  status: refund.status,
  fail_reason: refund.failReason,
  created_at: refund.createdAt,
  completed_at: refund.completedAt,
});

export const paymentJson = (payment: graph.PaymentFieldsFragment) => ({
  id: payment.id,
  public_id: payment.publicId,
  merchant_id: payment.merchantId,
  shop_id: payment.shopId,
  terminal_id: payment.terminalId,
  terminal_name: payment.terminalName,
  shop_name: payment.shopName,
  order_id: payment.orderId,
  amount: payment.amount,
  capture: payment.capture,
  amount_capturable: payment.amountCapturable,
  amount_captured: payment.amountCaptured,
  capture_before: payment.captureBefore,
  amount_refunded: payment.amountRefunded,
  amount_usdt: payment.amountUsdt,
  currency: payment.currency,
  method: payment.method,
  status: payment.status,
  rrn: payment.rrn,
  bank_name: payment.bankName,
  return_url: payment.returnUrl,
  on_decline: payment.onDecline,
  description: payment.description,
  created_at: payment.createdAt,
  captured_at: payment.capturedAt,
  finalized_at: payment.finalizedAt,
  expires_at: payment.expiresAt,
  processing_until: payment.processingUntil,
  metadata: payment.metadata,
  customer_card_brand: payment.customerCardBrand,
  customer_card_mask: payment.customerCardMask,
  customer_card_holder: payment.customerCardHolder,
  customer_phone_mask: payment.customerPhoneMask,
  customer_payer_bank: payment.customerPayerBank,
  ...(payment.fee === null
    ? {}
    : { fee: payment.fee, fee_rate_bps: payment.feeRateBps, net: payment.net }),
  refunds: payment.refunds.map(refundJson),
});

/** A payment as answers about it alone have it: with the address of its page. */
type WholePayment = graph.PaymentFieldsFragment & { readonly paymentUrl: string };

/** The same with its page while it can be paid there; lists, events and webhooks leave it out. */
export const wholePaymentJson = (payment: WholePayment) => ({
  ...paymentJson(payment),
  payment_url:
    payment.status === 'pending' || payment.status === 'processing' ? payment.paymentUrl : null,
});

/** A link's fields; the sum of its payments may be one that only raw JSON writes to the digit. */
export type LinkFields = Omit<graph.PaymentLinkFieldsFragment, 'amountPaid'> & {
  readonly amountPaid: number | object;
};

export const linkJson = (link: LinkFields) => ({
  id: link.id,
  merchant_id: link.merchantId,
  shop_id: link.shopId,
  url: link.url,
  status: link.status,
  amount: link.amount,
  amount_min: link.amountMin,
  amount_max: link.amountMax,
  currency: link.currency,
  description: link.description,
  order_id: link.orderId,
  method: link.method,
  capture: link.capture,
  uses: link.uses,
  uses_left: link.usesLeft,
  expires_at: link.expiresAt,
  return_url: link.returnUrl,
  metadata: link.metadata,
  payments_count: link.paymentsCount,
  amount_paid: link.amountPaid,
  created_at: link.createdAt,
  finalized_at: link.finalizedAt,
  receipt: link.receipt && receiptTermsJson(link.receipt),
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
const recipientJson = ({ method, recipient }: graph.PayoutFieldsFragment) => {
  switch (method) {
    case 'payouts_sbp':
      return { phone: recipient.phone, bank_id: recipient.bankId, full_name: recipient.fullName };
    case 'payouts_account':
      return {
        account_number: recipient.accountNumber,
        bik: recipient.bik,
        inn: recipient.inn,
        full_name: recipient.fullName,
      };
    case 'payouts_card':
      return {};
  }
};

export const payoutJson = (payout: graph.PayoutFieldsFragment) => ({
  id: payout.id,
  merchant_id: payout.merchantId,
  shop_id: payout.shopId,
  terminal_id: payout.terminalId,
  amount: payout.amount,
  currency: payout.currency,
  method: payout.method,
  status: payout.status,
  fail_reason: payout.failReason,
  recipient: recipientJson(payout),
  recipient_card_mask: payout.recipientCardMask,
  bank_ref: payout.bankRef,
  order_id: payout.orderId,
  metadata: payout.metadata,
  created_at: payout.createdAt,
  completed_at: payout.completedAt,
});

export const subscriptionJson = (subscription: graph.SubscriptionFieldsFragment) => ({
  id: subscription.id,
  merchant_id: subscription.merchantId,
  shop_id: subscription.shopId,
  customer_ref: subscription.customerRef,
  plan_name: subscription.planName,
  metadata: subscription.metadata,
  amount: subscription.amount,
  currency: subscription.currency,
  method: subscription.method,
  period: subscription.period,
  interval_count: subscription.intervalCount,
  trial_days: subscription.trialDays,
  status: subscription.status,
  next_charge_at: subscription.nextChargeAt,
  last_charge_at: subscription.lastChargeAt,
  created_at: subscription.createdAt,
});

export const tokenJson = (token: graph.TokenFieldsFragment) => ({
  id: token.id,
  merchant_id: token.merchantId,
  shop_id: token.shopId,
  customer_ref: token.customerRef,
  metadata: token.metadata,
  method: token.method,
  status: token.status,
  card_brand: token.cardBrand,
  card_mask: token.cardMask,
  card_holder: token.cardHolder,
  last_charged_at: token.lastChargedAt,
  created_at: token.createdAt,
});

/** A token or a subscription, with the page where its buyer binds it. */
export const withPage = <Json extends object>(json: Json, payUrl: string | null) => ({
  ...json,
  pay_url: payUrl,
});

type LedgerNode = graph.ListLedgerQuery['ledger']['nodes'][number];
type Schedule = NonNullable<graph.GetSubscriptionScheduleQuery['billingSubscription']>;

/** The order of the fields is the order of the CSV's columns. */
export const ledgerEntryJson = (entry: LedgerNode) => ({
  id: entry.id,
  type: entry.type,
  amount: entry.amount,
  currency: entry.currency,
  description: entry.description,
  payment_id: entry.paymentId,
  payout_id: entry.payoutId,
  created_at: entry.createdAt,
});

export const balanceJson = (balance: graph.GetBalanceQuery['balance']) => ({
  balance: balance.balance,
  available: balance.available,
  currency: balance.currency,
  shops: balance.shops.map((shop) => ({
    shop_id: shop.shopId,
    shop_name: shop.shopName,
    balance: shop.balance,
  })),
});

export const rateJson = (rate: graph.ListRatesQuery['rates'][number]) => ({
  method: rate.method,
  rate_bps: rate.rateBps,
});

export const sbpBankJson = (bank: graph.ListSbpBanksQuery['sbpBanks'][number]) => ({
  member_id: bank.memberId,
  name: bank.name,
  name_en: bank.nameEn,
});

/**
 * A charge of the schedule; none when payments refused to make its payment. A payment of another
 * shop is not the key's to read, nor is there one yet while it is being made: then the charge
 * itself says where it stands.
 */
const scheduledChargeJson = ({
  paymentId,
  kind,
  amount,
  currency,
  status,
  createdAt,
  settledAt,
  payment,
}: Schedule['charges'][number]) => {
  if (paymentId === null) return [];
  const known = payment ?? {
    status: status === 'open' ? 'processing' : status,
    createdAt,
    capturedAt: status === 'succeeded' ? settledAt : null,
  };
  return [
    {
      payment_id: paymentId,
      kind,
      amount,
      currency,
      status: known.status,
      created_at: known.createdAt,
      captured_at: known.capturedAt,
    },
  ];
};

export const scheduleJson = (subscription: Schedule) => ({
  subscription_id: subscription.id,
  status: subscription.status,
  amount: subscription.amount,
  currency: subscription.currency,
  period: subscription.period,
  interval_count: subscription.intervalCount,
  next_charge_at: subscription.nextChargeAt,
  charges: subscription.charges.flatMap(scheduledChargeJson),
  upcoming: subscription.upcoming,
});

export const requestJson = (request: graph.ApiRequestFieldsFragment) => ({
  id: request.id,
  at: request.at,
  method: request.method,
  path: request.path,
  status: request.status,
  code: request.code,
  key_prefix: request.keyPrefix,
  idempotency_key: request.idempotencyKey,
  duration_ms: request.durationMs,
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
