/**
 * Creates and changes webhook endpoints in the cabinet (docs/contract.md#webhooks). Each change has
 * an audit entry. Secrets are shown once and stored encrypted. Pending deliveries follow the
 * endpoint: a new address, signature or secret applies to the next attempt.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type {
  MutationwebhookEndpointSecretRotateArgs,
  MutationwebhookEndpointUpdateArgs,
  WebhookSecretRotated,
} from '../../../schema/generated/merchants.ts';
import { clientOf } from '../../platform/database/orm-connections.ts';
import type { Database } from '../../platform/database/orm.ts';
import { run, type Statement } from '../../platform/database/statement.ts';
import type { WebhookEvent } from '../../rules/event.ts';
import { refuse, type Refusal } from '../../rules/refusal.ts';
import { seal } from '../../platform/access/keys.ts';
import {
  changeEntities,
  changing,
  type Acting,
  type AuditedAction,
} from '../../platform/database/audit.ts';
import type { ShopKey } from '../keys/api-keys.ts';
import type { ShopDeps } from '../shops/change-shop.ts';
import { notSent } from './deliver-webhook.ts';
import { WebhookEndpointEntity, type WebhookEndpoint } from '../entities.ts';
import { makeWebhookSecret } from '../keys/rules.ts';
import { endpointsPerShop_max, overlapEnd, overlapMistake } from '../rules/merchant.ts';
import { shownSecret, type ShownSecret, type SignatureFormat } from './rules.ts';
import { checkWebhookUrl, type TargetSwitch } from '../../platform/http/webhook-url.ts';
import type { RowKey } from '../../platform/database/batch-calls.ts';
import { ShopEntity } from '../../platform/database/entities.ts';

export interface EndpointDeps extends ShopDeps, TargetSwitch {}

/** What a person sets. */
export interface EndpointSettings {
  readonly url: string;
  /** Empty means all events. */
  readonly events: readonly WebhookEvent[];
  readonly signature: SignatureFormat;
}

// A running attempt completes; if it fails, the next claim finds no endpoint and ends the delivery
// with the same reason.
const endPending: Statement = {
  name: 'endpoint.end_pending',
  text: `
    with ended as (
      update webhook_delivery set status = 'failed', attempts = attempts + 1, next_attempt_at = null, lease_until = null
      where merchant_id = $1 and lane = $2 and status = 'pending' and (lease_until is null or lease_until <= statement_timestamp())
      returning merchant_id, id, attempts, created_at
    ), noted as (
      insert into webhook_attempt (merchant_id, delivery_id, number, at, duration_ms, error, fault, created_at)
      select merchant_id, id, attempts, $3, 0, $4, 'endpoint_gone', created_at from ended
      returning number
    )
    select count(*)::int as ended from noted`,
};

/**
 * Adds an endpoint to a shop. Refuses with `not_found` without the shop, and with `bad_request` a
 * wrong address or an endpoint above the limit.
 */
export const createEndpoint = async (
  { database, vaultKey, privateTargets }: EndpointDeps,
  acting: Acting,
  { merchantId, shopId, url, events, signature }: ShopKey & EndpointSettings,
): Promise<(ShownSecret & { readonly endpoint: WebhookEndpoint }) | Refusal> => {
  const mistake = checkWebhookUrl(url, { privateTargets: privateTargets(), mode: 'test' });
  if (mistake) return refuse('bad_request', `url: ${mistake}`);
  const id = randomUUID();
  const action: AuditedAction = { action: 'webhook_endpoint.create', merchantId, id };
  // The shop is locked before its endpoints are counted, so concurrent creations count.
  const create = changing(ShopEntity, { merchantId, id: shopId }, 'shop', async (_, em, notes) => {
    if ((await em.count(WebhookEndpointEntity, { merchantId, shopId })) >= endpointsPerShop_max)
      return refuse('bad_request', `a shop has at most ${endpointsPerShop_max} webhook endpoints`);
    const secret = makeWebhookSecret(randomBytes(32));
    const endpoint = em.create(WebhookEndpointEntity, {
      merchantId,
      id,
      shopId,
      url,
      events: [...new Set(events)],
      secretSealed: seal(vaultKey, secret),
      previousSecretSealed: null,
      previousUntil: null,
      signature,
      active: true,
      createdAt: acting.now(),
    });
    notes.details = { shopId };
    return { endpoint, ...shownSecret(secret) };
  });
  return changeEntities(database, acting, action, create);
};

/** Locks the endpoint and changes it, with an audit entry. */
const changeEndpoint = <Result extends object>(
  database: Pick<Database, 'emOf'>,
  acting: Acting,
  action: RowKey & Pick<AuditedAction, 'action' | 'view'>,
  change: Parameters<typeof changing<WebhookEndpoint, Result>>[3],
): Promise<Result | Refusal> => {
  const { merchantId, id } = action;
  const changed = changing(WebhookEndpointEntity, { merchantId, id }, 'webhook endpoint', change);
  return changeEntities(database, acting, action, changed);
};

/**
 * Changes the given settings of an endpoint. A change to the legacy signature ends a rotation's
 * overlap. Refuses with `not_found`, or a wrong address with `bad_request`.
 */
export const updateEndpoint = async (
  { database, privateTargets }: Pick<EndpointDeps, 'database' | 'privateTargets'>,
  acting: Acting,
  { merchantId, id, ...wanted }: MutationwebhookEndpointUpdateArgs,
): Promise<WebhookEndpoint | Refusal> => {
  const mistake = wanted.url
    ? checkWebhookUrl(wanted.url, { privateTargets: privateTargets(), mode: 'test' })
    : null;
  if (mistake) return refuse('bad_request', `url: ${mistake}`);
  const action = { action: 'webhook_endpoint.update', merchantId, id } as const;
  return changeEndpoint(database, acting, action, async (endpoint) => {
    const { url, signature, previousUntil } = endpoint;
    const signed = wanted.signature ?? signature;
    return Object.assign(endpoint, {
      url: wanted.url ?? url,
      events: [...new Set(wanted.events ?? endpoint.events)],
      signature: signed,
      previousUntil: signed === 'legacy' ? null : previousUntil,
    });
  });
};

/** Ends pending deliveries to an endpoint after it is disabled or deleted. */
const endDeliveries = async (
  em: EntityManager,
  acting: Acting,
  { merchantId, id }: RowKey,
): Promise<number> => {
  await em.flush();
  const values = [merchantId, id, acting.now(), notSent];
  const [counted] = await run<{ ended: number }>(await clientOf(em), endPending, values);
  return counted?.ended ?? 0;
};

/**
 * Disables or enables an endpoint. While it is disabled, its events create no deliveries. Pending
 * deliveries fail with the reason; they can be resent once it is enabled. Refuses with `not_found`.
 */
export const switchEndpoint = (
  { database }: Pick<EndpointDeps, 'database'>,
  acting: Acting,
  key: RowKey,
  active: boolean,
): Promise<WebhookEndpoint | Refusal> =>
  changeEndpoint(
    database,
    acting,
    { action: active ? 'webhook_endpoint.enable' : 'webhook_endpoint.disable', ...key },
    async (endpoint, em, notes) => {
      endpoint.active = active;
      if (!active) notes.details = { deliveriesEnded: await endDeliveries(em, acting, key) };
      return endpoint;
    },
  );

/**
 * Deletes an endpoint. Pending deliveries fail with the reason; returns their number. Refuses with
 * `not_found`.
 */
export const removeEndpoint = (
  { database }: Pick<EndpointDeps, 'database'>,
  acting: Acting,
  key: RowKey,
): Promise<{ readonly id: string; readonly deliveriesEnded: number } | Refusal> =>
  changeEndpoint(
    database,
    acting,
    { action: 'webhook_endpoint.delete', ...key },
    async (endpoint, em) => {
      em.remove(endpoint);
      return { id: key.id, deliveriesEnded: await endDeliveries(em, acting, key) };
    },
  );

/**
 * Creates a new secret for an endpoint. The old one stops at once, or also signs for `overlapHours`
 * (at most 24); the one before that always stops. Refuses with `not_found`, or a wrong overlap with
 * `bad_request`.
 */
export const rotateEndpointSecret = (
  { database, vaultKey }: ShopDeps,
  acting: Acting,
  { overlapHours, ...key }: Required<MutationwebhookEndpointSecretRotateArgs>,
): Promise<WebhookSecretRotated | Refusal> =>
  changeEndpoint(
    database,
    acting,
    { action: 'webhook_endpoint.secret_rotate', view: 'rotation', ...key },
    async (endpoint, _em, notes) => {
      const mistake = overlapMistake(overlapHours, endpoint.signature);
      if (mistake) return refuse('bad_request', mistake);
      const secret = makeWebhookSecret(randomBytes(32));
      const previousUntil = overlapEnd(acting.now(), overlapHours);
      Object.assign(endpoint, {
        previousSecretSealed: previousUntil && endpoint.secretSealed,
        secretSealed: seal(vaultKey, secret),
        previousUntil,
      });
      notes.before = null;
      return { ...shownSecret(secret), previousUntil };
    },
  );
