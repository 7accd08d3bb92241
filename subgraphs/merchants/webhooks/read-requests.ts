/** What deliveries post, for those who look at them: the event's frozen bytes and its headers. */
import { run, type Runner, type Statement } from '../../kernel/database/statement.ts';
import type { WebhookDelivery } from '../entities.ts';
import { joinSigning } from './message.ts';
import { listHeaders, shownHeaders, type ListedHeader } from './message-headers.ts';
import type { SignatureFormat } from './rules.ts';

export interface WebhookRequest {
  readonly body: string;
  readonly headers: ListedHeader[];
  readonly signature: SignatureFormat;
}

const requests: Statement = {
  name: 'delivery.requests',
  text: `select delivery.event_id as "eventId", delivery.endpoint_id as "endpointId", event.webhook_body as body, signing.signature
    from (select distinct * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::timestamptz[])
      as given (merchant_id, event_id, shop_id, endpoint_id, created_at)) as delivery
    join event on event.merchant_id = delivery.merchant_id and event.id = delivery.event_id and event.created_at = delivery.created_at
    ${joinSigning('delivery')}
    where event.webhook_body is not null`,
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
  const found = await run<Found>(runner, requests, [
    deliveries.map(({ merchantId }) => merchantId),
    deliveries.map(({ eventId }) => eventId),
    deliveries.map(({ shopId }) => shopId),
    deliveries.map(({ endpointId }) => endpointId),
    deliveries.map(({ createdAt }) => createdAt),
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
