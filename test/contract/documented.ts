/**
 * The REST routes as the API document lists them, each with the operation that stands behind it.
 * Written by hand: it is what the rest is held to.
 */
export const documented: Readonly<Record<string, string>> = {
  'POST /v1/public/payments': 'CreatePayment',
  'GET /v1/public/payments': 'ListPayments',
  'GET /v1/public/payments/{id}': 'GetPayment',
  'POST /v1/public/payments/{id}/cancel': 'CancelPayment',
  'POST /v1/public/payments/{id}/capture': 'CapturePayment',
  'POST /v1/public/payments/{id}/refund': 'CreateRefund',
  'GET /v1/public/refunds': 'ListRefunds',
  'POST /v1/public/payouts': 'CreatePayout',
  'POST /v1/public/payouts/batch': 'CreatePayoutBatch',
  'GET /v1/public/payouts': 'ListPayouts',
  'GET /v1/public/payouts/{id}': 'GetPayout',
  'GET /v1/public/balance': 'GetBalance',
  'GET /v1/public/rates': 'ListRates',
  'GET /v1/public/ledger': 'ListLedger',
  'GET /v1/public/banks/sbp': 'ListSbpBanks',
  'POST /v1/public/subscriptions': 'CreateSubscription',
  'GET /v1/public/subscriptions': 'ListSubscriptions',
  'GET /v1/public/subscriptions/{id}': 'GetSubscription',
  'GET /v1/public/subscriptions/{id}/schedule': 'GetSubscriptionSchedule',
  'POST /v1/public/subscriptions/{id}/cancel': 'CancelSubscription',
  'POST /v1/public/tokens': 'CreateToken',
  'GET /v1/public/tokens': 'ListTokens',
  'POST /v1/public/tokens/{id}/charge': 'ChargeToken',
  'POST /v1/public/tokens/{id}/cancel': 'CancelToken',
  'GET /v1/public/event-log': 'ListEventLog',
  'GET /v1/public/event-log/{id}': 'GetLoggedEvent',
  'GET /v1/public/events': 'StreamEvents',
};
