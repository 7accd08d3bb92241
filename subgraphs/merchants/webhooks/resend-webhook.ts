/**
 * Resends webhooks from the cabinet (docs/contract.md#delivery). A resend starts the retry schedule
 * again; the numbering of attempts continues.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { isUuid } from '../../rules/ids.ts';
import { EventEntity, MerchantEntity } from '../../platform/database/entities.ts';
import { clientOf } from '../../platform/database/orm-connections.ts';
import type { OnDatabase } from '../../platform/database/orm.ts';
import { run, type Statement } from '../../platform/database/statement.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import {
  changeEntities,
  changing,
  type Acting,
  type AuditedAction,
} from '../../platform/database/audit.ts';
import { WebhookDeliveryEntity, WebhookEndpointEntity, type WebhookDelivery } from '../entities.ts';
import type { RowKey } from '../../platform/database/batch-calls.ts';
import type { WebhookLane } from '../../platform/bus/bus.ts';
import type { WakeLanes } from './deliverer.ts';
import type { MutationwebhookDeliveriesResendFailedArgs } from '../../../schema/generated/merchants.ts';

/** Deliveries made due in one transaction. */
const resendBatch_rows = 1_000;
/** Deliveries made due by one call. */
const resendOfCall_max = 10_000;

export interface ResendDeps extends OnDatabase<'pool' | 'emOf'> {
  /** Wakes the deliverers. May be lost: the sweep finds what is due. */
  readonly wakeLanes: WakeLanes;
}

// Due now, also on a shop's test clock, where the event is in the past.
const makeBatchDue: Statement = {
  name: 'resend.make_batch_due',
  text: `
    with chosen as (
      select id from webhook_delivery as delivery
      where merchant_id = $1 and status = 'failed' and created_at >= $2 and ($3::uuid is null or endpoint_id = $3) and ($8::text is null or mode = $8)
        and (created_at, id) > (coalesce($4::timestamptz, '-infinity'), coalesce($5::uuid, '00000000-0000-0000-0000-000000000000'))
        and exists (select 1 from event where event.merchant_id = $1 and event.id = delivery.event_id)
        and (endpoint_id is null or exists (select 1 from webhook_endpoint as endpoint
          where endpoint.merchant_id = $1 and endpoint.id = delivery.endpoint_id and endpoint.active))
      order by created_at, id limit $7 for update skip locked
    ), resent as (
      update webhook_delivery as delivery set status = 'pending', next_attempt_at = least($6, delivery.created_at), due_at = least($6, delivery.created_at), attempts_before = attempts
      from chosen where delivery.merchant_id = $1 and delivery.id = chosen.id
      returning delivery.merchant_id, delivery.created_at, delivery.id, delivery.lane
    )
    select merchant_id as "merchantId", created_at as "createdAt", id, lane from resent order by created_at, id`,
};

// One that is being sent now is left alone, and so is one that is due already.
const makeWaitingDue: Statement = {
  name: 'resend.make_waiting_due',
  text: `
    with chosen as (
      select id, created_at from webhook_delivery as delivery
      where merchant_id = $1 and lane = $2::text and endpoint_id = $2::uuid and status = 'pending' and (due_at is null or due_at > $3)
        and (lease_until is null or lease_until <= statement_timestamp())
      order by due_at, id limit $4 for update skip locked
    ), retried as (
      update webhook_delivery as delivery set next_attempt_at = least($3, delivery.created_at), due_at = least($3, delivery.created_at)
      from chosen where delivery.merchant_id = $1 and delivery.id = chosen.id and delivery.created_at = chosen.created_at
      returning delivery.merchant_id, delivery.created_at, delivery.id, delivery.lane
    )
    select merchant_id as "merchantId", created_at as "createdAt", id, lane from retried`,
};

/** Why a delivery cannot be resent; null when it can. */
const obstacle = async (
  em: EntityManager,
  { merchantId, eventId, endpointId }: WebhookDelivery,
): Promise<Refusal | null> => {
  if ((await em.count(EventEntity, { merchantId, id: eventId })) === 0)
    return refuse('not_found', 'the event is no longer kept');
  const on = { merchantId, id: endpointId, active: true };
  return endpointId === null || (await em.count(WebhookEndpointEntity, on)) > 0
    ? null
    : refuse('not_found', 'its webhook endpoint is disabled or deleted');
};

const auditState = ({ status, attempts, eventId }: WebhookDelivery) => ({
  status,
  attempts,
  eventId: `evt_${eventId}`,
});

/**
 * Resends one event to its address, whatever its status. Refuses with `not_found` when the
 * delivery, its event or its endpoint no longer exists, and with `bad_request` while the endpoint
 * is disabled.
 */
export const resendDelivery = async (
  { database, wakeLanes }: ResendDeps,
  acting: Acting,
  key: RowKey,
): Promise<WebhookDelivery | Refusal> => {
  const action: AuditedAction = { action: 'webhook_delivery.resend', ...key };
  const what = 'webhook delivery';
  const resend = changing(WebhookDeliveryEntity, key, what, async (delivery, em, notes) => {
    const refusal = await obstacle(em, delivery);
    if (refusal) return refusal;
    notes.before = auditState(delivery);
    const { attempts, createdAt } = delivery;
    const now = acting.now();
    const dueAt = Temporal.Instant.compare(now, createdAt) < 0 ? now : createdAt;
    em.assign(delivery, {
      status: 'pending',
      nextAttemptAt: dueAt,
      dueAt,
      deliveredAt: null,
      attemptsBefore: attempts,
    });
    notes.after = auditState(delivery);
    return delivery;
  });
  const resent = await changeEntities(database, acting, action, resend);
  if (!isRefusal(resent)) wakeLanes([resent]);
  return resent;
};

type FailedSince = MutationwebhookDeliveriesResendFailedArgs;

interface Resent extends WebhookLane {
  readonly createdAt: Temporal.Instant;
  readonly id: string;
}

/**
 * Resends all failed deliveries, oldest first, in batches with a transaction and audit entry each,
 * at most `limit` in one call. `hasMore`: there may be more, call again. Those whose endpoint is
 * disabled or deleted stay failed. Refuses with `not_found` without the merchant.
 */
export const resendFailed = async (
  { database, wakeLanes }: ResendDeps,
  acting: Acting,
  { merchantId, since, endpointId = null, mode = null, limit = resendOfCall_max }: FailedSince,
): Promise<{ readonly count: number; readonly hasMore: boolean } | Refusal> => {
  if (endpointId !== null && !isUuid(endpointId))
    return refuse('not_found', 'there is no such webhook endpoint');
  if (limit < 1 || limit > resendOfCall_max)
    return refuse('bad_request', `limit: expected 1 to ${resendOfCall_max}, got ${limit}`);
  const action: AuditedAction = {
    action: 'webhook_deliveries.resend_failed',
    merchantId,
    id: merchantId,
    kind: 'merchant',
  };
  let count = 0;
  let last: Resent | undefined;
  while (count < limit) {
    const rows_max = Math.min(resendBatch_rows, limit - count);
    const position = [last?.createdAt ?? null, last?.id ?? null];
    const resent = await changeEntities(database, acting, action, async (em, notes) => {
      if ((await em.count(MerchantEntity, { id: merchantId })) === 0)
        return refuse('not_found', 'there is no such merchant');
      const values = [merchantId, since, endpointId, ...position, acting.now(), rows_max, mode];
      const rows = await run<Resent>(await clientOf(em), makeBatchDue, values);
      notes.after = { since, endpointId, mode, resent: rows.length };
      return rows;
    });
    if (isRefusal(resent)) return resent;
    wakeLanes(resent);
    count += resent.length;
    last = resent.at(-1);
    if (resent.length < rows_max) return { count, hasMore: false };
  }
  return { count, hasMore: true };
};

/**
 * Has the pending deliveries of an endpoint tried at once, in a transaction with an audit entry; at
 * most `limit`. Their schedule of retries continues. `hasMore`: there may be more, call again.
 * Refuses with `not_found` without the endpoint, and with `bad_request`.
 */
export const retryPending = async (
  { database, wakeLanes }: ResendDeps,
  acting: Acting,
  {
    merchantId,
    endpointId,
    limit = resendBatch_rows,
  }: Pick<FailedSince, 'merchantId' | 'limit'> & { readonly endpointId: string },
): Promise<{ readonly count: number; readonly hasMore: boolean } | Refusal> => {
  const none = refuse('not_found', 'there is no such webhook endpoint');
  if (!isUuid(endpointId)) return none;
  if (limit < 1 || limit > resendBatch_rows)
    return refuse('bad_request', `limit: expected 1 to ${resendBatch_rows}, got ${limit}`);
  const action: AuditedAction = {
    action: 'webhook_deliveries.retry',
    merchantId,
    id: endpointId,
    kind: 'webhook_endpoint',
  };
  const retried = await changeEntities(database, acting, action, async (em, notes) => {
    if ((await em.count(WebhookEndpointEntity, { merchantId, id: endpointId })) === 0) return none;
    const values = [merchantId, endpointId, acting.now(), limit];
    const rows = await run<Resent>(await clientOf(em), makeWaitingDue, values);
    notes.after = { retried: rows.length };
    return rows;
  });
  if (isRefusal(retried)) return retried;
  wakeLanes(retried);
  return { count: retried.length, hasMore: retried.length === limit };
};
