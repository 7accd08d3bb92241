/** Shows the requests of deliveries: the event's frozen bytes and the headers. */
import type { WebhookHeader, WebhookRequest } from '../../../schema/generated/merchants.ts';
import { type Keys, unseal } from '../../platform/access/keys.ts';
import { runByMerchant } from '../../platform/database/sql-file.ts';
import type { Runner, Statement } from '../../platform/database/statement.ts';
import { withMaskedRecipient } from '../../rules/recipient.ts';
import type { WebhookDelivery } from '../entities.ts';
import { joinSigning, type Message } from './deliveries.ts';
import { type SignatureFormat, sign, signStandard } from './rules.ts';

// The headers of a webhook: as sent, and as shown later without the signature.

const fixedHeaders = (id: string) => ({
  'Content-Type': 'application/json',
  'User-Agent': 'psp-webhook/1.0',
  'X-PSP-Event-Id': id,
});

/**
 * The headers of docs/contract.md#webhook-signatures. The timestamp is the real time, even for a
 * shop with a test clock, since the receiver compares it with its own clock. Throws when a secret
 * cannot be read.
 */
export const signedHeaders = (
  vaultKey: Keys,
  eventId: string,
  { body, signature, secretSealed, previousSealed }: Message,
): Record<string, string> => {
  const current = unseal(vaultKey, secretSealed);
  const previous = previousSealed === null ? null : unseal(vaultKey, previousSealed);
  const [secrets, id, now] = [{ current, previous }, `evt_${eventId}`, Temporal.Now.instant()];
  return {
    ...fixedHeaders(id),
    ...(signature === 'standard'
      ? signStandard(secrets, id, body, now)
      : sign(secrets, body, now, signature)),
  };
};

/** Placeholders of a signature's parts. */
const shapes: Readonly<Record<Exclude<SignatureFormat, 'standard'>, Record<string, string>>> = {
  v2: { 'X-PSP-Signature': 't=<unix>,v1=<hex>,v2=<hex>', 'X-PSP-Timestamp': '<unix>' },
  stripe: { 'X-PSP-Signature': 't=<unix>,v1=<hex>,v2=<hex>', 'X-PSP-Timestamp': '<unix>' },
  legacy: { 'X-PSP-Signature': 'sha256=<hex>' },
};

/** The headers of every attempt of an event, except the signature and its moment. */
const shownHeaders = (eventId: string, signature: SignatureFormat): Record<string, string> => {
  const id = `evt_${eventId}`;
  const signed =
    signature === 'standard'
      ? { 'webhook-id': id, 'webhook-timestamp': '<unix>', 'webhook-signature': 'v1,<base64>' }
      : shapes[signature];
  return { ...fixedHeaders(id), ...signed };
};

export const listHeaders = (headers: Readonly<Record<string, string>>): WebhookHeader[] =>
  Object.entries(headers).map(([name, value]) => ({ name, value }));

const requests: Statement = {
  name: 'delivery.requests',
  text: `select delivery.event_id as "eventId", delivery.endpoint_id as "endpointId", event.webhook_body as body, signing.signature
    from (select distinct * from unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::timestamptz[]) as given (event_id, shop_id, endpoint_id, created_at)) as delivery
    join event on event.merchant_id = $1 and event.id = delivery.event_id and event.created_at = delivery.created_at
    ${joinSigning('delivery')}
    where event.webhook_body is not null`,
};

/** A request as people see it: the recipient of a payout is masked. */
export const maskedRequest = (request: WebhookRequest): WebhookRequest => {
  const body = JSON.parse(request.body) as { readonly data: Record<string, unknown> };
  const data = withMaskedRecipient(body.data);
  return data === body.data ? request : { ...request, body: JSON.stringify({ ...body, data }) };
};

interface Found {
  readonly eventId: string;
  readonly endpointId: string | null;
  readonly body: string;
  readonly signature: SignatureFormat | null;
}

/** The request of each delivery; null where its event is no longer kept. */
export const findRequests = async (
  runner: Runner,
  deliveries: readonly WebhookDelivery[],
): Promise<(WebhookRequest | null)[]> => {
  const found = await runByMerchant<Found, WebhookDelivery>(runner, requests, deliveries, (own) => [
    own.map(({ eventId }) => eventId),
    own.map(({ shopId }) => shopId),
    own.map(({ endpointId }) => endpointId),
    own.map(({ createdAt }) => createdAt),
  ]);
  const byDelivery = new Map(
    found.map((row) => [`${row.eventId} ${row.endpointId ?? ''}`, row] as const),
  );
  return deliveries.map(({ eventId, endpointId }) => {
    const row = byDelivery.get(`${eventId} ${endpointId ?? ''}`);
    if (!row) return null;
    const signature = row.signature ?? 'v2';
    return { body: row.body, headers: listHeaders(shownHeaders(eventId, signature)), signature };
  });
};
