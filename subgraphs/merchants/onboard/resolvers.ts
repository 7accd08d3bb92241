/** GraphQL resolver for onboarding. */
import type { MutationResolvers } from '../../../schema/generated/merchants.ts';
import { isRefusal } from '../../rules/refusal.ts';
import { profileOf } from '../rules/profile.ts';
import type { EndpointDeps } from '../webhooks/change-endpoint.ts';
import { onboardMerchant } from './onboard-merchant.ts';

/** The mutation; each created object has its audit entry. */
export const onboardMutations = (deps: EndpointDeps) =>
  ({
    merchantOnboard: async (_, { webhookUrl, events, signature, ...input }, context) => {
      const endpoint = webhookUrl ? { url: webhookUrl, events, signature } : null;
      const made = await onboardMerchant(deps, context, {
        ...input,
        profile: profileOf(input.profile),
        endpoint,
      });
      return isRefusal(made) ? made : { ...made, __typename: 'MerchantOnboarded' };
    },
  }) satisfies MutationResolvers;
