/** The objects of the API by their names in its description, and the versions of both. */
import type { components } from './generated/api.ts';

/** Every object of the API's description: `Schemas['PaymentCreate']`. */
export type Schemas = components['schemas'];

/** What to branch on when a call is refused. */
export type ErrorCode = Schemas['ErrorCode'];

/** The names of webhook events. */
export type WebhookEventName = Schemas['WebhookEventName'];

/** What a webhook carries; `event` says which object `data` is. */
export type WebhookEvent =
  | Schemas['PaymentWebhook']
  | Schemas['RefundWebhook']
  | Schemas['PayoutWebhook']
  | Schemas['LinkWebhook']
  | Schemas['ReceiptWebhook']
  | Schemas['SubscriptionWebhook']
  | Schemas['TokenWebhook'];

/** An event of the live stream, with the id from which the stream can be resumed. */
export type StreamEvent = Schemas['LiveEvent'] & { readonly id: string };

/** The version of this package, by semver. */
export const version = '1.0.0';

/** The version of the interface that this package speaks: its `X-Api-Version`. */
export const apiVersion = '2026-05-06';
