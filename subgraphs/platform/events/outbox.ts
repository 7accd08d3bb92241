/**
 * The outbox: events as rows, written by the statement that caused them. A webhook's body is frozen
 * here, with the event. The relay (`platform/events/relay`) assigns their sequence and sends them.
 */
import { rfc3339 } from '../../../schema/scalars.ts';
import { newRowId, asRow } from '../database/statement.ts';
import type { Consumer, LiveKind, WebhookEvent } from '../../rules/event.ts';
import type { Mode } from '../../rules/mode.ts';

/** One event, before it is a row. */
export interface OutboxEvent {
  readonly merchantId: string;
  readonly shopId: string;
  readonly mode: Mode;
  readonly subjectId: string;
  readonly stream: {
    readonly kind: LiveKind;
    readonly payload: Readonly<Record<string, unknown>>;
  } | null;
  /** `data` is the public JSON of the object at this moment; `url` the payment's own target. */
  readonly webhook: {
    readonly event: WebhookEvent;
    readonly data: unknown;
    readonly url: string | null;
  } | null;
  /** The part of the service that must process it; absent for most. */
  readonly consumer?: Consumer | null;
  readonly at: Temporal.Instant;
}

/**
 * A row of `event` for `insertEvents`. Its body and id are those of docs/contract.md#body-and-id.
 */
export const eventRow = (event: OutboxEvent): object => {
  const id = newRowId();
  const { merchantId, shopId, mode, subjectId, stream, webhook, consumer = null, at } = event;
  return asRow({
    merchantId,
    id,
    shopId,
    mode,
    subjectId,
    streamKind: stream?.kind ?? null,
    payload: stream?.payload ?? null,
    webhookEvent: webhook?.event ?? null,
    webhookBody: webhook
      ? JSON.stringify({
          id: `evt_${id}`,
          event: webhook.event,
          created_at: rfc3339(at),
          data: webhook.data,
        })
      : null,
    webhookUrl: webhook?.url ?? null,
    follower: consumer,
    createdAt: at,
  });
};

/** SQL: inserts the JSON array in `parameter` when `condition` (a query) has a row. */
export const insertEvents = (parameter: string, condition: string): string =>
  `insert into event (merchant_id, id, shop_id, mode, subject_id, stream_kind, payload, webhook_event, webhook_body, webhook_url, follower, created_at)
   select row.merchant_id, row.id, row.shop_id, row.mode, row.subject_id, row.stream_kind, row.payload, row.webhook_event, row.webhook_body, row.webhook_url, row.follower, row.created_at
   from jsonb_populate_recordset(null::event, ${parameter}::jsonb) as row where exists (${condition})`;
