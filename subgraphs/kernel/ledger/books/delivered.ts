/**
 * No event lacks its webhook deliveries. The relay gives an event its number and makes its
 * deliveries in one transaction, so that an event with a number has them all. An event with an
 * address of its own surely has one; of the shop's endpoints it had each that stood, active and
 * unchanged, from before it until now. An endpoint that was changed meanwhile (the audit log shows
 * it) proves nothing. All moments here are real ones: an event's `created_at` is its shop's test
 * clock's, and may be years ahead of an endpoint that was made after it; its id tells the real one.
 */
import { madeAtInSql } from '../../database/new-id.ts';
import { isWanted } from '../../events/outbox.ts';
import type { Check } from './check.ts';

/** Endpoints and events are stamped before their transactions end. */
const margin = `interval '1 minute'`;
/** The relay takes milliseconds. */
const patience = `interval '10 minutes'`;

// Deliveries are looked for first, and the audit log for what lacks one alone.
const eventDelivered: Check = {
  name: 'event_delivered',
  walk: 'event',
  text: (part) => `with lacking as materialized (
      select fact.*, target.endpoint_id from (${part}) as fact cross join lateral (
        select null::uuid as endpoint_id where fact.webhook_url is not null
        union all
        select endpoint.id from webhook_endpoint as endpoint
        where fact.webhook_url is null and endpoint.merchant_id = fact.merchant_id and endpoint.shop_id = fact.shop_id and endpoint.active
          and endpoint.created_at < ${madeAtInSql('fact.id')} - ${margin} and ${isWanted('endpoint', 'fact.webhook_event')}
      ) as target
      where fact.sequence is not null and fact.webhook_event is not null
        and not exists (select 1 from webhook_delivery as delivery where delivery.merchant_id = fact.merchant_id and delivery.event_id = fact.id
          and delivery.created_at = fact.created_at
          and delivery.endpoint_id is not distinct from target.endpoint_id))
    select merchant_id as "merchantId", shop_id as "shopId", mode, id::text as "subjectId",
      'the event ' || webhook_event || ' of ' || subject_id || ' has no delivery to ' || coalesce('the endpoint ' || endpoint_id, 'its own address') as detail
    from lacking
    where endpoint_id is null
      or not exists (select 1 from audit_entry where audit_entry.merchant_id = lacking.merchant_id and audit_entry.at >= ${madeAtInSql('lacking.id')} - ${margin}
        and audit_entry.subject_id = lacking.endpoint_id::text)
    limit $5`,
};

const eventRelayed: Check = {
  name: 'event_relayed',
  walk: 'event',
  text: (
    part,
  ) => `select fact.merchant_id as "merchantId", fact.shop_id as "shopId", fact.mode, fact.id::text as "subjectId",
      'the event of ' || ${madeAtInSql('fact.id')} || ' has not left the outbox' as detail
    from (${part}) as fact where fact.sequence is null and ${madeAtInSql('fact.id')} < now() - ${patience} limit $5`,
};

export const deliveredChecks: readonly Check[] = [eventDelivered, eventRelayed];
