/** GraphQL resolvers for payout drafts. */
import type {
  MutationResolvers,
  PayoutDraftResolvers,
  QueryResolvers,
} from '../../../schema/generated/payouts.ts';
import type { RowFilter } from '../../platform/database/list-statements.ts';
import { exactly, oneOf } from '../../platform/database/lists.ts';
import {
  decidedFields,
  idsRefusal,
  ofCaller,
  personOf,
  rejectDraft,
} from '../../platform/drafts/drafts.ts';
import type { Policies } from '../../platform/policies/policies.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import { isUuid } from '../../rules/ids.ts';
import { merchantOf, orThrow } from '../../platform/access/access.ts';
import { perCall } from '../../platform/graph/subgraph.ts';
import type { Payout, PayoutDraft } from '../entities.ts';
import { loadPayouts } from '../find-payouts.ts';
import { approveDraft, approveDrafts } from './approve-draft.ts';
import { createDraft, type DraftDeps, payoutDrafts, shownRecipient } from './create-draft.ts';

export interface DraftsDeps extends DraftDeps {
  readonly policies: Pick<Policies, 'current'>;
  /** Notifies the relay that there are events. */
  readonly wakeRelay: () => void;
  /** Notifies the workers of new payouts to send. */
  readonly wakeSenders: () => void;
}

export const draftFields = ({
  database: { pool },
}: Pick<DraftsDeps, 'database'>): PayoutDraftResolvers => {
  const payoutOf = perCall<PayoutDraft, Payout | null>((drafts) => loadPayouts(pool, drafts));
  return {
    recipient: shownRecipient,
    ...decidedFields,
    payout: (draft, _, context) =>
      draft.status === 'approved' ? payoutOf(context).load(draft) : null,
    shop: ({ merchantId, shopId }) => ({ merchantId, id: shopId }),
    merchant: ({ merchantId }) => ({ id: merchantId }),
  };
};

/** A draft was proposed in this batch; `bad_request` for an invalid id. */
const ofBatch = (id: string | null | undefined): RowFilter | Refusal =>
  typeof id === 'string' && !isUuid(id)
    ? refuse('bad_request', 'batchId: expected a UUID')
    : exactly('payout_draft.batch_id', id, { type: 'uuid' });

export const draftQueries = ({
  database: { pool },
}: Pick<DraftsDeps, 'database'>): QueryResolvers => ({
  payoutDraft: async (_, { id, merchantId }, { principal }) =>
    (await payoutDrafts.load(pool, [{ merchantId: merchantOf(principal, merchantId), id }]))[0] ??
    null,
  payoutDrafts: async (_, { status, filter, ...asked }, { principal }) => {
    const rows = [
      oneOf('payout_draft.method', filter?.method),
      oneOf('payout_draft.created_by', filter?.createdBy),
      orThrow(ofBatch(filter?.batchId)),
      ...ofCaller(payoutDrafts, principal, filter?.isMine),
    ];
    const request = { ...asked, filter, columns: { status }, rows };
    return orThrow(await payoutDrafts.page(pool, principal, request));
  },
});

/** What became of each draft, as it is now. */
const decisionsOf = async (
  { database: { pool } }: DraftsDeps,
  { merchantId, ids }: { readonly merchantId: string; readonly ids: readonly string[] },
  answers: readonly (object | Refusal)[],
) => {
  const drafts = await payoutDrafts.load(
    pool,
    ids.map((id) => ({ merchantId, id })),
  );
  return {
    __typename: 'PayoutDraftsDecided' as const,
    decisions: ids.map((id, place) => {
      const answer = answers[place];
      const refusal = answer !== undefined && isRefusal(answer) ? answer : null;
      return { id, draft: drafts[place] ?? null, refusal };
    }),
  };
};

/** The mutations that decide several drafts. */
const manyMutations = (deps: DraftsDeps): MutationResolvers => ({
  payoutDraftsApprove: async (_, asked, context) => {
    const mistake = idsRefusal(asked.ids);
    if (mistake) return mistake;
    const policies = await deps.policies.current();
    const answers = await approveDrafts(deps, personOf(context), { ...asked, policies });
    deps.wakeRelay();
    deps.wakeSenders();
    return decisionsOf(deps, asked, answers);
  },
  payoutDraftsReject: async (_, { merchantId, ids, reason }, context) => {
    const mistake = idsRefusal(ids);
    if (mistake) return mistake;
    const parts = { ...deps.database, clocks: deps.clocks };
    const acting = personOf(context);
    const answers: (PayoutDraft | Refusal)[] = [];
    for (const id of ids)
      answers.push(await rejectDraft(payoutDrafts, parts, acting, { merchantId, id, reason }));
    return decisionsOf(deps, { merchantId, ids }, answers);
  },
});

/** The mutations of drafts; a payout needs two people. */
export const draftMutations = (deps: DraftsDeps): MutationResolvers => ({
  ...manyMutations(deps),
  payoutDraftCreate: async (
    _,
    { recipientOf = null, batchId = null, reason = null, ...asked },
    context,
  ) => {
    const request = { ...asked, recipientOf, batchId, reason };
    const created = await createDraft(deps, personOf(context), request);
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
