import type { PolicyLists } from '../../subgraphs/platform/policies/policies.ts';

/** Nothing is refused and nothing has a rate: what a new installation begins with. */
export const noPolicies: PolicyLists = {
  isBlocked: () => false,
  forbiddenIn: () => null,
  inUsdt: () => null,
};
