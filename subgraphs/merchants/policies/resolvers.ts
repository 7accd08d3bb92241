/** GraphQL resolvers for operator policies and for bookings by finance. */
import { randomUUID } from 'node:crypto';
import type {
  MutationforbiddenPurposeAddArgs,
  MutationResolvers,
  QueryResolvers,
} from '../../../schema/generated/merchants.ts';
import { type Refusal, refuse } from '../../rules/refusal.ts';
import { isUuid } from '../../rules/ids.ts';
import { asType, byVerb, orThrow, refusal } from '../../platform/access/access.ts';
import { addBlockEntry } from './block-entries.ts';
import {
  ownerOf,
  ownerToChange,
  type PolicyDeps,
  changePolicy,
  reasonMistake,
} from './change-policy.ts';
import { recordAdjustment, recordSettlement } from '../ledger/record-movement.ts';
import { setExchangeRate, setRate } from './set-rate.ts';
import { setRoute } from './set-route.ts';
import { findPage, given } from '../../platform/database/keyset.ts';
import {
  ForbiddenWordEntity,
  type ForbiddenWord,
  BlockEntryEntity,
  ExchangeRateEntity,
  forbiddenWord,
} from '../../platform/policies/policies.ts';
import { changeEntities, removing, type Acting } from '../../platform/database/audit.ts';
import { RateEntity } from '../../ledger/entities.ts';
import { BankRouteEntity } from '../../acquirers/entities.ts';

/* Operators maintain forbidden purposes: words that no description may contain. */

/** Forbids a word. Refuses other texts with `bad_request`. */
const forbidPurpose = async (
  deps: PolicyDeps,
  acting: Acting,
  { reason, ...input }: MutationforbiddenPurposeAddArgs,
): Promise<ForbiddenWord | Refusal> => {
  const word = forbiddenWord(input.word);
  if (word === null)
    return refuse(
      'bad_request',
      'word: expected up to 200 characters with a letter or a digit, and * only at the end',
    );
  const mistake = reasonMistake(reason);
  if (mistake) return mistake;
  const id = randomUUID();
  return changePolicy(
    deps,
    acting,
    { action: 'forbidden_purpose.add', merchantId: null, id },
    async (em) => {
      const known = await em.findOne(ForbiddenWordEntity, { word });
      if (known) return known;
      return em.create(ForbiddenWordEntity, { id, word, reason, createdAt: acting.now() });
    },
  );
};

const shopNamed = (shopId: string | null | undefined): string | null => {
  if (typeof shopId === 'string' && !isUuid(shopId))
    throw refusal('not_found', 'there is no such shop');
  return shopId ?? null;
};

/** Policies as they were set, the latest first. An owner of null is the platform. */
export const policyQueries = ({ database }: PolicyDeps): QueryResolvers => ({
  rateHistory: async (_, { merchantId, shopId, method, ...page }, context) => {
    const owner = { merchantId: ownerOf(context.principal, merchantId) };
    const where = { ...owner, ...given({ shopId: shopNamed(shopId), method }) };
    const list = { entity: RateEntity, at: 'since', where } as const;
    return orThrow(await findPage(database.emOf(context), list, page));
  },
  bankRoutes: async (_, { merchantId: named, shopId, ...page }, context) => {
    const merchantId = ownerOf(context.principal, named);
    if (merchantId === null) throw refusal('bad_request', 'merchantId: required');
    const where = { merchantId, ...given({ shopId: shopNamed(shopId) }) };
    const list = { entity: BankRouteEntity, at: 'createdAt', where } as const;
    return orThrow(await findPage(database.emOf(context), list, page));
  },
  blockEntries: async (_, { merchantId, kind, ...page }, context) => {
    const where = { merchantId: ownerOf(context.principal, merchantId), ...given({ kind }) };
    const list = { entity: BlockEntryEntity, at: 'createdAt', where } as const;
    return orThrow(await findPage(database.emOf(context), list, page));
  },
  forbiddenPurposes: async (_, page, context) => {
    const list = { entity: ForbiddenWordEntity, at: 'createdAt', where: {} } as const;
    return orThrow(await findPage(database.emOf(context), list, page));
  },
  exchangeRates: async (_, { currency, ...page }, context) => {
    const list = { entity: ExchangeRateEntity, at: 'since', where: given({ currency }) } as const;
    return orThrow(await findPage(database.emOf(context), list, page));
  },
});

/** Mutations of the policies and the ledger. Each writes an audit entry. */
export const policyMutations = (deps: PolicyDeps): MutationResolvers => ({
  rateSet: byVerb('RateRecord', setRate, deps),
  bankRouteSet: byVerb('BankRoute', setRoute, deps),
  bankRouteRemove: async (_, { merchantId, id }, context) => {
    const action = { action: 'bank_route.remove', merchantId, id } as const;
    const remove = removing(BankRouteEntity, { merchantId, id }, 'route');
    return asType('PolicyRemoved', await changeEntities(deps.database, context, action, remove));
  },
  blockEntryAdd: async (_, { merchantId, ...input }, context) =>
    asType(
      'BlockEntry',
      await addBlockEntry(deps, context, {
        ...input,
        merchantId: ownerToChange(context.principal, merchantId),
      }),
    ),
  blockEntryRemove: async (_, { merchantId: named, id }, context) => {
    const merchantId = ownerToChange(context.principal, named);
    const action = { action: 'block_entry.remove', merchantId, id } as const;
    const remove = removing(BlockEntryEntity, { id, merchantId }, 'entry on this list');
    return asType('PolicyRemoved', await changePolicy(deps, context, action, remove));
  },
  forbiddenPurposeAdd: byVerb('ForbiddenPurpose', forbidPurpose, deps),
  forbiddenPurposeRemove: async (_, { id }, context) => {
    const action = { action: 'forbidden_purpose.remove', merchantId: null, id } as const;
    const remove = removing(ForbiddenWordEntity, { id }, 'forbidden purpose');
    return asType('PolicyRemoved', await changePolicy(deps, context, action, remove));
  },
  exchangeRateSet: byVerb('ExchangeRate', setExchangeRate, deps),
  settlementRecord: byVerb('LedgerRecorded', recordSettlement, deps),
  adjustmentRecord: byVerb('LedgerRecorded', recordAdjustment, deps),
});
