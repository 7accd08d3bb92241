/** GraphQL resolvers for operator policies and for bookings by finance. */
import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { MutationResolvers, QueryResolvers } from '../../../schema/generated/merchants.ts';
import { type Refusal, refuse } from '../../rules/refusal.ts';
import { isUuid } from '../../rules/ids.ts';
import { asType, orThrow, refusal } from '../../platform/access/access.ts';
import { addBlockEntry, listBlockEntries, removeBlockEntry } from './block-entries.ts';
import {
  ownerOf,
  ownerToChange,
  type PolicyDeps,
  changePolicy,
  reasonMistake,
} from './change-policy.ts';
import { recordAdjustment, recordSettlement } from '../ledger/record-movement.ts';
import { listExchangeRates, setExchangeRate, listRates, setRate } from './set-rate.ts';
import { listRoutes, removeRoute, setRoute } from './set-route.ts';
import { findPage, type Page, type PageQuery } from '../../platform/database/keyset.ts';
import { ForbiddenWordEntity, type ForbiddenWord } from '../../platform/policies/entities.ts';
import { forbiddenWord } from '../../rules/block.ts';
import type { Acting } from '../../platform/database/audit.ts';

/* Operators maintain forbidden purposes: words that no description may contain. */

/** Forbids a word. Refuses other texts with `bad_request`. */
const forbidPurpose = async (
  deps: PolicyDeps,
  acting: Acting,
  input: { readonly word: string; readonly reason: string },
): Promise<ForbiddenWord | Refusal> => {
  const word = forbiddenWord(input.word);
  if (word === null)
    return refuse(
      'bad_request',
      'word: expected up to 200 characters with a letter or a digit, and * only at the end',
    );
  const mistake = reasonMistake(input.reason);
  if (mistake) return mistake;
  const id = randomUUID();
  return changePolicy(
    deps,
    acting,
    {
      action: 'forbidden_purpose.add',
      merchantId: null,
      subject: { kind: 'forbidden_purpose', id },
    },
    async (em) => {
      const known = await em.findOne(ForbiddenWordEntity, { word });
      if (known) return known;
      const { reason } = input;
      return em.create(ForbiddenWordEntity, { id, word, reason, createdAt: acting.now() });
    },
  );
};

/** Allows a word again. Refuses with `not_found`. */
const allowPurpose = async (
  deps: PolicyDeps,
  acting: Acting,
  id: string,
): Promise<{ readonly id: string } | Refusal> => {
  const gone = refuse('not_found', 'there is no such forbidden purpose');
  if (!isUuid(id)) return gone;
  return changePolicy(
    deps,
    acting,
    {
      action: 'forbidden_purpose.remove',
      merchantId: null,
      subject: { kind: 'forbidden_purpose', id },
    },
    async (em) => {
      const word = await em.findOne(ForbiddenWordEntity, { id });
      if (!word) return gone;
      em.remove(word);
      return { id };
    },
  );
};

/** All forbidden words, newest first. */
const listForbiddenPurposes = (
  em: EntityManager,
  page: PageQuery,
): Promise<Page<ForbiddenWord> | Refusal> => {
  const bound = ['forbidden_word.list', []] as const;
  return findPage(em, { entity: ForbiddenWordEntity, at: 'createdAt', where: {}, bound }, page);
};

const shopNamed = (shopId: string | null | undefined): string | null => {
  if (shopId && !isUuid(shopId)) throw refusal('not_found', 'there is no such shop');
  return shopId ?? null;
};

/** The queries of the policies. */
export const policyQueries = ({ database }: PolicyDeps): QueryResolvers => ({
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

/** Mutations of the policies and the ledger. Each writes an audit entry. */
export const policyMutations = (deps: PolicyDeps): MutationResolvers => ({
  rateSet: async (_, input, context) => asType('RateRecord', await setRate(deps, context, input)),
  bankRouteSet: async (_, input, context) =>
    asType('BankRoute', await setRoute(deps, context, input)),
  bankRouteRemove: async (_, input, context) =>
    asType('PolicyRemoved', await removeRoute(deps, context, input)),
  blockEntryAdd: async (_, { merchantId, ...input }, context) =>
    asType(
      'BlockEntry',
      await addBlockEntry(deps, context, {
        ...input,
        merchantId: ownerToChange(context.principal, merchantId),
      }),
    ),
  blockEntryRemove: async (_, { merchantId, id }, context) =>
    asType(
      'PolicyRemoved',
      await removeBlockEntry(deps, context, {
        merchantId: ownerToChange(context.principal, merchantId),
        id,
      }),
    ),
  forbiddenPurposeAdd: async (_, input, context) =>
    asType('ForbiddenPurpose', await forbidPurpose(deps, context, input)),
  forbiddenPurposeRemove: async (_, { id }, context) =>
    asType('PolicyRemoved', await allowPurpose(deps, context, id)),
  exchangeRateSet: async (_, input, context) =>
    asType('ExchangeRate', await setExchangeRate(deps, context, input)),
  settlementRecord: async (_, input, context) =>
    asType('LedgerRecorded', await recordSettlement(deps, context, input)),
  adjustmentRecord: async (_, input, context) =>
    asType('LedgerRecorded', await recordAdjustment(deps, context, input)),
});
