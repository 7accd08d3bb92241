/**
 * The merchants subgraph's resolvers: cabinet, balance, rates, ledger, and the event log behind the
 * live stream.
 */
import type { QueryResolvers, Resolvers } from '../../schema/generated/merchants.ts';
import { findEffectiveRates, ratesOf, type EffectiveRate } from '../ledger/rate.ts';
import { accessRefusal, keyOf, orThrow } from '../platform/access/access.ts';
import type { Keys } from '../platform/access/keys.ts';
import type { Principal } from '../platform/access/principal.ts';
import type { Bus } from '../platform/bus/bus.ts';
import type { Shop, Merchant } from '../platform/database/entities.ts';
import { openKnownMerchants } from '../platform/database/known-merchants.ts';
import { totalField } from '../platform/database/lists.ts';
import type { Database } from '../platform/database/orm.ts';
import type { SubgraphDeps } from '../platform/graph/build-subgraph.ts';
import {
  mayReadMerchant,
  mayReadOfShop,
  nameOfReference,
  ownOnly,
  type EntityReference,
} from '../platform/graph/entities.ts';
import { perCall } from '../platform/graph/subgraph.ts';
import type { Policies } from '../platform/policies/policies.ts';
import {
  enumValuesOf,
  eventTypeOf,
  liveKinds,
  subscriptionOf,
  webhookEvents,
  type EventTypeName,
} from '../rules/event.ts';
import { isUuid } from '../rules/ids.ts';
import { alertFields, alertMutations, alertQueries } from './alerts/resolvers.ts';
import { bankHealthQueries } from './bank-health/resolvers.ts';
import { clockMutations, clockQueries, type ClockVerbs } from './clocks/test-clocks.ts';
import { eraseMutations } from './erasure/erase-personal-data.ts';
import { eventLogFields, eventLogQueries } from './event-log/resolvers.ts';
import { apiKeyFields, keyMutations, keyQueries, shopKeyFields } from './keys/resolvers.ts';
import { exportLedger } from './ledger/read-ledger.ts';
import { balanceQueries, ledgerEntryFields } from './ledger/resolvers.ts';
import { onboardMutations } from './onboard/onboard-merchant.ts';
import { policyMutations, policyQueries } from './policies/resolvers.ts';
import {
  reconciliationFields,
  reconciliationMutations,
  reconciliationQueries,
} from './reconciliation/resolvers.ts';
import { requestFields, requestMutations, requestQueries } from './requests/resolvers.ts';
import { profileOf, rateLimitOf } from './rules/merchant.ts';
import { searchFields, searchQueries } from './search/resolvers.ts';
import { sessionFields, sessionMutations, sessionQueries } from './sessions/resolvers.ts';
import { bankAccountMutations, bankAccountQueries } from './shops/set-bank-account.ts';
import { timelineOf } from './timeline/read-timeline.ts';
import { totalsQueries } from './totals/resolvers.ts';
import { viewerFields, viewerQueries } from './viewer/resolvers.ts';
import { viewMutations, viewQueries } from './views/resolvers.ts';
import type { WakeLanes } from './webhooks/deliverer.ts';
import { failureQueries } from './webhooks/failure-resolvers.ts';
import { cabinetFields, cabinetMutations, cabinetQueries } from './cabinet-resolvers.ts';
import type { WebhookDelivery } from './entities.ts';
import {
  findDeliveries,
  findKeyHolder,
  findPaymentPlaces,
  findShops,
  loadMerchants,
  loadShops,
  loadWebhookDeliveries,
  loadWebhookEndpoints,
  type PaymentPlace,
} from './find-merchants.ts';
import { findEvent, findEventsBehind } from './event-log/read-event-log.ts';
import type { EventRow } from './rows.ts';

export interface MerchantsDeps extends ClockVerbs {
  readonly publicUrl: string;
  /** The issuer at which people log in to the console; null: by links. */
  readonly issuer: string | null;
  readonly database: Database;
  /** Notified when cached keys of a merchant are stale. */
  readonly bus: Bus;
  readonly policies: Policies;
  readonly vaultKey: Keys;
  /** Makes the fingerprints of blocked cards and accounts. */
  readonly fingerprintKey: Keys;
  /** Whether webhooks may currently go to http and to loopback. */
  readonly privateTargets: () => boolean;
  /**
   * Notifies workers of lanes with due webhooks. A message may be lost: the sweep finds the
   * webhooks.
   */
  readonly wakeLanes: WakeLanes;
}

/** The resolvers and the entity loaders of the merchants subgraph. */
export const merchantsSubgraph = (
  deps: MerchantsDeps,
): SubgraphDeps & { name: 'merchants'; resolvers: Resolvers } => {
  const { pool } = deps.database;
  return {
    name: 'merchants',
    resolvers: {
      ...closedLists,
      ...eventTypes,
      ApiKey: apiKeyFields,
      ...typeFields(deps),
      ...alertFields(deps),
      ...eventLogFields(deps),
      ...requestFields,
      ...viewerFields(deps),
      ...searchFields,
      ...reconciliationFields(deps),
      LedgerConnection: totalField,
      WebhookDeliveryConnection: totalField,
      ...sessionFields,
      Query: {
        ...queries(deps),
        ...clockQueries(deps),
        ...policyQueries(deps),
        ...bankAccountQueries(deps),
        ...alertQueries(deps),
        ...reconciliationQueries(deps),
        ...eventLogQueries(deps),
        ...requestQueries(deps),
        ...sessionQueries(deps),
      },
      Mutation: {
        ...cabinetMutations(deps),
        ...keyMutations(deps),
        ...onboardMutations(deps),
        ...viewMutations(deps),
        ...clockMutations(deps),
        ...policyMutations(deps),
        ...bankAccountMutations(deps),
        ...alertMutations(deps),
        ...eraseMutations(deps),
        ...reconciliationMutations(deps),
        ...sessionMutations(deps),
        ...requestMutations(deps),
      },
    },
    areMerchants: openKnownMerchants(pool),
    entities: {
      Merchant: (references, context) =>
        loadMerchants(
          deps.database.emOf(context),
          references.map(({ id }) => id),
        ),
      Shop: (references) => loadShops(pool, references),
      WebhookEndpoint: ownOnly((references) => loadWebhookEndpoints(pool, references), isPerson),
      // A key reads deliveries only with their payment: a delivery alone does not show its mode.
      WebhookDelivery: ownOnly((references) => loadWebhookDeliveries(pool, references), isPerson),
      // The payments subgraph owns the payment; this subgraph only adds its deliveries.
      Payment: ownOnly((references) => findPaymentPlaces(pool, references), mayReadDeliveries),
    },
  };
};

/** Operators and cabinet users, and the service itself. */
const isPerson = ({ kind }: Principal): boolean => kind === 'operator' || kind === 'service';

/**
 * A live key reads test payments in the registry with `includeTest`, so it also reads their
 * deliveries.
 */
const mayReadDeliveries = (principal: Principal, payment: PaymentPlace): boolean =>
  mayReadOfShop(
    principal,
    principal.kind === 'key' && principal.mode === 'live' ? { ...payment, mode: 'live' } : payment,
  );

const closedLists = {
  WebhookEvent: enumValuesOf(webhookEvents),
  LiveEventKind: enumValuesOf(liveKinds),
};

const typeFields = ({ database, bus }: MerchantsDeps) => {
  const shopsOf = perCall<Merchant, Shop[]>((merchants, context) =>
    findShops(database.emOf(context), merchants),
  );
  const deliveriesOf = perCall<EntityReference, WebhookDelivery[], string>(
    (payments, context) => findDeliveries(database.emOf(context), payments),
    nameOfReference,
  );
  const effectiveRatesOf = perCall<Shop, EffectiveRate[]>((shops, { now }) =>
    findEffectiveRates(database.pool, shops, now()),
  );
  const merchantOfShop = perCall<string, Merchant>(async (ids, context) => {
    const merchants = await loadMerchants(database.emOf(context), ids);
    return merchants.map(
      (merchant, index) =>
        merchant ?? raise(`a shop names a merchant that is not there: ${ids[index]}`),
    );
  });
  const cabinet = cabinetFields({ database });
  return {
    ...cabinet,
    Merchant: {
      shops: async (merchant, _, context) => {
        const { principal } = context;
        const shops = await shopsOf(context).load(merchant);
        return principal.kind === 'key' ? shops.filter(({ id }) => id === principal.shopId) : shops;
      },
      rateLimit: rateLimitOf,
      profile: profileOf,
    },
    Shop: {
      merchant: ({ merchantId }, _, context) => merchantOfShop(context).load(merchantId),
      effectiveRates: (shop, _, context) => effectiveRatesOf(context).load(shop),
      ...shopKeyFields({ database, bus }),
      ...cabinet.Shop,
    },
    Payment: {
      webhookDeliveries: (payment, _, context) => deliveriesOf(context).load(payment),
      timeline: timelineOf({ database }),
    },
    WebhookDelivery: {
      ...cabinet.WebhookDelivery,
      event: ({ webhookEvent }) => webhookEvent,
      eventId: ({ eventId }) => `evt_${eventId}`,
    },
    LedgerEntry: ledgerEntryFields({ database }),
  } satisfies Resolvers;
};

const eventFields = {
  id: ({ sequence }: EventRow) => String(sequence),
  kind: ({ streamKind }: EventRow) => streamKind,
  at: ({ createdAt }: EventRow) => createdAt,
};
const subject = ({ merchantId, subjectId }: EventRow): EntityReference => ({
  merchantId,
  id: subjectId,
});

const eventTypes = {
  LiveEvent: { __resolveType: ({ streamKind }: EventRow) => eventTypeOf(streamKind) },
  PaymentCreatedEvent: { ...eventFields, payment: subject },
  PaymentStatusChangedEvent: { ...eventFields, payment: subject },
  PayoutCreatedEvent: { ...eventFields, payout: subject },
  PayoutStatusChangedEvent: { ...eventFields, payout: subject },
  RefundCreatedEvent: { ...eventFields, refund: subject },
  SubscriptionStatusChangedEvent: { ...eventFields, subscription: subject },
} satisfies Record<EventTypeName | 'LiveEvent', object>;

/**
 * Whether the caller may receive an event: a key of its shop and mode with the required scope; an
 * operator for its merchant; a buyer for its payment.
 */
const mayReceive = (principal: Principal, event: EventRow): boolean => {
  switch (principal.kind) {
    case 'key':
      return (
        mayReadOfShop(principal, event) &&
        accessRefusal(`Subscription.${subscriptionOf(event.streamKind)}`, principal) === null
      );
    case 'buyer':
      return event.merchantId === principal.merchantId && event.subjectId === principal.paymentId;
    case 'operator':
    case 'edge':
    case 'service':
      return mayReadMerchant(principal, event.merchantId);
  }
};

const queries = (deps: MerchantsDeps): QueryResolvers => {
  const { database } = deps;
  const { pool } = database;
  return {
    ...viewerQueries,
    ...searchQueries(deps),
    ...viewQueries(deps),
    ...totalsQueries(deps),
    ...bankHealthQueries(deps),
    ...failureQueries(deps),
    ...cabinetQueries({ database }),
    ...keyQueries({ database }),
    ...balanceQueries({ database }),
    merchant: async (_, { id }, context) => {
      if (!isUuid(id) || !mayReadMerchant(context.principal, id)) return null;
      const [merchant] = await loadMerchants(database.emOf(context), [id]);
      return merchant ?? null;
    },
    rates: (_, __, { principal, now }) => ratesOf(pool, keyOf(principal), now()),
    ledgerFile: async (_, query, { principal }) =>
      orThrow(await exportLedger(pool, keyOf(principal), query)),
    apiKeyHolder: (_, { digest }) => findKeyHolder(pool, digest),
    liveEvent: async (_, { id }, context) => {
      const event = await findEvent(database.emOf(context), id);
      return event && mayReceive(context.principal, event) ? event : null;
    },
    liveEventsAfter: (_, { after, first, ...filter }, context) =>
      findEventsBehind(database.emOf(context), after, first, filter, context.now()),
  };
};

const raise = (message: string): never => {
  throw new Error(message);
};
