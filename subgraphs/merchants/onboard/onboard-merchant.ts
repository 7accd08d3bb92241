/**
 * Creates a merchant that is ready to test: with a shop, a test key and, given an address, a
 * webhook endpoint. Each is a change of its own with an audit entry. All inputs are checked before
 * the first change.
 */
import type {
  MutationmerchantOnboardArgs,
  MutationResolvers,
} from '../../../schema/generated/merchants.ts';
import { checkWebhookUrl } from '../../platform/http/webhook-url.ts';
import { asType } from '../../platform/access/access.ts';
import { isRefusal, refuseMistakes, type Refusal } from '../../rules/refusal.ts';
import type { Acting } from '../../platform/database/audit.ts';
import { createMerchant } from '../change-merchant.ts';
import { issueApiKey } from '../keys/api-keys.ts';
import {
  nameMistake,
  profileMistakes,
  type MerchantProfile,
  profileOf,
} from '../rules/merchant.ts';
import { createShop } from '../shops/change-shop.ts';
import {
  createEndpoint,
  type EndpointDeps,
  type EndpointSettings,
} from '../webhooks/change-endpoint.ts';

/** What is asked for; without an endpoint when it is null. */
interface OnboardInput extends Pick<MutationmerchantOnboardArgs, 'name' | 'shopName'> {
  readonly profile: MerchantProfile;
  readonly endpoint: EndpointSettings | null;
}

const refusalOf = (
  { privateTargets }: EndpointDeps,
  { name, shopName, profile, endpoint }: OnboardInput,
): Refusal | null => {
  const url =
    endpoint && checkWebhookUrl(endpoint.url, { privateTargets: privateTargets(), mode: 'test' });
  return refuseMistakes([
    nameMistake('name', name),
    nameMistake('shopName', shopName),
    ...profileMistakes(profile),
    url && `webhookUrl: ${url}`,
  ]);
};

/** Creates all of them; secrets are shown once. On `bad_request` nothing was created. */
export const onboardMerchant = async (deps: EndpointDeps, acting: Acting, input: OnboardInput) => {
  const refusal = refusalOf(deps, input);
  if (refusal) return refusal;
  const merchant = await createMerchant(deps.database, acting, input.name, input.profile);
  if (isRefusal(merchant)) return merchant;
  const merchantId = merchant.id;
  const shop = await createShop(deps, acting, {
    merchantId,
    name: input.shopName,
    terminalName: null,
  });
  if (isRefusal(shop)) return shop;
  const place = { merchantId, shopId: shop.id };
  const terms = { mode: 'test', name: '', scopes: null, expiresAt: null } as const;
  const apiKey = await issueApiKey(deps, acting, { ...place, ...terms });
  if (isRefusal(apiKey)) return apiKey;
  const endpoint =
    input.endpoint && (await createEndpoint(deps, acting, { ...place, ...input.endpoint }));
  return endpoint && isRefusal(endpoint) ? endpoint : { merchant, shop, apiKey, endpoint };
};

// GraphQL resolver for onboarding.

/** The mutation; each created object has its audit entry. */
export const onboardMutations = (deps: EndpointDeps) =>
  ({
    merchantOnboard: async (_, { webhookUrl, events, signature, ...input }, context) => {
      const endpoint = webhookUrl ? { url: webhookUrl, events, signature } : null;
      const profile = profileOf(input.profile);
      const asked = { ...input, profile, endpoint };
      return asType('MerchantOnboarded', await onboardMerchant(deps, context, asked));
    },
  }) satisfies MutationResolvers;
