/**
 * Webhook endpoints as the cabinet makes and changes them. Contract "Webhook endpoint" and
 * "Webhooks"; decisions D-70, D-73, D-74. Each change leaves its audit entry; secrets are shown
 * once and kept encrypted. What is already on its way follows the endpoint: a new address,
 * signature or secret holds for the next attempt.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { isUuid } from '../../kernel/rules/uuid.ts';
import type { Database } from '../../kernel/database/orm.ts';
import { columns, propertyNames, run, type Statement } from '../../kernel/database/statement.ts';
import type { WebhookEvent } from '../../kernel/rules/event.ts';
import { refused, type Refused } from '../../kernel/rules/refusal.ts';
import { seal } from '../../kernel/service/access/vault.ts';
import { changeWithAudit, type Acting, type Audited } from '../audit.ts';
import type { ShopKey } from '../keys/api-keys.ts';
import type { Rotated, ShopParts } from '../shops/change-shop.ts';
import { notSent } from './deliver-webhook.ts';
import { WebhookEndpointEntity, type WebhookEndpoint } from '../entities.ts';
import { makeWebhookSecret } from '../keys/rules.ts';
import { endpointsPerShop_max, overlapEnd, overlapMistake } from '../rules/cabinet.ts';
import type { SignatureFormat } from './rules.ts';
import { checkWebhookUrl, type TargetSwitch } from './webhook-target.ts';

export interface EndpointParts extends ShopParts, TargetSwitch {}

/** Names an endpoint. */
export interface EndpointKey {
  readonly merchantId: string;
  readonly id: string;
}

/** What a person sets. */
export interface EndpointSettings {
  readonly url: string;
  /** Empty means all events. */
  readonly events: readonly WebhookEvent[];
  readonly signature: SignatureFormat;
}

const endpointColumns = columns(propertyNames(WebhookEndpointEntity));
// The shop's row is locked first, and the endpoints are counted in a statement of its own: it sees
// those created meanwhile.
const lockShop: Statement = {
  name: 'endpoint.lock_shop',
  text: 'select id from shop where merchant_id = $1 and id = $2 for update',
};
const countEndpoints: Statement = {
  name: 'endpoint.count',
  text: 'select count(*)::int as endpoints from webhook_endpoint where merchant_id = $1 and shop_id = $2',
};
const insertEndpoint: Statement = {
  name: 'endpoint.insert',
  text: `insert into webhook_endpoint (merchant_id, id, shop_id, url, events, signature, secret_sealed, active, created_at)
    values ($1, $2, $3, $4, $5, $6, $7, true, $8) returning ${endpointColumns}`,
};
const lockEndpoint: Statement = {
  name: 'endpoint.lock',
  text: `select ${endpointColumns} from webhook_endpoint where merchant_id = $1 and id = $2 for update`,
};
const setEndpoint: Statement = {
  name: 'endpoint.set',
  text: `update webhook_endpoint set url = $3, events = $4, signature = $5, previous_until = case when $5 <> 'legacy' then previous_until end
    where merchant_id = $1 and id = $2 returning ${endpointColumns}`,
};
const setActive: Statement = {
  name: 'endpoint.set_active',
  text: `update webhook_endpoint set active = $3 where merchant_id = $1 and id = $2 returning ${endpointColumns}`,
};
const setSecret: Statement = {
  name: 'endpoint.set_secret',
  text: `update webhook_endpoint set secret_sealed = $3, previous_until = $4,
      previous_secret_sealed = case when $4::timestamptz is not null then secret_sealed end
    where merchant_id = $1 and id = $2 returning ${endpointColumns}`,
};
const deleteEndpoint: Statement = {
  name: 'endpoint.delete',
  text: 'delete from webhook_endpoint where merchant_id = $1 and id = $2',
};
// An attempt that is being made comes to its own end; should it fail, the next claim finds no
// endpoint and ends the delivery in the same words.
const endPending: Statement = {
  name: 'endpoint.end_pending',
  text: `
    with ended as (
      update webhook_delivery set status = 'failed', attempts = attempts + 1, next_attempt_at = null, lease_until = null
      where merchant_id = $1 and lane = $2 and status = 'pending' and (lease_until is null or lease_until <= statement_timestamp())
      returning merchant_id, id, attempts, created_at
    ), noted as (
      insert into webhook_attempt (merchant_id, delivery_id, number, at, duration_ms, error, created_at)
      select merchant_id, id, attempts, $3, 0, $4, created_at from ended
      returning number
    )
    select count(*)::int as ended from noted`,
};

const noEndpoint = (): Refused => refused('not_found', 'there is no such webhook endpoint');
const told = ({ url, events, signature, active }: WebhookEndpoint) => ({
  url,
  events,
  signature,
  active,
});

/**
 * Adds an endpoint to a shop. Refuses with `not_found` without the shop, and a wrong address or one
 * endpoint too many with `bad_request`.
 */
export const createEndpoint = async (
  { database, vaultKey, privateTargets }: EndpointParts,
  acting: Acting,
  { merchantId, shopId }: ShopKey,
  { url, events, signature }: EndpointSettings,
): Promise<{ readonly endpoint: WebhookEndpoint; readonly secret: string } | Refused> => {
  const mistake = checkWebhookUrl(url, { privateTargets: privateTargets(), mode: 'test' });
  if (mistake) return refused('bad_request', `url: ${mistake}`);
  const noShop = refused('not_found', 'there is no such shop');
  if (!isUuid(shopId)) return noShop;
  const id = randomUUID();
  const action = {
    action: 'webhook_endpoint.create',
    merchantId,
    subject: { kind: 'webhook_endpoint', id },
  };
  return changeWithAudit(database, acting, action, async (client) => {
    const [shop] = await run(client, lockShop, [merchantId, shopId]);
    if (!shop) return noShop;
    const [counted] = await run<{ endpoints: number }>(client, countEndpoints, [
      merchantId,
      shopId,
    ]);
    if (!counted || counted.endpoints >= endpointsPerShop_max)
      return refused('bad_request', `a shop has at most ${endpointsPerShop_max} webhook endpoints`);
    const secret = makeWebhookSecret(randomBytes(32));
    const values = [
      merchantId,
      id,
      shopId,
      url,
      [...new Set(events)],
      signature,
      seal(vaultKey, secret),
      acting.now(),
    ];
    const [endpoint] = await run<WebhookEndpoint>(client, insertEndpoint, values);
    return endpoint
      ? { before: null, after: { shopId, ...told(endpoint) }, result: { endpoint, secret } }
      : noShop;
  });
};

/** Locks the endpoint, changes it and writes the entry. */
const changeEndpoint = async <Result>(
  database: Pick<Database, 'pool'>,
  acting: Acting,
  { action, merchantId, id }: EndpointKey & { readonly action: string },
  change: (client: pg.PoolClient, before: WebhookEndpoint) => Promise<Audited<Result> | Refused>,
): Promise<Result | Refused> => {
  if (!isUuid(id)) return noEndpoint();
  return changeWithAudit(
    database,
    acting,
    { action, merchantId, subject: { kind: 'webhook_endpoint', id } },
    async (client) => {
      const [before] = await run<WebhookEndpoint>(client, lockEndpoint, [merchantId, id]);
      return before ? change(client, before) : noEndpoint();
    },
  );
};

/**
 * Changes what is given of an endpoint's settings. A change to the legacy signature ends a
 * rotation's overlap. Refuses with `not_found`, or a wrong address with `bad_request`.
 */
export const updateEndpoint = async (
  { database, privateTargets }: Pick<EndpointParts, 'database' | 'privateTargets'>,
  acting: Acting,
  key: EndpointKey,
  wanted: { readonly [Name in keyof EndpointSettings]?: EndpointSettings[Name] | null | undefined },
): Promise<WebhookEndpoint | Refused> => {
  const mistake = wanted.url
    ? checkWebhookUrl(wanted.url, { privateTargets: privateTargets(), mode: 'test' })
    : null;
  if (mistake) return refused('bad_request', `url: ${mistake}`);
  return changeEndpoint(
    database,
    acting,
    { action: 'webhook_endpoint.update', ...key },
    async (client, before) => {
      const url = wanted.url ?? before.url;
      const events = [...new Set(wanted.events ?? before.events)];
      const [after] = await run<WebhookEndpoint>(client, setEndpoint, [
        key.merchantId,
        key.id,
        url,
        events,
        wanted.signature ?? before.signature,
      ]);
      return after ? { before: told(before), after: told(after), result: after } : noEndpoint();
    },
  );
};

const endDeliveries = async (
  client: pg.PoolClient,
  acting: Acting,
  { merchantId, id }: EndpointKey,
): Promise<number> => {
  const [counted] = await run<{ ended: number }>(client, endPending, [
    merchantId,
    id,
    acting.now(),
    notSent,
  ]);
  return counted?.ended ?? 0;
};

/**
 * Switches an endpoint off or on. While it is off its events make no deliveries; those on their way
 * end as failed, with the reason, and may be resent once it is on again. Refuses with `not_found`.
 */
export const switchEndpoint = (
  { database }: Pick<EndpointParts, 'database'>,
  acting: Acting,
  key: EndpointKey,
  active: boolean,
): Promise<WebhookEndpoint | Refused> =>
  changeEndpoint(
    database,
    acting,
    { action: active ? 'webhook_endpoint.enable' : 'webhook_endpoint.disable', ...key },
    async (client, before) => {
      const [after] = await run<WebhookEndpoint>(client, setActive, [
        key.merchantId,
        key.id,
        active,
      ]);
      if (!after) return noEndpoint();
      const ended = active ? {} : { deliveriesEnded: await endDeliveries(client, acting, key) };
      return { before: told(before), after: { ...told(after), ...ended }, result: after };
    },
  );

/**
 * Deletes an endpoint, which stops delivery: what is on its way ends as failed, with the reason.
 * Gives how many did. Refuses with `not_found`.
 */
export const removeEndpoint = (
  { database }: Pick<EndpointParts, 'database'>,
  acting: Acting,
  key: EndpointKey,
): Promise<{ readonly id: string; readonly deliveriesEnded: number } | Refused> =>
  changeEndpoint(
    database,
    acting,
    { action: 'webhook_endpoint.delete', ...key },
    async (client, before) => {
      await run(client, deleteEndpoint, [key.merchantId, key.id]);
      const deliveriesEnded = await endDeliveries(client, acting, key);
      return { before: told(before), after: null, result: { id: key.id, deliveriesEnded } };
    },
  );

/**
 * Makes a new secret of an endpoint (decision D-73). The old one stops at once, or signs beside the
 * new one for `overlapHours` (at most 24); the one before that stops in any case. Refuses with
 * `not_found`, or a wrong overlap with `bad_request`.
 */
export const rotateEndpointSecret = (
  { database, vaultKey }: ShopParts,
  acting: Acting,
  key: EndpointKey,
  overlapHours: number,
): Promise<Rotated | Refused> =>
  changeEndpoint(
    database,
    acting,
    { action: 'webhook_endpoint.secret_rotate', ...key },
    async (client, { signature }) => {
      const mistake = overlapMistake(overlapHours, signature);
      if (mistake) return refused('bad_request', mistake);
      const secret = makeWebhookSecret(randomBytes(32));
      const previousUntil = overlapEnd(acting.now(), overlapHours);
      await run(client, setSecret, [key.merchantId, key.id, seal(vaultKey, secret), previousUntil]);
      return { before: null, after: { previousUntil }, result: { secret, previousUntil } };
    },
  );
