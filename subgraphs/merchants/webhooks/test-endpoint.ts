/**
 * Sends a sample event to an endpoint, for setting up a receiver. It is signed like real events,
 * and has a mark and an event type of its own, so that no receiver takes it for money.
 */
import type { WebhookEndpointTested } from '../../../schema/generated/merchants.ts';
import { newRowId } from '../../platform/database/statement.ts';
import { rfc3339 } from '../../../schema/scalars.ts';
import { forUpdate } from '../../platform/database/orm-connections.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import { isUuid } from '../../rules/ids.ts';
import { changeEntities, type Acting, type AuditedAction } from '../../platform/database/audit.ts';
import { AuditEntryEntity, MerchantEntity } from '../../platform/database/entities.ts';
import { WebhookEndpointEntity, type WebhookEndpoint } from '../entities.ts';
import type { EndpointDeps } from './change-endpoint.ts';
import { listHeaders, signedHeaders } from './requests.ts';
import { postWebhook } from './post-webhook.ts';
import { openTargets } from './webhook-target.ts';
import type { RowKey } from '../../platform/database/batch-calls.ts';

/**
 * Samples of one merchant a minute, over all endpoints: an endpoint may name another party's host.
 */
const samplesPerMinute_max = 5;
/** Shorter than a real attempt's deadline: a person waits for it. */
const deadline_ms = 10_000;

/** Takes one of the merchant's samples; they are counted in the audit log. */
const takeSample = (
  { database }: Pick<EndpointDeps, 'database'>,
  acting: Acting,
  { merchantId, id }: RowKey,
): Promise<{ readonly endpoint: WebhookEndpoint } | Refusal> => {
  const action: AuditedAction = { action: 'webhook_endpoint.test', merchantId, id };
  return changeEntities(database, acting, action, async (em, notes) => {
    // Concurrent calls wait here, and then count this one.
    const merchant = await em.findOne(MerchantEntity, { id: merchantId }, forUpdate);
    const endpoint = merchant && (await em.findOne(WebhookEndpointEntity, { merchantId, id }));
    if (!endpoint) return refuse('not_found', 'there is no such webhook endpoint');
    const since = acting.now().subtract({ minutes: 1 });
    const lately = { merchantId, action: action.action, at: { $gt: since } };
    if ((await em.count(AuditEntryEntity, lately)) >= samplesPerMinute_max)
      return refuse(
        'bad_request',
        `at most ${samplesPerMinute_max} samples a minute; try again later`,
      );
    notes.before = null;
    notes.after = { url: endpoint.url };
    return { endpoint };
  });
};

const sampleOf = (eventId: string, at: Temporal.Instant): string =>
  JSON.stringify({
    id: `evt_${eventId}`,
    event: 'webhook.test',
    created_at: rfc3339(at),
    sample: true,
    data: { sample: true, message: 'A sample: nothing has happened.' },
  });

/**
 * Posts a sample and returns the answer. Refuses with `not_found`, and above the limit with
 * `bad_request`.
 */
export const testEndpoint = async (
  deps: EndpointDeps,
  acting: Acting,
  key: RowKey,
): Promise<WebhookEndpointTested | Refusal> => {
  if (!isUuid(key.id)) return refuse('not_found', 'there is no such webhook endpoint');
  const taken = await takeSample(deps, acting, key);
  if (isRefusal(taken)) return taken;
  const { url, signature, secretSealed } = taken.endpoint;
  const eventId = newRowId();
  const body = sampleOf(eventId, acting.now());
  const message = { body, signature, secretSealed, previousSealed: null };
  const headers = { ...signedHeaders(deps.vaultKey, eventId, message), 'X-PSP-Sample': 'true' };
  // A separate connection: samples are rare, and share nothing with deliveries.
  const targets = openTargets({ privateTargets: deps.privateTargets });
  try {
    const answer = await postWebhook(targets, { url, headers, body, deadline_ms });
    return {
      request: { body, headers: listHeaders(headers), signature },
      status: answer.status,
      error: answer.error,
      fault: answer.fault,
      responseHead: answer.head,
      durationMs: answer.duration_ms,
    };
  } finally {
    void targets.destroy();
  }
};
