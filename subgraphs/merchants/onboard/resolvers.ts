/** GraphQL resolver for onboarding. */
import type { MutationResolvers } from '../../../schema/generated/merchants.ts';
import { isRefused } from '../../kernel/rules/refusal.ts';
import type { EndpointParts } from '../webhooks/change-endpoint.ts';
import { onboardMerchant } from './onboard-merchant.ts';

/** The mutation; each created object has its audit entry. */
export const onboardMutations = (parts: EndpointParts) =>
  ({
    merchantOnboard: async (_, { name, shopName, webhookUrl, events, signature }, context) => {
      const endpoint = webhookUrl ? { url: webhookUrl, events, signature } : null;
      const made = await onboardMerchant(parts, context, { name, shopName, endpoint });
      return isRefused(made) ? made : { ...made, __typename: 'MerchantOnboarded' };
    },
  }) satisfies MutationResolvers;
