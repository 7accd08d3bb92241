/**
 * Delivering webhooks, one lane at a time: claim what is due, send it, store what came of it. A lane is what is isolated from what: an endpoint, or the
 * origin of a payment's own address. Contract "Webhooks"; decisions D-70 to D-72.
 *
 * A claimed row is leased: whoever claimed it may die, and when the lease is over it is due again under the same event id. The lease's end is also
 * the proof of ownership when the result is stored. Leases run on the database's clock, retries on the delivery's own.
 */
import type pg from 'pg';
import type { Dispatcher } from 'undici';
import type { Timeline } from '../kernel/clock/due.ts';
import { inTransaction, run } from '../kernel/database/statement.ts';
import { type Logger, webhookAttempts } from '../kernel/service/telemetry.ts';
import { unseal } from '../kernel/service/vault.ts';
import { type Answer, postWebhook } from './post-webhook.ts';
import {
  afterAttempt,
  type AfterAttempt,
  type Attempted,
  sign,
  type SignatureFormat,
  webhookDeadline_ms,
  webhookLeaseMargin_ms,
  webhooksInFlightPerLane_max,
} from './rules/webhook.ts';
import type { StoreAttempt } from './store-attempts.ts';

/** The limits of delivery; those of `rules/webhook.ts`, save in tests that cannot wait so long. */
export interface DeliveryLimits {
  readonly deadline_ms: number;
  readonly leaseMargin_ms: number;
}
export const deliveryLimits: DeliveryLimits = { deadline_ms: webhookDeadline_ms, leaseMargin_ms: webhookLeaseMargin_ms };

export interface DeliveryParts {
  readonly pool: pg.Pool;
  /** `openAttemptStore`. */
  readonly storeAttempt: StoreAttempt;
  /** Connections to receivers: `openTargets`. */
  readonly targets: Dispatcher;
  /** Opens the sealed webhook secrets. */
  readonly vaultKey: Buffer;
  readonly log: Logger;
  /** The clock that retries follow. */
  readonly now: () => Temporal.Instant;
  readonly limits: DeliveryLimits;
}

interface Message {
  readonly body: string;
  readonly secretSealed: string;
  /** The secret before a rotation, while the two overlap (decision D-73). */
  readonly previousSealed: string | null;
  readonly signature: SignatureFormat;
}

/** A delivery that is this process's until `leaseUntil`. */
export interface ClaimedDelivery {
  readonly merchantId: string;
  readonly id: string;
  readonly eventId: string;
  readonly url: string;
  /** Attempts made before this one. */
  readonly attempts: number;
  /** Those of them that were made before the last resend. */
  readonly attemptsBefore: number;
  readonly leaseUntil: Temporal.Instant;
  /** What is sent; null when the event or the endpoint is gone. */
  readonly message: Message | null;
}

/**
 * Claims due deliveries of a lane, oldest first: at most `most`, and at most so many that the lane never has more than its share in flight, whoever
 * claimed them. The lane's lock comes first and the claim in a statement of its own, so that it sees what the last holder claimed.
 */
export const claimDeliveries = (parts: DeliveryParts, lane: string, most: number): Promise<readonly ClaimedDelivery[]> =>
  inTransaction(parts.pool, async (client) => {
    await run(client, lockLane, [lane]);
    const { deadline_ms, leaseMargin_ms } = parts.limits;
    const rows = await run<ClaimedRow>(client, claimDue, [lane, parts.now(), most, webhooksInFlightPerLane_max, deadline_ms + leaseMargin_ms]);
    return rows.map(claimed);
  });

/** Claims deliveries that are due by the test clock of a shop, oldest first: at most as many as a lane may have in flight. */
export const claimDeliveriesOf = async (parts: DeliveryParts, { merchantId, shopId }: NonNullable<Timeline>): Promise<readonly ClaimedDelivery[]> => {
  const { deadline_ms, leaseMargin_ms } = parts.limits;
  const most = webhooksInFlightPerLane_max;
  const rows = await run<ClaimedRow>(parts.pool, claimDueOfShop, [shopId, parts.now(), most, most, deadline_ms + leaseMargin_ms, merchantId]);
  return rows.map(claimed);
};

/** Lanes that have a delivery which is due by the real time and nobody's. */
export const findDueLanes = async ({ pool, now }: Pick<DeliveryParts, 'pool' | 'now'>): Promise<readonly string[]> => {
  const rows = await run<{ lane: string }>(pool, dueLanes, [now()]);
  return rows.map(({ lane }) => lane);
};

/** Sends one claimed delivery and stores what came of it. Never rejects: what could not be stored is due again when the lease is over. */
export const attemptDelivery = async (parts: DeliveryParts, delivery: ClaimedDelivery): Promise<void> => {
  const log = parts.log.child({ deliveryId: delivery.id, eventId: delivery.eventId, merchantId: delivery.merchantId });
  const at = parts.now();
  try {
    const { attempted, answer } = await send(parts, delivery);
    const next = afterAttempt(attempted, delivery.attempts - delivery.attemptsBefore + 1, parts.now(), Math.random());
    const stored = await store(parts, delivery, at, answer, next);
    webhookAttempts.inc({ result: next.status === 'pending' ? 'retry' : next.status });
    if (!stored) log.warn('a webhook was sent, but its lease was over before the result was stored');
    else if (next.status === 'failed') log.warn({ status: answer.status, why: answer.error }, 'a webhook failed for good');
    else log.debug({ status: answer.status, why: answer.error, next: next.status }, 'a webhook was attempted');
  } catch (error) {
    log.error({ err: error }, 'the result of a webhook could not be stored');
  }
};

/** Why a delivery without an endpoint ends. */
export const notSent = 'not sent: the endpoint is disabled or deleted';

const unsent = (error: string): Answer => ({ status: null, error, head: null, duration_ms: 0 });

const send = async (parts: DeliveryParts, { url, eventId, message }: ClaimedDelivery): Promise<{ attempted: Attempted; answer: Answer }> => {
  if (!message) return { attempted: { kind: 'pointless' }, answer: unsent(notSent) };
  const headers = headersOf(parts, eventId, message);
  if (!headers) return { attempted: { kind: 'no_answer' }, answer: unsent('not sent: the secret cannot be read') };
  const answer = await postWebhook(parts.targets, { url, headers, body: message.body, deadline_ms: parts.limits.deadline_ms });
  return { attempted: answer.status === null ? { kind: 'no_answer' } : { kind: 'answered', status: answer.status }, answer };
};

/** Contract "Webhooks", request headers. The timestamp is the real one, whatever clock the retries follow: the receiver compares it with its own. */
const headersOf = (parts: DeliveryParts, eventId: string, message: Message): Record<string, string> | null => {
  try {
    const current = unseal(parts.vaultKey, message.secretSealed);
    const previous = message.previousSealed === null ? null : unseal(parts.vaultKey, message.previousSealed);
    return {
      'Content-Type': 'application/json',
      'User-Agent': 'psp-webhook/1.0',
      'X-PSP-Event-Id': `evt_${eventId}`,
      ...sign({ current, previous }, message.body, Temporal.Now.instant(), message.signature),
    };
  } catch (error) {
    parts.log.error({ err: error, eventId }, 'a webhook secret cannot be read');
    return null;
  }
};

/** Whether it was stored: not when the lease was over and the delivery somebody else's. */
const store = (parts: DeliveryParts, delivery: ClaimedDelivery, at: Temporal.Instant, answer: Answer, next: AfterAttempt): Promise<boolean> =>
  parts.storeAttempt({
    merchantId: delivery.merchantId,
    deliveryId: delivery.id,
    leaseUntil: delivery.leaseUntil,
    status: next.status,
    nextAttemptAt: next.status === 'pending' ? next.nextAttemptAt : null,
    deliveredAt: next.status === 'delivered' ? parts.now() : null,
    at,
    duration_ms: answer.duration_ms,
    answerStatus: answer.status,
    error: answer.error,
    answerHead: answer.head,
  });

interface ClaimedRow {
  readonly merchantId: string;
  readonly id: string;
  readonly eventId: string;
  readonly url: string;
  readonly attempts: number;
  readonly attemptsBefore: number;
  readonly leaseUntil: Temporal.Instant;
  readonly body: string | null;
  readonly secretSealed: string | null;
  readonly previousSealed: string | null;
  readonly signature: SignatureFormat | null;
}

const claimed = ({ body, secretSealed, previousSealed, signature, ...row }: ClaimedRow): ClaimedDelivery => ({
  ...row,
  message: body !== null && secretSealed !== null ? { body, secretSealed, previousSealed, signature: signature ?? 'v2' } : null,
});

const lockLane = { name: 'webhook.lockLane', text: "select pg_advisory_xact_lock(hashtextextended('webhook-lane/' || $1, 0))" };

// The first limit is a constant, else the planner expects a tenth of the lane to be taken and sorts all of it.
// An endpoint's address, secret and format are those of now, so that a correction and a rotation reach what is still on its way. A payment's own
// address is signed as the shop's oldest active endpoint is, or else with the shop's own secret (decision D-71).
const claim = (whose: string, inFlight: string): string => `
    with oldest_due as materialized (
      select merchant_id, id from webhook_delivery
      where ${whose} and status = 'pending' and next_attempt_at <= $2 and (lease_until is null or lease_until <= statement_timestamp())
      order by next_attempt_at limit ${webhooksInFlightPerLane_max} for update skip locked
    ), due as (
      select * from oldest_due
      limit greatest(0, least($3::int, $4::int - (select count(*) from webhook_delivery where ${inFlight} and lease_until > statement_timestamp())))
    ), claimed as (
      update webhook_delivery as delivery set lease_until = statement_timestamp() + $5::int * interval '1 millisecond'
      from due where delivery.merchant_id = due.merchant_id and delivery.id = due.id
      returning delivery.*
    )
    select claimed.merchant_id as "merchantId", claimed.id, event_id as "eventId", coalesce(endpoint.url, claimed.url) as url, attempts,
      attempts_before as "attemptsBefore", lease_until as "leaseUntil", event.webhook_body as body,
      signing.secret_sealed as "secretSealed", case when signing.previous_until > $2 then signing.previous_sealed end as "previousSealed", signing.signature
    from claimed
    left join event on event.merchant_id = claimed.merchant_id and event.id = claimed.event_id
    left join shop on shop.merchant_id = claimed.merchant_id and shop.id = claimed.shop_id
    left join webhook_endpoint as endpoint on endpoint.merchant_id = claimed.merchant_id and endpoint.id = claimed.endpoint_id and endpoint.active
    left join lateral (
      select endpoint.secret_sealed, endpoint.previous_secret_sealed as previous_sealed, endpoint.previous_until, endpoint.signature
      where endpoint.id is not null
      union all
      (select secret_sealed, previous_secret_sealed, previous_until, signature from webhook_endpoint as candidate
      where claimed.endpoint_id is null and candidate.merchant_id = claimed.merchant_id and candidate.shop_id = claimed.shop_id and candidate.active
      order by created_at, id limit 1)
      union all
      select shop.webhook_secret_sealed, shop.previous_webhook_secret_sealed, shop.previous_webhook_until, null where claimed.endpoint_id is null
      limit 1
    ) as signing on true`;

// A shop with a test clock has its own time, and its own claim. A case is not made a join: the event is looked at only where there is a clock.
const byTestClock = (delivery: string): string => `case
  when exists (select from test_clock where test_clock.merchant_id = ${delivery}.merchant_id and test_clock.shop_id = ${delivery}.shop_id)
  then exists (select from event where event.merchant_id = ${delivery}.merchant_id and event.id = ${delivery}.event_id and event.mode = 'test')
  else false end`;
const ofShop = 'merchant_id = $6 and shop_id = $1';
const claimDue = { name: 'webhook.claimDue', text: claim(`lane = $1 and not ${byTestClock('webhook_delivery')}`, 'lane = $1') };
const claimDueOfShop = { name: 'webhook.claimDueOfShop', text: claim(`${ofShop} and ${byTestClock('webhook_delivery')}`, ofShop) };

// Steps from lane to lane along the index: a lane with a million rows that are due costs as much as one with a single row.
const dueLanes = {
  name: 'webhook.dueLanes',
  text: `
    with recursive lane_with_work as (
      (select lane from webhook_delivery where status = 'pending' order by lane limit 1)
      union all
      select (select next.lane from webhook_delivery as next where next.status = 'pending' and next.lane > last.lane order by next.lane limit 1)
      from lane_with_work as last where last.lane is not null
    )
    select lane from lane_with_work where lane is not null and exists (
      select from webhook_delivery as delivery
      where delivery.lane = lane_with_work.lane and status = 'pending' and next_attempt_at <= $1 and (lease_until is null or lease_until <= now())
        and not ${byTestClock('delivery')})`,
};
