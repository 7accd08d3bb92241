/** GraphQL resolvers for payout drafts. */
import type {
  MutationResolvers,
  PayoutDraftResolvers,
  QueryResolvers,
} from '../../../schema/generated/payouts.ts';
import { oneOf } from '../../platform/database/open-list.ts';
import { ofCaller, personOf, rejectDraft } from '../../platform/drafts/decide-draft.ts';
import type { Policies } from '../../platform/policies/policies.ts';
import { isRefusal } from '../../rules/refusal.ts';
import { merchantOf, orThrow } from '../../platform/access/reach.ts';
import { perCall } from '../../platform/graph/per-call.ts';
import type { Payout } from '../entities.ts';
import { loadPayouts } from '../find-payouts.ts';
import { approveDraft } from './approve-draft.ts';
import { createDraft, type DraftDeps } from './create-draft.ts';
import type { PayoutDraft } from './entities.ts';
import { shownRecipient } from './rules.ts';
import { payoutDrafts } from './store-draft.ts';

export interface DraftsDeps extends DraftDeps {
  readonly policies: Policies;
  readonly wakeRelay: () => void;
  readonly wakeSenders: () => void;
}

/** The computed fields of a draft. */
export const draftFields = ({
  database: { pool },
}: Pick<DraftsDeps, 'database'>): PayoutDraftResolvers => {
  const payoutOf = perCall<PayoutDraft, Payout | null>((drafts) => loadPayouts(pool, drafts));
  return {
    recipient: shownRecipient,
    isMine: ({ createdBy }, _, { principal }) =>
      principal.kind === 'operator' && principal.subject === createdBy,
    lastRefusal: ({ refusalCode: code, refusalMessage: message, refusedAt: at }) =>
      code !== null && message !== null && at ? { code, message, at } : null,
    payout: (draft, _, context) =>
      draft.status === 'approved' ? payoutOf(context).load(draft) : null,
    shop: ({ merchantId, shopId }) => ({ merchantId, id: shopId }),
    merchant: ({ merchantId }) => ({ id: merchantId }),
  };
};

/** The queries of drafts. */
export const draftQueries = ({
  database: { pool },
}: Pick<DraftsDeps, 'database'>): Pick<QueryResolvers, 'payoutDraft' | 'payoutDrafts'> => ({
  payoutDraft: async (_, { id, merchantId }, { principal }) =>
    (await payoutDrafts.load(pool, [{ merchantId: merchantOf(principal, merchantId), id }]))[0] ??
    null,
  payoutDrafts: async (_, { status, filter, ...asked }, { principal }) => {
    const rows = [
      oneOf('payout_draft.method', filter?.method),
      oneOf('payout_draft.created_by', filter?.createdBy),
      ...ofCaller(payoutDrafts, principal, filter?.isMine),
    ];
    const request = { ...asked, filter, columns: { status }, rows };
    return orThrow(await payoutDrafts.page(pool, principal, request));
  },
});

type Mutations = 'payoutDraftCreate' | 'payoutDraftApprove' | 'payoutDraftReject';

/** The mutations of drafts; a payout needs two people. */
export const draftMutations = (deps: DraftsDeps): Pick<MutationResolvers, Mutations> => ({
  payoutDraftCreate: async (
    _,
    { merchantId, shopId, mode, input, recipientOf = null, reason = null, idempotency },
    context,
  ) => {
    const asked = { merchantId, shopId, mode, input, recipientOf, reason, idempotency };
    const created = await createDraft(deps, personOf(context), asked);
    if (isRefusal(created)) return created;
    const { made: draft, replayed: idempotent } = created;
    return { __typename: 'PayoutDraftCreated', draft, idempotent };
  },
  payoutDraftApprove: async (_, { merchantId, id, cardPan }, context) => {
    const policies = await deps.policies.current();
    const asked = { merchantId, id, cardPan: cardPan ?? null, policies };
    const approved = await approveDraft(deps, personOf(context), asked);
    if (isRefusal(approved)) return approved;
    const { draft, payout, replayed: idempotent } = approved;
    if (!idempotent) deps.wakeRelay();
    if (!idempotent && payout.status === 'pending') deps.wakeSenders();
    return { __typename: 'PayoutDraftApproved', draft, payout, idempotent };
  },
  payoutDraftReject: async (_, { merchantId, id, reason }, context) => {
    const { database, clocks } = deps;
    const asked = { merchantId, id, reason };
    const acting = personOf(context);
    const draft = await rejectDraft(payoutDrafts, { ...database, clocks }, acting, asked);
    return isRefusal(draft) ? draft : { __typename: 'PayoutDraftRejected', draft };
  },
});
