/** The payment service's client. README.md has an example of each task. */
export { openPaymentClient, type PaymentClient } from './client.ts';
export { ApiError, ConnectionError, StreamEnded, WebhookError, type FailedCall } from './errors.ts';
export { List, type PageOf } from './routes.ts';
export { decimalOf, formatMoney, parseMoney } from './money.ts';
export type { ErrorCode, Schemas, StreamEvent, WebhookEvent, WebhookEventName } from './schemas.ts';
export type { StreamOptions } from './stream.ts';
export type { CallOptions, ClientOptions } from './transport.ts';
export { apiVersion, version } from './schemas.ts';
export {
  signWebhook,
  verifyWebhook,
  type Delivery,
  type WebhookFormat,
  type WebhookHeaders,
} from './webhooks.ts';
