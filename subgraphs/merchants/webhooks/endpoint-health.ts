/** Reads the health of deliveries to endpoints. */
import type { WebhookEndpointHealth } from '../../../schema/generated/merchants.ts';
import { runByMerchant } from '../../platform/database/sql-file.ts';
import type { Runner, Statement } from '../../platform/database/statement.ts';
import type { WebhookEndpoint } from '../entities.ts';

/** Deliveries of a merchant that are examined. */
const newest_max = 1_000;
const newest_h = 24;
/** Deliveries on their way to one endpoint that are counted. */
const pending_max = 10_000;

// Both parts are bounded, whatever is pending: two index ranges each.
const health: Statement = {
  name: 'endpoint.health',
  text: `with wanted as (select * from unnest($2::uuid[]) as wanted (id)
    ), counted as (
      select newest.endpoint_id, count(*) filter (where newest.status = 'delivered')::int as delivered,
        count(*) filter (where newest.status = 'failed')::int as failed
      from (
        select endpoint_id, status from webhook_delivery as delivery
        where delivery.merchant_id = $1 and delivery.created_at > $3::timestamptz - interval '${newest_h} hours'
        order by delivery.created_at desc, delivery.id desc limit ${newest_max}) as newest
      group by newest.endpoint_id
    )
    select wanted.id, coalesce(counted.delivered, 0) as delivered, coalesce(counted.failed, 0) as failed,
      waiting.pending, waiting.failing, waiting.oldest as "oldestPendingAt", waiting.next as "nextAttemptAt"
    from wanted left join counted on counted.endpoint_id = wanted.id cross join lateral (
      select count(*)::int as pending, count(*) filter (where attempts > attempts_before)::int as failing, min(created_at) as oldest, min(next_attempt_at) as next from (
        select created_at, next_attempt_at, attempts, attempts_before from webhook_delivery as delivery
        where delivery.merchant_id = $1 and delivery.lane = wanted.id::text and delivery.status = 'pending'
        order by delivery.due_at limit ${pending_max}) as first
    ) as waiting`,
};

const nothing: WebhookEndpointHealth = {
  delivered: 0,
  failed: 0,
  pending: 0,
  failing: 0,
  oldestPendingAt: null,
  nextAttemptAt: null,
};

/** The health of each endpoint. */
export const findHealth = async (
  runner: Runner,
  endpoints: readonly WebhookEndpoint[],
  now: Temporal.Instant,
): Promise<WebhookEndpointHealth[]> => {
  type Row = WebhookEndpointHealth & { readonly id: string };
  const rows = await runByMerchant<Row, WebhookEndpoint>(runner, health, endpoints, (own) => [
    own.map(({ id }) => id),
    now,
  ]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return endpoints.map(({ id }) => byId.get(id) ?? nothing);
};
