/**
 * A sample event to an endpoint, for whoever sets up a receiver: signed as real events are, and
 * marked, of an event of its own, so that no receiver takes it for money.
 */
import { newRowId } from '../../kernel/database/new-id.ts';
import { rfc3339 } from '../../../schema/rfc3339.ts';
import { forUpdate } from '../../kernel/database/orm-connections.ts';
import { isRefused, refused, type Refused } from '../../kernel/rules/refusal.ts';
import { isUuid } from '../../kernel/rules/uuid.ts';
import { changeEntities, type Acting, type AuditedAction } from '../audit.ts';
import {
  AuditEntryEntity,
  MerchantEntity,
  WebhookEndpointEntity,
  type WebhookEndpoint,
} from '../entities.ts';
import type { EndpointKey, EndpointParts } from './change-endpoint.ts';
import { listHeaders, signedHeaders } from './message-headers.ts';
import { postWebhook } from './post-webhook.ts';
import type { WebhookRequest } from './read-requests.ts';
import { openTargets } from './webhook-target.ts';

/** Samples of one merchant in a minute, over all its endpoints: it may name a stranger's host. */
const samplesPerMinute_max = 5;
/** Shorter than a real attempt's deadline: a person waits for it. */
const deadline_ms = 10_000;

export interface EndpointTested {
  readonly request: WebhookRequest;
  readonly status: number | null;
  readonly error: string | null;
  readonly responseHead: string | null;
  readonly durationMs: number;
}

/** Takes one of the merchant's samples; the audit log is what counts them. */
const takeSample = (
  { database }: Pick<EndpointParts, 'database'>,
  acting: Acting,
  { merchantId, id }: EndpointKey,
): Promise<{ readonly endpoint: WebhookEndpoint } | Refused> => {
  const subject = { kind: 'webhook_endpoint', id };
  const action: AuditedAction = { action: 'webhook_endpoint.test', merchantId, subject };
  return changeEntities(database, acting, action, async (em, notes) => {
    // Whoever comes at the same moment waits here, and counts this one.
    const merchant = await em.findOne(MerchantEntity, { id: merchantId }, forUpdate);
    const endpoint = merchant && (await em.findOne(WebhookEndpointEntity, { merchantId, id }));
    if (!endpoint) return refused('not_found', 'there is no such webhook endpoint');
    const since = acting.now().subtract({ minutes: 1 });
    const lately = { merchantId, action: action.action, at: { $gt: since } };
    if ((await em.count(AuditEntryEntity, lately)) >= samplesPerMinute_max)
      return refused(
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
 * Posts a sample and gives what came back. Refuses with `not_found`, and one too many with
 * `bad_request`.
 */
export const testEndpoint = async (
  parts: EndpointParts,
  acting: Acting,
  key: EndpointKey,
): Promise<EndpointTested | Refused> => {
  if (!isUuid(key.id)) return refused('not_found', 'there is no such webhook endpoint');
  const taken = await takeSample(parts, acting, key);
  if (isRefused(taken)) return taken;
  const { url, signature, secretSealed } = taken.endpoint;
  const eventId = newRowId();
  const body = sampleOf(eventId, acting.now());
  const message = { body, signature, secretSealed, previousSealed: null };
  const headers = { ...signedHeaders(parts.vaultKey, eventId, message), 'X-PSP-Sample': 'true' };
  // A connection of its own: samples are seldom, and share nothing with deliveries.
  const targets = openTargets({ privateTargets: parts.privateTargets });
  try {
    const answer = await postWebhook(targets, { url, headers, body, deadline_ms });
    return {
      request: { body, headers: listHeaders(headers), signature },
      status: answer.status,
      error: answer.error,
      responseHead: answer.head,
      durationMs: answer.duration_ms,
    };
  } finally {
    void targets.destroy();
  }
};
