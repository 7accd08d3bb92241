/** The tables of codes in English, the shape of every language. A code without an entry does not compile. */
import type { WebhookEvent } from '../../../subgraphs/rules/event.ts';
import { failureTexts } from '../../../subgraphs/rules/failure-code.ts';
import type { ErrorCode } from '../../refusal-http.ts';

/** Why a code comes, and what to do then. */
type CauseAndCure = readonly [cause: string, cure: string];

export const english = {
  heads: {
    event: 'event',
    says: 'what happened',
    code: 'code',
    cause: 'what happened',
    cure: 'what to do',
    kind: 'class',
    call: 'call',
    object: 'the object is in',
    beside: 'beside it',
  },
  /** How a scheduled charge continues after a failure of the class. */
  kinds: {
    soft: 'soft: a later attempt may succeed',
    hard: 'hard: this method will not work again',
    buyer: 'buyer: the buyer has to do something',
    technical: 'technical: try the same again',
  },
  errors: {
    bad_request: [
      'A field is missing, unknown, repeated or of a wrong type; the message names it.',
      'Correct the call. Repeating it as it is does not help.',
    ],
    signature_required: [
      'The shop demands signed requests, and this one has no signature.',
      'Sign it with the secret of the shop (`thm_...`); the SDK does it with `signingSecret`.',
    ],
    invalid_signature: [
      'The signature does not fit the request, is more than 5 minutes old, or is of a form that the shop does not take.',
      'Sign the bytes that you send, and check the secret and your clock with `psp doctor`.',
    ],
    unauthorized: [
      'There is no key in the call, or it is malformed, unknown or revoked.',
      'Send `Authorization: Bearer sk_...` with a key that is in force.',
    ],
    live_not_enabled: [
      'A live key was used before the merchant was enabled for live mode.',
      'Ask the operator to enable it.',
    ],
    ip_not_allowed: [
      'The call came from an address that is not on the allow-list of the shop.',
      'Call from a listed address, or have the address added.',
    ],
    scope_required: [
      'The key may not make this call; the message names the scope that it lacks.',
      'Use a key that has the scope, or have one issued.',
    ],
    aml_blocked: [
      'The customer or the card is on a block list.',
      'Do not repeat the call. Ask the operator if you take it for a mistake.',
    ],
    forbidden_purpose: [
      'The description contains words that are not allowed here.',
      'Describe what is sold in other words, or ask the operator.',
    ],
    not_found: [
      'There is no such object for this key: it does not exist, or belongs to another shop, merchant or mode.',
      'Check the id, and that it was made with a key of the same mode.',
    ],
    method_not_allowed: [
      'The address is right, the HTTP method is not.',
      'Take the method from the reference; the header `Allow` lists them.',
    ],
    not_pending: [
      'A payment is to be cancelled that is neither pending nor held.',
      'Read it: when it was paid, refund it.',
    ],
    idempotent_conflict: [
      'The idempotency key was used before, for another call or body; `error.first_request` has method, path, time and request id.',
      'Take a new key for a new operation, or the old body for a repeat.',
    ],
    idempotent_in_progress: [
      'The first call with this key is still being carried out.',
      'Repeat the same call after `Retry-After`. The SDK does so.',
    ],
    payment_not_authorized: [
      'A payment is to be captured whose money is not held (any more).',
      'Read its status and its `capture_before`.',
    ],
    payment_not_succeeded: [
      'A payment is to be refunded that has not been paid.',
      'Wait for `succeeded`, or cancel it.',
    ],
    already_refunded: ['Everything has been given back already.', 'Nothing. Read `refunds`.'],
    token_not_active: [
      'The saved method is not confirmed yet, or was cancelled.',
      'Let the buyer save a method anew.',
    ],
    receipt_not_expected: [
      'The payment takes no closing receipt: it has no prepayment, was not paid, or has one already.',
      'Read its receipts.',
    ],
    payload_too_large: ['The body is larger than the route takes.', 'Send less, or in parts.'],
    unsupported_media_type: [
      'The body is not JSON, or is compressed.',
      'Send `Content-Type: application/json`, uncompressed.',
    ],
    amount_exceeds_remainder: [
      'More is to be refunded or captured than is left.',
      'Read `amount`, `amount_refunded` or `amount_capturable`; refunds under way count.',
    ],
    capture_declined: [
      'The bank refuses to take the held money; the payment stays `authorized`.',
      'Try again with the same key, or cancel it.',
    ],
    insufficient_balance: [
      'The balance does not cover the payout with its fee, or has no room for the amount.',
      'Read `available`, and pay out later or less.',
    ],
    route_not_configured: [
      'No bank is configured for this method of the shop.',
      'Ask the operator for a route.',
    ],
    method_unsupported: [
      'The bank of the shop cannot do that with this method.',
      'Take another method, or ask the operator for another bank.',
    ],
    rate_limited: [
      'More calls came than the merchant may make.',
      'Wait as long as `Retry-After` says. The SDK does so.',
    ],
    internal_error: [
      'The fault is on this side.',
      'Read the object before you repeat what moves money, or repeat it with the same idempotency key. Quote `X-Request-Id` to support.',
    ],
    router_error: [
      "The bank does not know where to send it; with payouts, the recipient's bank.",
      'Check `bank_id` or `bik`. The failed payout is named in the message.',
    ],
    unavailable: [
      'The service is overloaded or being replaced.',
      'Repeat the call after `Retry-After`, with the same idempotency key. The SDK does so.',
    ],
  } satisfies Readonly<Record<ErrorCode, CauseAndCure>>,
  failures: failureTexts,
  events: {
    'payment.authorized': 'The bank holds the money of a two-step payment.',
    'payment.succeeded': 'A payment was paid, or captured.',
    'payment.failed': 'The bank refused a payment; `metadata.failure_code` says why.',
    'payment.cancelled': 'A payment was cancelled, or its hold was released.',
    'payment.expired': 'It was not paid in time, or a hold was not captured in time.',
    'payment.refunded': 'A refund succeeded; one event for each.',
    'refund.failed': 'The bank refused a refund; the money stays with you.',
    'payout.created': 'A payout was made; its result follows.',
    'payout.succeeded': 'A payout arrived.',
    'payout.failed': 'A payout failed; its amount and fee are available again.',
    'link.paid': 'A payment through a link succeeded.',
    'receipt.registered': 'The cash register registered a receipt.',
    'receipt.failed': 'The cash register refused a receipt.',
    'subscription.activated':
      'A subscription is active: its method was bound, or a charge succeeded after one that had failed.',
    'subscription.past_due': 'A charge failed; it is tried again.',
    'subscription.paused': 'A person paused a subscription.',
    'subscription.resumed': 'A person ended the pause.',
    'subscription.cancelled':
      'A subscription ended: it was cancelled, its method was not bound, or its charges failed.',
    'token.activated': 'A payment method was saved and may be charged.',
    'token.cancelled': 'A saved method was revoked, or the buyer did not confirm it.',
  } satisfies Readonly<Record<WebhookEvent, string>>,
};

export type CodeTexts = typeof english;
