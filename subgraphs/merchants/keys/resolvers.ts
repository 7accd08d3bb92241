/** GraphQL resolvers for API keys and their protection. */
import type {
  ApiKeyResolvers,
  MutationResolvers,
  QueryResolvers,
  ShopResolvers,
} from '../../../schema/generated/merchants.ts';
import type { Shop } from '../../platform/database/entities.ts';
import type { PageQuery } from '../../platform/database/keyset.ts';
import { isUuid } from '../../rules/ids.ts';
import { perCall, type SubgraphContext } from '../../platform/graph/subgraph.ts';
import { merchantOf, asType, byVerb, orThrow, refusal } from '../../platform/access/access.ts';
import {
  approveApiKey,
  issueApiKey,
  listApiKeys,
  noteKeyUse,
  revokeApiKey,
  rotateApiKey,
  type KeyDeps,
  type ShopKey,
} from './api-keys.ts';
import { keyStatus } from './rules.ts';
import {
  requireSignature,
  rotateSigningSecret,
  setAllowList,
  requireReceipts,
} from '../shops/protect-shop.ts';
import type { Keys } from '../../platform/access/keys.ts';
import { personOf } from '../../platform/drafts/drafts.ts';

/** Only the shop's own keys read its protection; of other shops a key reads names only. */
const forOwnKeys =
  (name: 'requireSignature' | 'requireBoundSignature' | 'receiptsRequired') =>
  (shop: Shop, _: unknown, { principal }: SubgraphContext): boolean => {
    if (principal.kind === 'key' && principal.shopId !== shop.id)
      throw refusal('scope_required', 'this field is for keys of the shop itself');
    return shop[name];
  };

export const shopKeyFields = ({ database }: KeyDeps): ShopResolvers => {
  // A list of payments repeats the same shop.
  const keysOf = perCall(
    (asked: readonly (ShopKey & PageQuery)[], context) =>
      Promise.all(
        asked.map(async (one) =>
          orThrow(await listApiKeys(database.emOf(context), one, context.now())),
        ),
      ),
    (asked) => JSON.stringify(asked),
  );
  return {
    requireSignature: forOwnKeys('requireSignature'),
    requireBoundSignature: forOwnKeys('requireBoundSignature'),
    receiptsRequired: forOwnKeys('receiptsRequired'),
    allowList: ({ allowList }) => allowList,
    apiKeys: ({ merchantId, id }, page, context) =>
      keysOf(context).load({ merchantId, shopId: id, ...page }),
  };
};

/** The keys of a shop as a list of its own. */
export const keyQueries = ({ database }: Pick<KeyDeps, 'database'>) =>
  ({
    apiKeys: async (_, query, context) => {
      const merchantId = merchantOf(context.principal, query.merchantId);
      if (!isUuid(query.shopId)) throw refusal('bad_request', 'shopId: expected a UUID');
      const asked = { ...query, merchantId };
      return orThrow(await listApiKeys(database.emOf(context), asked, context.now()));
    },
  }) satisfies QueryResolvers;

export const apiKeyFields: ApiKeyResolvers = {
  status: (key, _, { now }) => keyStatus(key, now()),
  isMine: ({ requestedBy }, _, { principal }) =>
    principal.kind === 'operator' && principal.subject === requestedBy,
};

/** Mutations for keys and for the rules that apply to their callers. */
export const keyMutations = (deps: KeyDeps & { readonly vaultKey: Keys }): MutationResolvers => ({
  apiKeyIssue: byVerb('ApiKeyIssued', issueApiKey, deps),
  apiKeyApprove: async (_, input, context) =>
    asType('ApiKey', await approveApiKey(deps, personOf(context), input)),
  apiKeyRevoke: byVerb('ApiKey', revokeApiKey, deps),
  apiKeyRotate: byVerb('ApiKeyIssued', rotateApiKey, deps),
  apiKeyUseNote: (_, { used }, { now }) => noteKeyUse(deps.database.pool, used, now()),
  shopSignatureRequire: byVerb('Shop', requireSignature, deps),
  shopSigningSecretRotate: byVerb('ShopSigningSecretRotated', rotateSigningSecret, deps),
  shopAllowListSet: byVerb('Shop', setAllowList, deps),
  shopReceiptsRequire: byVerb('Shop', requireReceipts, deps),
});
