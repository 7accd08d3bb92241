/**
 * Proposes a payout. Its terms are checked like those of an API payout; balance, lists and route
 * are checked on approval. No money moves.
 */
import { reason_max_chars } from '../../../schema/limits.ts';
import { randomUUID } from 'node:crypto';
import type { TestClocks } from '../../platform/clock/test-clocks.ts';
import {
  claimOf,
  createOnce,
  type Created,
  type IdempotencyArgument,
} from '../../platform/database/idempotency.ts';
import { draftLife_h, pendingDrafts_max } from '../../platform/drafts/rules.ts';
import type { PersonActing } from '../../platform/drafts/store-drafts.ts';
import type { Mode } from '../../rules/mode.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import { textMistake } from '../../rules/texts.ts';
import { isUuid } from '../../rules/ids.ts';
import { keyedClaim, keyedFingerprints, type CreatingDeps } from '../create-payout.ts';
import { keptOf } from '../open-payouts.ts';
import { inputAgain } from '../paid-recipients.ts';
import { payoutTerms, type PayoutInput, type PayoutTerms } from '../rules/create.ts';
import type { PayoutDraft } from './entities.ts';
import { payoutDrafts } from './store-draft.ts';

export interface DraftDeps extends CreatingDeps {
  readonly clocks: Pick<TestClocks, 'timeOf'>;
}

interface DraftRequest {
  readonly merchantId: string;
  readonly shopId: string;
  readonly mode: Mode;
  readonly input: PayoutInput;
  /** An earlier payout, whose recipient is paid again; null: the input has the recipient. */
  readonly recipientOf: string | null;
  /** What it has in common with others that are proposed together; null: nothing. */
  readonly batchId: string | null;
  /** Its purpose, for the approver. */
  readonly reason: string | null;
  readonly idempotency: IdempotencyArgument;
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
  const whose = { merchantId, id, shopId, mode };
  return {
    ...whose,
    amount,
    currency,
    method,
    status: 'pending',
    ...keptOf(terms),
    recipientCardDigest:
      recipient.way === 'card' ? cardDigests(deps, id, recipient.cardNumber).fingerprint : null,
    reason,
    batchId,
    createdBy: principal.subject,
    createdAt: at,
    expiresAt: at.add({ hours: draftLife_h }),
    decidedBy: null,
    decidedAt: null,
    rejectReason: null,
    refusalCode: null,
    refusalMessage: null,
    refusedAt: null,
  };
};

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
  if (claim && isRefusal(claim)) return claim;
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
    if (await payoutDrafts.hasManyWaiting(client, draft))
      return refuse(
        'bad_request',
        `${pendingDrafts_max} drafts are already pending: approve or reject some first`,
      );
    if (!(await payoutDrafts.insert(client, draft))) return noShop;
    await payoutDrafts.record(client, acting, 'create', { before: null, after: draft });
    return draft;
  });
};
