/**
 * Creates deliveries from events, and claims due deliveries for this process, for a limited time.
 *
 * A claimed row is leased: if the process dies, the row is due again when the lease ends, under the
 * same event id. So a webhook arrives twice if it was sent before the crash and its result was not
 * stored. The lease's end also proves ownership when the result is stored. Leases use the
 * database's clock.
 *
 * A lane is the unit of isolation: an endpoint, by its id, or the origin of payments' own addresses
 * of one merchant in one mode.
 */
import { raw } from '@mikro-orm/core';
import type pg from 'pg';
import {
  isNoDeadLetter,
  notDeadLetter,
  workBatch,
  type Subject,
} from '../../platform/alerts/dead-letters.ts';
import type { WebhookLane } from '../../platform/bus/bus.ts';
import { emOn } from '../../platform/database/orm-connections.ts';
import { runByMerchant } from '../../platform/database/sql-file.ts';
import {
  inTransaction,
  run,
  type Runner,
  type Statement,
} from '../../platform/database/statement.ts';
import { WebhookDeliveryEntity } from '../entities.ts';
import { webhooksInFlightPerLane_max, type SignatureFormat } from './rules.ts';

/**
 * The limits of an attempt; those of `webhooks/rules.ts`, except in tests that need shorter ones.
 */
export interface DeliveryLimits {
  readonly deadline_ms: number;
  readonly leaseMargin_ms: number;
}

export interface ClaimDeps {
  readonly pool: pg.Pool;
  /** The real time. */
  readonly now: () => Temporal.Instant;
  readonly limits: DeliveryLimits;
}

/** A lane, and how many deliveries it has room for. */
export interface Asking extends WebhookLane {
  readonly room: number;
}

/** The message, and the secret that signs it. */
export interface Message {
  readonly body: string;
  readonly secretSealed: string;
  /** The secret before a rotation, while the two overlap. */
  readonly previousSealed: string | null;
  readonly signature: SignatureFormat;
}

/** A delivery that this process holds until `leaseUntil`. */
export interface ClaimedDelivery extends WebhookLane {
  readonly id: string;
  readonly shopId: string;
  readonly eventId: string;
  /** The payment, payout or refund that it is about. */
  readonly subjectId: string;
  readonly url: string;
  /** Attempts made before this one. */
  readonly attempts: number;
  /** Those before the last resend. */
  readonly attemptsBefore: number;
  /** The moment of its event, which locates both rows. */
  readonly createdAt: Temporal.Instant;
  readonly leaseUntil: Temporal.Instant;
  /** Whether its retries follow the test clock of its shop. */
  readonly hasClock: boolean;
  /** What is sent; null when the event or the endpoint is gone. */
  readonly message: Message | null;
}

/** The message as columns. */
interface ClaimedRow extends Omit<ClaimedDelivery, 'message'> {
  readonly body: string | null;
  readonly secretSealed: string | null;
  readonly previousSealed: string | null;
  readonly signature: SignatureFormat | null;
}

const withMessage = ({
  body,
  secretSealed,
  previousSealed,
  signature,
  ...row
}: ClaimedRow): ClaimedDelivery => ({
  ...row,
  message:
    body !== null && secretSealed !== null
      ? { body, secretSealed, previousSealed, signature: signature ?? 'v2' }
      : null,
});

/** The task of dead letters that are deliveries. */
export const task = 'deliver-webhooks';

// Lanes are locked in one order, so two processes never deadlock. The claim after the locks sees
// what earlier holders claimed. A claim lost in a PostgreSQL crash is repeated, so the commit does
// not wait for the disk. Statistics taken while nothing was due promise that a sort costs nothing,
// and each claim would sort all that its lane has due; the index has the order.
const lockLanes: Statement = {
  name: 'webhook.lock_lanes',
  text: `select count(pg_advisory_xact_lock(key)) from set_config('synchronous_commit', 'off', true) as commit_setting, set_config('enable_sort', 'off', true) as sort_setting, (
      select distinct hashtextextended('webhook-lane/' || lane, 0) as key from unnest($1::text[]) as lane order by key) as keys`,
};

/**
 * SQL: joins `endpoint` and `signing` to the deliveries of merchant `$1` called `delivery`. An
 * endpoint's current address, secret and format apply, so corrections and rotations reach pending
 * deliveries. A payment's own address is signed like the shop's oldest active endpoint, or else
 * with the shop's own secret.
 */
export const joinSigning = (delivery: string): string => `
    left join shop on shop.merchant_id = $1 and shop.id = ${delivery}.shop_id
    left join webhook_endpoint as endpoint on endpoint.merchant_id = $1 and endpoint.id = ${delivery}.endpoint_id and endpoint.active
    left join lateral (
      select endpoint.secret_sealed, endpoint.previous_secret_sealed as previous_sealed, endpoint.previous_until, endpoint.signature
      where endpoint.id is not null
      union all
      (select secret_sealed, previous_secret_sealed, previous_until, signature from webhook_endpoint as candidate
      where ${delivery}.endpoint_id is null and candidate.merchant_id = $1 and candidate.shop_id = ${delivery}.shop_id and candidate.active
      order by created_at, id limit 1)
      union all
      select shop.webhook_secret_sealed, shop.previous_webhook_secret_sealed, shop.previous_webhook_until, null where ${delivery}.endpoint_id is null
      limit 1
    ) as signing on true`;

/**
 * Claims the oldest due deliveries of lanes of one merchant, within the room of each and with at
 * most `$5` in flight. The inner limit is a constant; otherwise the planner expects a tenth of the
 * lane and sorts all of it.
 */
const claimDue: Statement = {
  name: 'webhook.claim_due',
  text: `with due as materialized (
      select oldest.id, oldest.created_at from unnest($2::text[], $3::int[]) as asking (lane, room) cross join lateral (
        select id, created_at from (
          select waiting.id, waiting.created_at from webhook_delivery as waiting
          where waiting.merchant_id = $1 and waiting.lane = asking.lane and waiting.status = 'pending' and waiting.due_at <= $4
            and (waiting.lease_until is null or waiting.lease_until <= statement_timestamp())
            and ${notDeadLetter(task, '$1', 'waiting.id::text')}
          order by waiting.due_at limit ${webhooksInFlightPerLane_max} for update skip locked
        ) as oldest_due
        limit greatest(0, least(asking.room, $5::int - (
          select count(*) from webhook_delivery as held
          where held.merchant_id = $1 and held.lane = asking.lane and held.lease_until > statement_timestamp())))
      ) as oldest
    ), claimed as (
      update webhook_delivery as delivery set lease_until = statement_timestamp() + $6::int * interval '1 millisecond'
      from due where delivery.merchant_id = $1 and delivery.id = due.id and delivery.created_at = due.created_at
      returning delivery.*
    )
    select claimed.merchant_id as "merchantId", claimed.id, claimed.lane, claimed.shop_id as "shopId", event_id as "eventId",
      claimed.subject_id as "subjectId", coalesce(endpoint.url, claimed.url) as url, attempts, attempts_before as "attemptsBefore",
      claimed.created_at as "createdAt", lease_until as "leaseUntil", event.webhook_body as body, signing.secret_sealed as "secretSealed",
      case when signing.previous_until > $4 then signing.previous_sealed end as "previousSealed", signing.signature,
      coalesce(event.mode = 'test', false) and exists (
        select 1 from test_clock where test_clock.merchant_id = $1 and test_clock.shop_id = claimed.shop_id) as "hasClock"
    from claimed
    left join event on event.merchant_id = $1 and event.id = claimed.event_id and event.created_at = claimed.created_at
    ${joinSigning('claimed')}`,
};

const claim = (
  { pool, now, limits: { deadline_ms, leaseMargin_ms } }: ClaimDeps,
  asking: readonly Asking[],
): Promise<ClaimedRow[]> =>
  inTransaction(pool, async (client) => {
    await run(client, lockLanes, [asking.map(({ lane }) => lane)]);
    return runByMerchant<ClaimedRow, Asking>(client, claimDue, asking, (own) => [
      own.map(({ lane }) => lane),
      own.map(({ room }) => room),
      now(),
      webhooksInFlightPerLane_max,
      deadline_ms + leaseMargin_ms,
    ]);
  });

const findFirstDue = async (
  { pool, now }: ClaimDeps,
  { merchantId, lane }: WebhookLane,
): Promise<Subject | null> => {
  const first = await emOn(pool).findOne(
    WebhookDeliveryEntity,
    {
      ...({ merchantId, lane, status: 'pending' } as const),
      dueAt: { $lte: now() },
      $or: [{ leaseUntil: null }, { leaseUntil: { $lte: raw('statement_timestamp()') } }],
      [isNoDeadLetter(task, merchantId)]: [],
    },
    { fields: ['id'], orderBy: { dueAt: 'asc' } },
  );
  return first && { merchantId, subjectId: first.id };
};

/**
 * Claims due deliveries of distinct lanes, oldest first, within each lane's room and its limit of
 * deliveries in flight over all processes. With a single lane, a delivery that makes the claim fail
 * becomes a dead letter.
 */
export const claimDeliveries = async (
  deps: ClaimDeps,
  asking: readonly Asking[],
): Promise<readonly ClaimedDelivery[]> => {
  const [one, ...others] = asking;
  if (!one) return [];
  if (others.length > 0) return (await claim(deps, asking)).map(withMessage);
  const { merchantId, lane, room } = one;
  const { result } = await workBatch(deps.pool, {
    task,
    limit: room,
    work: (some) => claim(deps, [{ merchantId, lane, room: some }]),
    first: () => findFirstDue(deps, one),
  });
  return result.map(withMessage);
};

const dueLanes: Statement = {
  name: 'webhook.due_lanes',
  text: 'select merchant_id as "merchantId", lane from webhook_lanes_due($1, null)',
};

/** Lanes with a due delivery that is not leased. */
export const findDueLanes = (runner: Runner, now: Temporal.Instant): Promise<WebhookLane[]> =>
  run<WebhookLane>(runner, dueLanes, [now]);

/** SQL: whether a lane has a delivery that is due by `$1` and not leased. */
export const isAnyLaneDue = 'exists (select 1 from webhook_lanes_due($1, 1))';
