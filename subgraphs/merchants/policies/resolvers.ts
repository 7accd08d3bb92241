/** GraphQL resolvers for operator policies and for bookings by finance. */
import type { MutationResolvers, QueryResolvers } from '../../../schema/generated/merchants.ts';
import { isRefused, type Refused } from '../../kernel/rules/refusal.ts';
import { isUuid } from '../../kernel/rules/uuid.ts';
import { orThrow, refusal } from '../../kernel/service/access/reach.ts';
import { addBlockEntry, listBlockEntries, removeBlockEntry } from './block-entries.ts';
import { ownerOf, ownerToChange, type PolicyParts } from './change-policy.ts';
import { allowPurpose, forbidPurpose, listForbiddenPurposes } from './forbidden-purposes.ts';
import { recordAdjustment, recordSettlement } from '../ledger/record-movement.ts';
import { listExchangeRates, setExchangeRate } from './set-exchange-rate.ts';
import { listRates, setRate } from './set-rate.ts';
import { listRoutes, removeRoute, setRoute } from './set-route.ts';

const named =
  <Name extends string>(__typename: Name) =>
  <Result extends object>(
    result: Result | Refused,
  ): (Result & { readonly __typename: Name }) | Refused =>
    isRefused(result) ? result : { ...result, __typename };

const removed = named('PolicyRemoved');
const recorded = named('LedgerRecorded');

const shopNamed = (shopId: string | null | undefined): string | null => {
  if (shopId && !isUuid(shopId)) throw refusal('not_found', 'there is no such shop');
  return shopId ?? null;
};

type PolicyQuery =
  | 'rateHistory'
  | 'bankRoutes'
  | 'blockEntries'
  | 'forbiddenPurposes'
  | 'exchangeRates';

/** The queries of the policies. */
export const policyQueries = ({ database }: PolicyParts): Pick<QueryResolvers, PolicyQuery> => ({
  rateHistory: async (_, { merchantId, shopId, method, ...page }, context) =>
    orThrow(
      await listRates(database.emOf(context), {
        ...page,
        merchantId: ownerOf(context.principal, merchantId),
        shopId: shopNamed(shopId),
        method: method ?? null,
      }),
    ),
  bankRoutes: async (_, { merchantId, shopId, ...page }, context) => {
    const owner = ownerOf(context.principal, merchantId);
    if (owner === null) throw refusal('bad_request', 'merchantId: required');
    return orThrow(
      await listRoutes(database.emOf(context), {
        ...page,
        merchantId: owner,
        shopId: shopNamed(shopId),
      }),
    );
  },
  blockEntries: async (_, { merchantId, kind, ...page }, context) =>
    orThrow(
      await listBlockEntries(database.emOf(context), {
        ...page,
        merchantId: ownerOf(context.principal, merchantId),
        kind: kind ?? null,
      }),
    ),
  forbiddenPurposes: async (_, page, context) =>
    orThrow(await listForbiddenPurposes(database.emOf(context), page)),
  exchangeRates: async (_, { currency, ...page }, context) =>
    orThrow(
      await listExchangeRates(database.emOf(context), { ...page, currency: currency ?? null }),
    ),
});

type PolicyMutation =
  | 'rateSet'
  | 'bankRouteSet'
  | 'bankRouteRemove'
  | 'blockEntryAdd'
  | 'blockEntryRemove'
  | 'forbiddenPurposeAdd'
  | 'forbiddenPurposeRemove'
  | 'exchangeRateSet'
  | 'settlementRecord'
  | 'adjustmentRecord';

/** Mutations of the policies and the ledger. Each writes an audit entry. */
export const policyMutations = (parts: PolicyParts): Pick<MutationResolvers, PolicyMutation> => ({
  rateSet: async (_, input, context) => named('RateRecord')(await setRate(parts, context, input)),
  bankRouteSet: async (_, input, context) =>
    named('BankRoute')(await setRoute(parts, context, input)),
  bankRouteRemove: async (_, input, context) => removed(await removeRoute(parts, context, input)),
  blockEntryAdd: async (_, { merchantId, ...input }, context) =>
    named('BlockEntry')(
      await addBlockEntry(parts, context, {
        ...input,
        merchantId: ownerToChange(context.principal, merchantId),
      }),
    ),
  blockEntryRemove: async (_, { merchantId, id }, context) =>
    removed(
      await removeBlockEntry(parts, context, {
        merchantId: ownerToChange(context.principal, merchantId),
        id,
      }),
    ),
  forbiddenPurposeAdd: async (_, input, context) =>
    named('ForbiddenPurpose')(await forbidPurpose(parts, context, input)),
  forbiddenPurposeRemove: async (_, { id }, context) =>
    removed(await allowPurpose(parts, context, id)),
  exchangeRateSet: async (_, input, context) =>
    named('ExchangeRate')(await setExchangeRate(parts, context, input)),
  settlementRecord: async (_, input, context) =>
    recorded(await recordSettlement(parts, context, input)),
  adjustmentRecord: async (_, input, context) =>
    recorded(await recordAdjustment(parts, context, input)),
});
