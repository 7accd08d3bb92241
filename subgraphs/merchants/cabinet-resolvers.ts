/**
 * GraphQL resolvers of the cabinet: merchants, shops, webhook endpoints, deliveries, the audit log.
 */
import type {
  MutationResolvers,
  QueryResolvers,
  Resolvers,
  WebhookEndpointHealth,
  WebhookRequest,
} from '../../schema/generated/merchants.ts';
import type { Shop } from '../platform/database/entities.ts';
import { merchantOrNone } from '../rules/ids.ts';
import type { RowKey } from '../platform/database/batch-calls.ts';
import type { Bus } from '../platform/bus/bus.ts';
import { mayReadMerchant, nameOfReference } from '../platform/graph/entities.ts';
import { perCall } from '../platform/graph/subgraph.ts';
import { anyMerchantOf, asType, byVerb, orThrow } from '../platform/access/access.ts';
import { findNames, listAuditEntries } from './audit.ts';
import {
  createEndpoint,
  removeEndpoint,
  rotateEndpointSecret,
  switchEndpoint,
  updateEndpoint,
  type EndpointDeps,
} from './webhooks/change-endpoint.ts';
import {
  createMerchant,
  limitMerchant,
  limitSupportRefunds,
  renameMerchant,
  setProfile,
  switchLive,
} from './change-merchant.ts';
import { profileOf } from './rules/merchant.ts';
import { createShop, renameShop, rotateShopSecret } from './shops/change-shop.ts';
import type { WebhookAttempt, WebhookDelivery, WebhookEndpoint } from './entities.ts';
import { loadShops, loadWebhookDeliveries } from './find-merchants.ts';
import { findAttempts, findEndpoints, listDeliveries, listMerchants } from './list-cabinet.ts';
import { findHealth } from './webhooks/endpoint-health.ts';
import { findRequests, maskedRequest } from './webhooks/requests.ts';
import { testEndpoint } from './webhooks/test-endpoint.ts';
import {
  resendDelivery,
  resendFailed,
  retryPending,
  type ResendDeps,
} from './webhooks/resend-webhook.ts';

interface CabinetDeps extends EndpointDeps, ResendDeps {
  readonly bus: Pick<Bus, 'publish'>;
}

export const cabinetQueries = ({ database, database: { pool } }: Pick<CabinetDeps, 'database'>) =>
  ({
    merchants: async (_, query, context) => {
      const merchantId = anyMerchantOf(context.principal, null);
      return orThrow(await listMerchants(database.emOf(context), { ...query, merchantId }));
    },
    shop: async (_, { merchantId, id }, { principal }) => {
      if (!mayReadMerchant(principal, merchantId)) return null;
      if (principal.kind === 'key' && principal.shopId !== id) return null;
      const [shop] = await loadShops(pool, [{ merchantId, id }]);
      return shop ?? null;
    },
    webhookDelivery: async (_, { merchantId, id }, { principal }) => {
      if (!mayReadMerchant(principal, merchantId)) return null;
      const [delivery] = await loadWebhookDeliveries(pool, [{ merchantId, id }]);
      return delivery ?? null;
    },
    webhookDeliveries: async (_, query, context) => {
      const merchantId = anyMerchantOf(context.principal, query.merchantId);
      return orThrow(await listDeliveries(pool, { ...query, merchantId }));
    },
    auditLog: async (_, query, context) => {
      const merchantId = anyMerchantOf(context.principal, query.merchantId);
      const em = database.emOf(context);
      return orThrow(await listAuditEntries(em, { ...query, merchantId }));
    },
  }) satisfies QueryResolvers;

/** Mutations of the cabinet; each writes an audit entry. */
export const cabinetMutations = (deps: CabinetDeps) =>
  ({
    merchantCreate: async (_, { name }, context) =>
      orThrow(await createMerchant(deps.database, context, name, profileOf({}))),
    merchantRename: byVerb('Merchant', renameMerchant, deps.database),
    merchantProfileSet: byVerb('Merchant', setProfile, deps.database),
    merchantLiveEnable: async (_, { merchantId }, context) =>
      asType('Merchant', await switchLive(deps, context, merchantId, true)),
    merchantLiveDisable: async (_, { merchantId }, context) =>
      asType('Merchant', await switchLive(deps, context, merchantId, false)),
    merchantRateLimitSet: byVerb('Merchant', limitMerchant, deps),
    merchantSupportRefundSet: byVerb('Merchant', limitSupportRefunds, deps.database),
    shopCreate: byVerb('Shop', createShop, deps),
    shopRename: byVerb('Shop', renameShop, deps),
    shopWebhookSecretRotate: byVerb('WebhookSecretRotated', rotateShopSecret, deps),
    webhookEndpointCreate: byVerb('WebhookEndpointCreated', createEndpoint, deps),
    webhookEndpointUpdate: byVerb('WebhookEndpoint', updateEndpoint, deps),
    webhookEndpointDisable: async (_, key, context) =>
      asType('WebhookEndpoint', await switchEndpoint(deps, context, key, false)),
    webhookEndpointEnable: async (_, key, context) =>
      asType('WebhookEndpoint', await switchEndpoint(deps, context, key, true)),
    webhookEndpointDelete: byVerb('WebhookEndpointDeleted', removeEndpoint, deps),
    webhookEndpointSecretRotate: byVerb('WebhookSecretRotated', rotateEndpointSecret, deps),
    webhookEndpointTest: byVerb('WebhookEndpointTested', testEndpoint, deps),
    webhookDeliveryResend: byVerb('WebhookDelivery', resendDelivery, deps),
    webhookDeliveriesResendFailed: byVerb('WebhookDeliveriesResent', resendFailed, deps),
    webhookDeliveriesRetry: byVerb('WebhookDeliveriesResent', retryPending, deps),
  }) satisfies MutationResolvers;

/** Fields of the cabinet's types; they are merged with the other fields of these types. */
export const cabinetFields = ({ database }: Pick<CabinetDeps, 'database'>) => {
  const endpointsOf = perCall<Shop, WebhookEndpoint[]>((shops, context) =>
    findEndpoints(database.emOf(context), shops),
  );
  const requestsOf = perCall<WebhookDelivery, WebhookRequest | null>((deliveries) =>
    findRequests(database.pool, deliveries),
  );
  const healthOf = perCall<WebhookEndpoint, WebhookEndpointHealth>((endpoints, { now }) =>
    findHealth(database.pool, endpoints, now()),
  );
  const attemptsOf = perCall<WebhookDelivery, WebhookAttempt[]>((deliveries) =>
    findAttempts(database.pool, deliveries),
  );
  const nameOf = perCall<RowKey, string | null, string>(
    (things) => findNames(database.pool, things),
    nameOfReference,
  );
  return {
    Shop: {
      webhookEndpoints: (shop, _, context) => endpointsOf(context).load(shop),
    },
    WebhookEndpoint: {
      health: (endpoint, _, context) => healthOf(context).load(endpoint),
      previousSecretUntil: ({ previousUntil }, _, { now }) =>
        previousUntil && Temporal.Instant.compare(previousUntil, now()) > 0 ? previousUntil : null,
    },
    WebhookDelivery: {
      attemptLog: (delivery, _, context) => attemptsOf(context).load(delivery),
      request: async (delivery, _, context) => {
        const request = await requestsOf(context).load(delivery);
        return request && context.principal.kind !== 'key' ? maskedRequest(request) : request;
      },
    },
    WebhookAttempt: { durationMs: ({ duration_ms }) => duration_ms },
    AuditEntry: {
      merchantId: ({ merchantId }) => merchantOrNone(merchantId),
      actorName: ({ merchantId, actor: id, role }, _, context) =>
        role === 'key' ? nameOf(context).load({ merchantId, id }) : null,
      subjectName: ({ merchantId, subjectId: id }, _, context) =>
        nameOf(context).load({ merchantId, id }),
    },
  } satisfies Resolvers;
};
