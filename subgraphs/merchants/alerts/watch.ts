/**
 * Watches what goes wrong slowly: a bank, a share of successes, an endpoint, a payout, a key. What
 * is found raises an alert of its kind; what has passed resolves its alert.
 */
import { raiseAlert, type RaisedAlert } from '../../platform/alerts/alerts.ts';
import { AlertEntity } from '../../platform/alerts/entities.ts';
import { noteListChange } from '../../platform/database/list-changes.ts';
import type { OnDatabase } from '../../platform/database/orm.ts';
import { run, type Statement } from '../../platform/database/statement.ts';
import { periodic, type Job } from '../../platform/queue/run-job.ts';
import type { AlertKind } from '../../rules/alert.ts';
import { platformMerchantId } from '../../rules/ids.ts';

export interface WatchDeps extends OnDatabase<'pool' | 'fork'> {
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

/** Of one kind, found at once; of one merchant, so that its own do not hide those of others. */
const found_max = 200;
const foundOfMerchant_max = 5;
/** Deliveries of a merchant that are looked at for one that succeeded, the newest first. */
const looked_max = 10_000;

type Found = Omit<RaisedAlert, 'kind' | 'at'>;

interface Watch {
  readonly kind: AlertKind;
  /** SQL: what is found, one row for each subject. */
  readonly found: string;
  readonly values: (now: Temporal.Instant) => readonly unknown[];
}

const watches: readonly Watch[] = [
  {
    kind: 'bank_degraded',
    found: `select null as "merchantId", null as "shopId", mode, concat(connector, '/', mode) as "subjectId",
          concat(sum(failures), ' of ', sum(calls), ' calls to ', connector, ' failed in ${bankSpan_min} minutes') as detail,
          jsonb_build_object('bank', connector, 'failed', sum(failures)::text, 'count', sum(calls)::text, 'minutes', '${bankSpan_min}') as fields
        from bank_health where at >= $1 group by connector, mode
        having sum(calls) >= ${bankCalls_min} and sum(failures) * 100 >= sum(calls) * ${bankFailures_percent}`,
    values: (now) => [now.subtract({ minutes: bankSpan_min })],
  },
  {
    kind: 'success_falls',
    found: `select merchant_id as "merchantId", null as "shopId", mode, concat('payments/', mode) as "subjectId",
          concat(paid * 100 / ended, ' % of ', ended, ' payments succeeded lately, ', paid_before * 100 / ended_before, ' % in the ${successBefore_h} hours before') as detail,
          jsonb_build_object('share', (paid * 100 / ended)::bigint::text, 'count', ended::text, 'share_before', (paid_before * 100 / ended_before)::bigint::text,
            'hours', '${successBefore_h}') as fields
        from (select merchant_id, mode,
            sum(count_succeeded + count_refunded + count_authorized) filter (where hour >= $1) as paid,
            sum(count_succeeded + count_refunded + count_authorized + count_failed) filter (where hour >= $1) as ended,
            sum(count_succeeded + count_refunded + count_authorized) filter (where hour < $1) as paid_before,
            sum(count_succeeded + count_refunded + count_authorized + count_failed) filter (where hour < $1) as ended_before
          from hourly_total where kind = 'payment' and mode = 'live' and hour >= $2 and shop_id = '${platformMerchantId}' and merchant_id <> '${platformMerchantId}'
          group by merchant_id, mode) as sums
        where ended >= ${successPayments_min} and ended_before >= ${successPayments_min}
          and paid * 100 < ended * (paid_before * 100 / ended_before - ${successFall_points})`,
    values: (now) => [
      now.subtract({ hours: successSpan_h + 1 }),
      now.subtract({ hours: successSpan_h + 1 + successBefore_h }),
    ],
  },
  {
    kind: 'endpoint_fails',
    found: `select endpoint.merchant_id as "merchantId", endpoint.shop_id as "shopId", null as mode, endpoint.id::text as "subjectId",
          concat('nothing has been delivered to ', endpoint.url, ' for ${endpointSpan_h} hours') as detail,
          jsonb_build_object('url', endpoint.url, 'hours', '${endpointSpan_h}') as fields
        from webhook_endpoint as endpoint where endpoint.active
          and exists (select 1 from webhook_delivery as late where late.merchant_id = endpoint.merchant_id and late.shop_id = endpoint.shop_id
            and late.endpoint_id = endpoint.id and late.status <> 'delivered' and late.attempts > 0
            and late.created_at between $1::timestamptz - interval '${endpointSpan_h} hours' and $1::timestamptz)
          and not exists (select 1 from (
              select endpoint_id, delivered_at from webhook_delivery where merchant_id = endpoint.merchant_id and created_at > $1::timestamptz - interval '${endpointSpan_h} hours'
              order by created_at desc, id desc limit ${looked_max}
            ) as recent where recent.endpoint_id = endpoint.id and recent.delivered_at > $1)
       `,
    values: (now) => [now.subtract({ hours: endpointSpan_h })],
  },
  {
    kind: 'payout_stuck',
    found: `select merchant_id as "merchantId", shop_id as "shopId", mode, id::text as "subjectId",
          'the payout has had no result for ${payoutSpan_h} hours' as detail, jsonb_build_object('hours', '${payoutSpan_h}') as fields
        from payout where status = 'pending' and mode = 'live' and created_at < $1 order by created_at`,
    values: (now) => [now.subtract({ hours: payoutSpan_h })],
  },
  {
    kind: 'key_expires',
    found: `select merchant_id as "merchantId", shop_id as "shopId", mode, id::text as "subjectId",
          concat('the key ', prefix, '... ends at ', to_char(expires_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI'), ' UTC') as detail,
          jsonb_build_object('key', prefix, 'ends_at', to_char(expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI"Z"')) as fields
        from api_key where expires_at > $1 and expires_at < $2 and last_used_at > $3 and revoked_at is null`,
    values: (now) => [
      now,
      now.add({ hours: keyEnds_days * 24 }),
      now.subtract({ hours: keyUsed_days * 24 }),
    ],
  },
];

/** Finds first one of each merchant, then the next. */
const inTurns = ({ kind, found }: Watch): Statement => ({
  name: `watch.${kind}`,
  text: `select "merchantId", "shopId", mode, "subjectId", detail, fields from (
      select found.*, row_number() over (partition by "merchantId" order by "subjectId") as place from (${found}) as found
    ) as ranked where place <= ${foundOfMerchant_max} order by place limit ${found_max}`,
});
const statements = watches.map((watch) => ({ ...watch, statement: inTurns(watch) }));

const clear: Statement = {
  name: 'watch.clear',
  text: `update alert set resolved_at = $3, resolved_by = 'service', note = 'It has passed'
    where merchant_id = $1 and id = $2 and resolved_at is null`,
};

/**
 * Resolves the alerts of a kind whose subject is well again. What is found may leave out more of a
 * merchant who has the most: its alerts stay.
 */
const clearPassed = async (
  database: WatchDeps['database'],
  kind: AlertKind,
  found: readonly Found[],
  at: Temporal.Instant,
): Promise<void> => {
  const standing = found.map(({ merchantId, subjectId }) => ({
    merchantId: merchantId ?? platformMerchantId,
    subjectId,
  }));
  const counts = Map.groupBy(standing, ({ merchantId }) => merchantId);
  const full = [...counts].flatMap(([owner, of]) =>
    of.length < foundOfMerchant_max ? [] : [owner],
  );
  const passed = await database.fork().find(
    AlertEntity,
    {
      kind,
      resolvedAt: null,
      merchantId: { $nin: full },
      $and: standing.map((one) => ({ $not: one })),
    },
    { orderBy: { raisedAt: 'asc' }, limit: found_max, disableIdentityMap: true },
  );
  for (const { merchantId, id } of passed) {
    await run(database.pool, clear, [merchantId, id, at]);
    noteListChange(database.pool, { list: 'alerts', merchantId });
  }
};

/** Looks at everything once; gives how many alerts are new. */
export const watchAll = async ({ database, now }: WatchDeps): Promise<number> => {
  const { pool } = database;
  let raised = 0;
  for (const { kind, statement, values } of statements) {
    const at = now();
    const found = await run<Found>(pool, statement, [...values(at)]);
    for (const one of found) if (await raiseAlert(pool, { ...one, kind, at })) raised += 1;
    // A full page may have left out what still stands.
    if (found.length < found_max) await clearPassed(database, kind, found, at);
  }
  return raised;
};

export const watchJobs = (deps: WatchDeps): readonly Job[] => [
  periodic('watch', watchEvery_ms, () => watchAll(deps)),
];
