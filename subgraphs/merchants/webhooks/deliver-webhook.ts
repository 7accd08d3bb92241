/**
 * Delivers webhooks (docs/contract.md#delivery): sends the deliveries that `deliveries.ts`
 * claimed and stores the results.
 */
import type { Dispatcher } from 'undici';
import { isPassing, putDeadLetter } from '../../platform/alerts/dead-letters.ts';
import { shownTo } from '../../platform/clock/test-clocks.ts';
import { inTraceOf } from '../../platform/database/subject-trace.ts';
import {
  type Logger,
  webhookAttempts,
  tracing,
  type Span,
} from '../../platform/tracing/telemetry.ts';
import {
  task,
  type ClaimedDelivery,
  type ClaimDeps,
  type DeliveryLimits,
  type Message,
} from './deliveries.ts';
import type { WebhookFault } from './webhook-target.ts';
import { signedHeaders } from './requests.ts';
import { type Answer, postWebhook } from './post-webhook.ts';
import {
  afterAttempt,
  type AfterAttempt,
  webhookDeadline_ms,
  webhookLeaseMargin_ms,
} from './rules.ts';
import type { Keys } from '../../platform/access/keys.ts';
import { batched } from '../../platform/database/batch-calls.ts';
import { noteListChange } from '../../platform/database/list-changes.ts';
import { sentJson, sqlFile } from '../../platform/database/sql-file.ts';
import { asRow, run } from '../../platform/database/statement.ts';

/*
 * Stores the results of attempts. Results of the same moment share one statement, which saves most
 * of a delivery's database cost with many fast receivers. A result whose lease has ended is not
 * stored: another process owns the delivery.
 */

/** One attempt's result, and what follows for its delivery. */
interface AttemptResult {
  readonly delivery: ClaimedDelivery;
  readonly at: Temporal.Instant;
  readonly endedAt: Temporal.Instant;
  readonly answer: Answer;
  readonly next: AfterAttempt;
}

const attempts = sqlFile(import.meta.dirname, 'store-attempts.sql');

const rowOf = ({ delivery, at, endedAt, answer, next }: AttemptResult): object =>
  asRow({
    id: delivery.id,
    createdAt: delivery.createdAt,
    leaseUntil: delivery.leaseUntil,
    status: next.status,
    nextAttemptAt: next.status === 'pending' ? next.nextAttemptAt : null,
    deliveredAt: next.status === 'delivered' ? endedAt : null,
    at,
    duration_ms: answer.duration_ms,
    answerStatus: answer.status,
    error: answer.error,
    fault: answer.fault,
    responseHead: answer.head,
  });

/**
 * Stores one result; false when the lease had ended and another process owned the delivery. Rejects
 * when the database fails.
 */
const storeAttempt = batched<AttemptResult, boolean>({
  name: attempts.name,
  callerOf: ({ delivery }) => delivery.merchantId,
  run: async (pool, results) => {
    const merchantId = results[0]?.delivery.merchantId ?? '';
    const rows = await run<{ deliveryId: string }>(pool, attempts, [
      merchantId,
      sentJson(results.map(rowOf)),
    ]);
    const held = new Set(rows.map(({ deliveryId }) => deliveryId));
    const stored = results.filter(({ delivery }) => held.has(delivery.id));
    if (stored.length > 0) noteListChange(pool, { list: 'webhook_deliveries', merchantId });
    if (stored.some(({ next }) => next.status === 'failed'))
      noteListChange(pool, { list: 'webhook_failures', merchantId });
    return results.map(({ delivery }) => held.has(delivery.id));
  },
});

export const deliveryLimits: DeliveryLimits = {
  deadline_ms: webhookDeadline_ms,
  leaseMargin_ms: webhookLeaseMargin_ms,
};

export interface DeliveryDeps extends ClaimDeps {
  /** Connections to receivers: `openTargets`. */
  readonly targets: Dispatcher;
  /** Opens the sealed webhook secrets. */
  readonly vaultKey: Keys;
  readonly log: Logger;
}

/**
 * Sends one claimed delivery and stores the result. Never rejects: a delivery whose result was not
 * stored is due again when its lease ends.
 */
export const attemptDelivery = (deps: DeliveryDeps, delivery: ClaimedDelivery): Promise<void> => {
  if (!tracing()) return attempt(deps, delivery, null);
  const start = {
    kind: 'client',
    name: 'webhook',
    values: { 'psp.event_id': delivery.eventId, 'psp.attempt': delivery.attempts + 1 },
  } as const;
  return inTraceOf(deps.pool, delivery, start, (span) => attempt(deps, delivery, span));
};

/**
 * The moment on the clock that the delivery's retries follow: read when an attempt begins, and
 * again when it ends. The retry is scheduled from the latter.
 */
const momentOf = (
  { pool, now }: DeliveryDeps,
  delivery: ClaimedDelivery,
): Temporal.Instant | Promise<Temporal.Instant> =>
  delivery.hasClock ? shownTo(pool, delivery, now()) : now();

const attempt = async (
  deps: DeliveryDeps,
  delivery: ClaimedDelivery,
  span: Span | null,
): Promise<void> => {
  const { id: deliveryId, eventId, merchantId } = delivery;
  const { log } = deps;
  const about = { deliveryId, eventId, merchantId };
  try {
    const at = await momentOf(deps, delivery);
    const answer = await send(deps, delivery);
    if (answer.status === null) span?.fail('no_answer');
    else span?.note({ 'http.response.status_code': answer.status });
    const endedAt = await momentOf(deps, delivery);
    const next = afterAttempt(
      delivery.message ? answer.status : 'pointless',
      delivery.attempts - delivery.attemptsBefore + 1,
      endedAt,
      Math.random(),
    );
    const stored = await storeAttempt(deps.pool, { delivery, at, endedAt, answer, next });
    webhookAttempts.inc({ result: next.status === 'pending' ? 'retry' : next.status });
    if (!stored)
      log.warn(about, 'a webhook was sent, but its lease ended before the result was stored');
    else if (next.status === 'failed')
      log.warn(
        { ...about, status: answer.status, why: answer.error },
        'a webhook failed permanently',
      );
    else
      log.debug(
        { ...about, status: answer.status, why: answer.error, next: next.status },
        'a webhook was attempted',
      );
  } catch (error) {
    log.error({ ...about, err: error }, 'could not store the result of a webhook');
    // Otherwise it would be sent again at the end of its lease.
    if (!isPassing(error))
      await putDeadLetter(deps.pool, task, { merchantId, subjectId: deliveryId }, error).catch(
        (further: unknown) => log.error({ ...about, err: further }, 'nor set aside'),
      );
  }
};

/** Why a delivery without an endpoint ends. */
export const notSent = 'not sent: the endpoint is disabled or deleted';

const unsent = (error: string, fault: WebhookFault): Answer => ({
  status: null,
  error,
  fault,
  head: null,
  duration_ms: 0,
});

const send = async (
  deps: DeliveryDeps,
  { url, eventId, message }: ClaimedDelivery,
): Promise<Answer> => {
  if (!message) return unsent(notSent, 'endpoint_gone');
  const headers = headersOf(deps, eventId, message);
  if (!headers) return unsent('not sent: the secret cannot be read', 'secret_unreadable');
  const { deadline_ms } = deps.limits;
  return postWebhook(deps.targets, { url, headers, body: message.body, deadline_ms });
};

/** The headers; null when a secret cannot be read. */
const headersOf = (
  deps: DeliveryDeps,
  eventId: string,
  message: Message,
): Record<string, string> | null => {
  try {
    return signedHeaders(deps.vaultKey, eventId, message);
  } catch (error) {
    deps.log.error({ err: error, eventId }, 'could not read a webhook secret');
    return null;
  }
};
