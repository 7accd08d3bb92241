/**
 * Watches what goes wrong slowly: a bank, a share of successes, an endpoint, a payout, a key. What
 * is found raises an alert of its kind; what has passed resolves its alert.
 */
import type pg from 'pg';
import { raiseAlert } from '../../platform/alerts/raise-alert.ts';
import { noteListChange } from '../../platform/database/list-changes.ts';
import { run, type Statement } from '../../platform/database/statement.ts';
import { done, type Job } from '../../platform/queue/run-job.ts';
import type { AlertKind } from '../../rules/alert.ts';
import type { Mode } from '../../rules/mode.ts';
import { platformMerchantId } from '../../rules/platform.ts';

export interface WatchDeps {
  readonly pool: pg.Pool;
  readonly now: () => Temporal.Instant;
}

/** How often all of it is looked at. */
const watchEvery_ms = 60_000;

/** Of a bank's calls so lately. */
const bankSpan_min = 15;
const bankCalls_min = 20;
/** So many of a hundred calls fail. */
const bankFailures_percent = 20;

/** Payments of this and the last hour, against those of so many hours before. */
const successSpan_h = 1;
const successBefore_h = 72;
const successPayments_min = 20;
/** So many points of a percentage below the share before. */
const successFall_points = 20;

const endpointSpan_h = 24;
const payoutSpan_h = 3;
const keyEnds_days = 7;
/** A key that was not used for so long is not missed. */
const keyUsed_days = 30;

/** Of one kind, found at once. */
const found_max = 200;

interface Found {
  /** Null: it is about the platform. */
  readonly merchantId: string | null;
  readonly shopId: string | null;
  readonly mode: Mode | null;
  readonly subjectId: string;
  readonly detail: string;
}

interface Watch {
  readonly kind: AlertKind;
  readonly statement: Statement;
  readonly values: (now: Temporal.Instant) => readonly unknown[];
}

const shop0 = platformMerchantId;

const watches: readonly Watch[] = [
  {
    kind: 'bank_degraded',
    statement: {
      name: 'watch.banks',
      text: `select null as "merchantId", null as "shopId", mode, concat(connector, '/', mode) as "subjectId",
          concat(sum(failures), ' of ', sum(calls), ' calls to ', connector, ' failed in ${bankSpan_min} minutes') as detail
        from bank_health where at >= $1 group by connector, mode
        having sum(calls) >= ${bankCalls_min} and sum(failures) * 100 >= sum(calls) * ${bankFailures_percent} limit ${found_max}`,
    },
    values: (now) => [now.subtract({ minutes: bankSpan_min })],
  },
  {
    kind: 'success_falls',
    statement: {
      name: 'watch.successes',
      text: `select merchant_id as "merchantId", null as "shopId", mode, concat('payments/', mode) as "subjectId",
          concat(paid * 100 / ended, ' % of ', ended, ' payments succeeded lately, ', paid_before * 100 / ended_before, ' % in the ${successBefore_h} hours before') as detail
        from (select merchant_id, mode,
            sum(count_succeeded + count_refunded + count_authorized) filter (where hour >= $1) as paid,
            sum(count_succeeded + count_refunded + count_authorized + count_failed) filter (where hour >= $1) as ended,
            sum(count_succeeded + count_refunded + count_authorized) filter (where hour < $1) as paid_before,
            sum(count_succeeded + count_refunded + count_authorized + count_failed) filter (where hour < $1) as ended_before
          from hourly_total where kind = 'payment' and hour >= $2 and shop_id = '${shop0}' and merchant_id <> '${platformMerchantId}'
          group by merchant_id, mode) as sums
        where ended >= ${successPayments_min} and ended_before >= ${successPayments_min}
          and paid * 100 < ended * (paid_before * 100 / ended_before - ${successFall_points}) limit ${found_max}`,
    },
    values: (now) => [
      now.subtract({ hours: successSpan_h + 1 }),
      now.subtract({ hours: successSpan_h + 1 + successBefore_h }),
    ],
  },
  {
    kind: 'endpoint_fails',
    statement: {
      name: 'watch.endpoints',
      text: `select endpoint.merchant_id as "merchantId", endpoint.shop_id as "shopId", null as mode, endpoint.id::text as "subjectId",
          concat('nothing has been delivered to ', endpoint.url, ' for ${endpointSpan_h} hours') as detail
        from webhook_endpoint as endpoint where endpoint.active
          and exists (select 1 from webhook_delivery as late where late.merchant_id = endpoint.merchant_id and late.shop_id = endpoint.shop_id
            and late.endpoint_id = endpoint.id and late.status <> 'delivered' and late.attempts > 0
            and late.created_at between $1::timestamptz - interval '${endpointSpan_h} hours' and $1::timestamptz)
          and not exists (select 1 from webhook_delivery as recent where recent.merchant_id = endpoint.merchant_id and recent.shop_id = endpoint.shop_id
            and recent.endpoint_id = endpoint.id and recent.delivered_at > $1 and recent.created_at > $1::timestamptz - interval '${endpointSpan_h} hours')
        limit ${found_max}`,
    },
    values: (now) => [now.subtract({ hours: endpointSpan_h })],
  },
  {
    kind: 'payout_stuck',
    statement: {
      name: 'watch.payouts',
      text: `select merchant_id as "merchantId", shop_id as "shopId", mode, id::text as "subjectId",
          'the payout has had no result for ${payoutSpan_h} hours' as detail
        from payout where status = 'pending' and created_at < $1 order by created_at limit ${found_max}`,
    },
    values: (now) => [now.subtract({ hours: payoutSpan_h })],
  },
  {
    kind: 'key_expires',
    statement: {
      name: 'watch.keys',
      text: `select merchant_id as "merchantId", shop_id as "shopId", mode, id::text as "subjectId",
          concat('the key ', prefix, '... ends at ', to_char(expires_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI'), ' UTC') as detail
        from api_key where expires_at > $1 and expires_at < $2 and last_used_at > $3 and revoked_at is null limit ${found_max}`,
    },
    values: (now) => [
      now,
      now.add({ hours: keyEnds_days * 24 }),
      now.subtract({ hours: keyUsed_days * 24 }),
    ],
  },
];

const unresolved: Statement = {
  name: 'watch.unresolved',
  text: `select merchant_id as "merchantId", id, subject_id as "subjectId" from alert where kind = $1 and resolved_at is null
    order by raised_at limit ${found_max}`,
};
const clear: Statement = {
  name: 'watch.clear',
  text: `update alert set resolved_at = $3, resolved_by = 'service', note = 'It has passed'
    where merchant_id = $1 and id = $2 and resolved_at is null`,
};

/** Resolves the alerts of a kind whose subject is well again. */
const clearPassed = async (
  pool: pg.Pool,
  kind: AlertKind,
  found: readonly Found[],
  at: Temporal.Instant,
): Promise<void> => {
  const nameOf = (merchantId: string | null, subjectId: string): string =>
    `${merchantId ?? platformMerchantId}/${subjectId}`;
  const still = new Set(found.map(({ merchantId, subjectId }) => nameOf(merchantId, subjectId)));
  type Raised = Readonly<Record<'merchantId' | 'id' | 'subjectId', string>>;
  for (const { merchantId, id, subjectId } of await run<Raised>(pool, unresolved, [kind])) {
    if (still.has(nameOf(merchantId, subjectId))) continue;
    await run(pool, clear, [merchantId, id, at]);
    noteListChange(pool, { list: 'alerts', merchantId });
  }
};

/** Looks at everything once; gives how many alerts are new. */
export const watchAll = async ({ pool, now }: WatchDeps): Promise<number> => {
  let raised = 0;
  for (const { kind, statement, values } of watches) {
    const at = now();
    const found = await run<Found>(pool, statement, [...values(at)]);
    for (const one of found) if (await raiseAlert(pool, { ...one, kind, at })) raised += 1;
    // A full page may have left out what still stands.
    if (found.length < found_max) await clearPassed(pool, kind, found, at);
  }
  return raised;
};

/** The job. */
export const watchJobs = (deps: WatchDeps): readonly Job[] => [
  {
    name: 'watch',
    queue: 'schedules',
    every_ms: watchEvery_ms,
    run: async () => {
      await watchAll(deps);
      return done;
    },
  },
];
