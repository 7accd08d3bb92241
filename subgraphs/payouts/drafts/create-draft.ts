/**
 * Proposes a payout. Its terms are checked like those of an API payout; balance, lists and route
 * are checked on approval. No money moves.
 */
import { randomUUID } from 'node:crypto';
import { reason_max_chars } from '../../../schema/limits.ts';
import type { TestClocks } from '../../platform/clock/test-clocks.ts';
import {
  claimOf,
  createOnce,
  type Created,
  type IdempotencyArgument,
} from '../../platform/database/idempotency.ts';
import type { ListedPage } from '../../platform/database/lists.ts';
import { propertyNames } from '../../platform/database/statement.ts';
import { type PersonActing, openDraftStore, proposedBy } from '../../platform/drafts/drafts.ts';
import { isUuid } from '../../rules/ids.ts';
import { maskedName } from '../../rules/receipt.ts';
import { lastFour, maskedPhone } from '../../rules/recipient.ts';
import { isRefusal, refuse, type Refusal, textMistake } from '../../rules/refusal.ts';
import { keyedClaim, keyedFingerprints, type CreatingDeps } from '../create-payout.ts';
import { type PayoutDraft, PayoutDraftEntity, type StoredRecipient } from '../entities.ts';
import { type Again, inputAgain } from '../find-payouts.ts';
import { keptOf } from '../open-payouts.ts';
import { payoutTerms, type PayoutTerms } from '../rules/create.ts';

export interface DraftDeps extends CreatingDeps {
  readonly clocks: Pick<TestClocks, 'timeOf'>;
}

interface DraftRequest extends Again {
  readonly shopId: string;
  /** What it has in common with others that are proposed together; null: nothing. */
  readonly batchId: string | null;
  /** Its purpose, for the approver. */
  readonly reason: string | null;
  readonly idempotency?: IdempotencyArgument;
}

/** Keyed digests of a draft's card, with the current and earlier keys. */
export const cardDigests = (
  { fingerprintKey }: Pick<CreatingDeps, 'fingerprintKey'>,
  draftId: string,
  cardNumber: string,
) => keyedFingerprints(fingerprintKey, `payout_draft/${draftId}/${cardNumber}`);

const draftOf = (
  deps: DraftDeps,
  { principal }: PersonActing,
  { merchantId, shopId, mode, batchId, reason }: DraftRequest,
  terms: PayoutTerms,
  at: Temporal.Instant,
): PayoutDraft => {
  const { amount, currency, method, recipient } = terms;
  const id = randomUUID();
  return {
    merchantId,
    id,
    shopId,
    mode,
    amount,
    currency,
    method,
    ...keptOf(terms),
    recipientCardDigest:
      recipient.way === 'card' ? cardDigests(deps, id, recipient.cardNumber).fingerprint : null,
    reason,
    batchId,
    ...proposedBy(principal.subject, at),
  };
};

export type DraftPage = ListedPage<PayoutDraft>;

// The recipient of a draft, as its readers see it.

/**
 * A recipient as shown to readers of the draft: a phone, an account and an INN by their last
 * digits. Bank and name are whole: the approver checks them.
 */
export const shownRecipient = (kept: StoredRecipient) => ({
  phoneMask: kept.recipientPhone && maskedPhone(kept.recipientPhone),
  bankId: kept.recipientBankId,
  accountMask: lastFour(kept.recipientAccount),
  bik: kept.recipientBik,
  innMask: lastFour(kept.recipientInn),
  fullName: kept.recipientName,
  cardMask: kept.recipientCardMask,
});

/**
 * The store. Always lock a draft before its merchant. In the audit log a draft is without the data
 * needed to pay its recipient; a card's digest is stored only while the draft is pending.
 */
export const payoutDrafts = openDraftStore<PayoutDraft>({
  entity: PayoutDraftEntity.class,
  name: 'payout_draft',
  names: propertyNames(PayoutDraftEntity),
  shown: (draft) => ({
    status: draft.status,
    amount: draft.amount,
    currency: draft.currency,
    method: draft.method,
    mode: draft.mode,
    recipient: {
      ...shownRecipient(draft),
      fullName: draft.recipientName && maskedName(draft.recipientName),
    },
    reason: draft.rejectReason ?? draft.reason,
  }),
  insert: (em, draft) => em.insert(PayoutDraftEntity, draft),
  update: (em, key, { recipientCardDigest, ...draft }) =>
    em.nativeUpdate(PayoutDraftEntity, key, {
      ...draft,
      recipientCardDigest: draft.status === 'pending' ? recipientCardDigest : null,
    }),
});

/**
 * Proposes a payout of a merchant's shop, or finds the draft that an earlier call with the same
 * idempotency key created. Refuses with `bad_request` (the terms, the batch, the reason, too many
 * pending),
 * `not_found` (the shop), `live_not_enabled`, or about the key.
 */
export const createDraft = async (
  deps: DraftDeps,
  acting: PersonActing,
  request: DraftRequest,
): Promise<Created<PayoutDraft> | Refusal> => {
  const { merchantId, shopId, mode, recipientOf, batchId, reason, idempotency } = request;
  const noShop = refuse('not_found', 'there is no such shop');
  if (!isUuid(merchantId) || !isUuid(shopId)) return noShop;
  if (batchId !== null && !isUuid(batchId))
    return refuse('bad_request', 'batchId: expected a UUID');
  // The batch is no part of it: a line that is sent again from a reloaded page finds its draft.
  const claim = claimOf(idempotency, 'payoutDraftCreate', {
    shopId,
    mode,
    input: request.input,
    recipientOf,
    reason,
  });
  if (isRefusal(claim)) return claim;
  const { pool } = deps.database;
  const input = await inputAgain(pool, request);
  if (isRefusal(input)) return input;
  const terms = payoutTerms(input.method ?? 'payouts_sbp', input);
  if (isRefusal(terms)) return terms;
  // A draft stores neither, so its payout would lack them.
  if (terms.orderId !== null || terms.metadata !== null)
    return refuse('bad_request', 'input: a draft takes no orderId and no metadata');
  const mistake = textMistake('reason', reason, 1, reason_max_chars);
  if (mistake) return refuse('bad_request', mistake);
  const disabled = await deps.banks.liveModeRefusal({ merchantId, mode });
  if (disabled) return disabled;
  const caller = { merchantId, shopId, mode };
  const at = await deps.clocks.timeOf({ kind: 'shop', ...caller });
  const draft = draftOf(deps, acting, request, terms, at);
  const find = async (id: string): Promise<PayoutDraft | null> =>
    (await payoutDrafts.load(pool, [{ merchantId, id }]))[0] ?? null;
  const keyed = claim && keyedClaim(deps, claim);
  const creation = { caller, claim: keyed, resourceId: draft.id, at, find };
  return createOnce(pool, creation, async (client): Promise<PayoutDraft | Refusal> => {
    const limit = await payoutDrafts.limitRefusal(client, draft);
    if (limit) return limit;
    if (!(await payoutDrafts.insert(client, draft))) return noShop;
    await payoutDrafts.record(client, acting, 'create', { before: null, after: draft });
    return draft;
  });
};
