/**
 * Approves drafts and creates their payouts. A payout has its draft's id and is created in the
 * transaction that decides this draft, under its row's lock, so concurrent and repeated approvals
 * create one payout. A refusal is stored with the draft, which stays pending.
 */
import { isSameRequest, type ClaimingCaller } from '../../platform/database/idempotency.ts';
import { inTransaction } from '../../platform/database/statement.ts';
import { rememberTrace } from '../../platform/database/subject-trace.ts';
import {
  keepApproval,
  keepRefusal,
  noDraft,
  noteRefusal,
  type Approving,
  type PersonActing,
} from '../../platform/drafts/drafts.ts';
import { approval } from '../../platform/drafts/rules.ts';
import { withinBound } from '../../ledger/balance.ts';
import type { PolicyLists } from '../../platform/policies/policies.ts';
import { minorUnits } from '../../rules/money.ts';
import type { Recipient } from '../../rules/recipient.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import { checkRecipient, payoutBank, type Checked } from '../check-draft.ts';
import { payCard, type CreatingDeps } from '../create-payout.ts';
import type { Payout, PayoutDraft } from '../entities.ts';
import { loadPayouts, recipientView } from '../find-payouts.ts';
import { beyondBound, openPayouts } from '../open-payouts.ts';
import { recipientOf, type PayoutTerms } from '../rules/create.ts';
import { cardDigests, type DraftDeps, payoutDrafts } from './create-draft.ts';

interface ApprovalRequest {
  readonly merchantId: string;
  readonly id: string;
  /** The number of a card payout; the draft does not store it. */
  readonly cardPan: string | null;
  readonly policies: PolicyLists;
}

export interface ApprovedDraft {
  readonly draft: PayoutDraft;
  readonly payout: Payout;
  /** Whether the same person had approved it before. */
  readonly replayed: boolean;
}

/** The draft's recipient; a card's number comes with the approval, and must match the draft's. */
const draftRecipient = (
  deps: Pick<CreatingDeps, 'fingerprintKey'>,
  draft: PayoutDraft,
  cardPan: string | null,
): Recipient | Refusal => {
  const { method, recipientCardDigest } = draft;
  if (method !== 'payouts_card' && cardPan !== null)
    return refuse('bad_request', `card_pan: not a field of ${method}`);
  if (method === 'payouts_card' && cardPan === null)
    return refuse('bad_request', 'card_pan: required, because card numbers are not stored');
  return cardPan === null ||
    isSameRequest(recipientCardDigest ?? '', cardDigests(deps, draft.id, cardPan))
    ? recipientOf(method, { ...recipientView(draft), cardPan })
    : refuse('bad_request', 'card_pan: expected the card number of this draft');
};

const termsOf = (draft: PayoutDraft, recipient: Recipient): PayoutTerms => ({
  method: draft.method,
  amount: minorUnits(draft.amount),
  currency: draft.currency,
  recipient,
  orderId: null,
  metadata: null,
});

/** The result of an approval in a transaction. */
type Opened =
  | { readonly draft: PayoutDraft; readonly payout: Payout | null }
  | { readonly refusal: Refusal };

const open = (
  { database: { pool } }: DraftDeps,
  approving: Approving,
  key: Pick<PayoutDraft, 'merchantId' | 'id'>,
  ready: { readonly terms: PayoutTerms; readonly checked: Checked },
): Promise<Opened> =>
  inTransaction(pool, async (client): Promise<Opened> => {
    const { acting, at } = approving;
    const draft = await payoutDrafts.lock(client, key);
    if (!draft) return { refusal: noDraft };
    const status = approval(draft, { subject: acting.principal.subject, at });
    if (status === 'again') return { draft, payout: null };
    if (typeof status === 'object') return { refusal: status };
    const { bank, refusedAs } = ready.checked;
    const made = { id: draft.id, terms: ready.terms, connector: bank.connector, refusedAs };
    const caller: ClaimingCaller = draft;
    const opened = await openPayouts(client, caller, draft.method, [made], at);
    const payout = isRefusal(opened) ? opened : opened.get(made.id);
    if (!payout) throw new Error(`draft ${draft.id} made no payout`);
    if (isRefusal(payout)) {
      await keepRefusal(payoutDrafts, client, approving, draft, payout);
      return { refusal: payout };
    }
    const after = await keepApproval(payoutDrafts, client, approving, draft);
    await rememberTrace(client, { merchantId: draft.merchantId, subjectId: draft.id });
    return { draft: after, payout };
  });

const again = async ({ database }: DraftDeps, draft: PayoutDraft): Promise<ApprovedDraft> => {
  const [payout] = await loadPayouts(database.pool, [draft]);
  if (!payout) throw new Error(`draft ${draft.id} was approved and has no payout`);
  return { draft, payout, replayed: true };
};

/** A draft whose approval was checked outside of its transaction. */
interface Ready {
  readonly approving: Approving;
  readonly draft: PayoutDraft;
  readonly recipient: Recipient;
  readonly checked: Checked;
  readonly since_ms: number;
}

/** Checks an approval: the draft, its recipient, the lists and the bank. Nothing is written but a refusal. */
const prepare = async (
  deps: DraftDeps,
  acting: PersonActing,
  { merchantId, id, cardPan, policies }: ApprovalRequest,
): Promise<Ready | ApprovedDraft | Refusal> => {
  const since_ms = performance.now();
  const [draft] = await payoutDrafts.load(deps.database.pool, [{ merchantId, id }]);
  if (!draft) return noDraft;
  const at = await deps.clocks.timeOf({ kind: 'shop', ...draft });
  const approving = { acting, at };
  const status = approval(draft, { subject: acting.principal.subject, at });
  if (status === 'again') return again(deps, draft);
  if (typeof status === 'object') return status;
  const recipient = draftRecipient(deps, draft, cardPan);
  if (isRefusal(recipient)) return recipient;
  const bank = await payoutBank(deps.banks, draft, draft.method);
  const checking = { policies, merchantId, bank, log: deps.log };
  const checked = await checkRecipient(checking, recipient);
  if (isRefusal(checked))
    return noteRefusal(payoutDrafts, deps.database.pool, approving, draft, checked);
  return { approving, draft, recipient, checked, since_ms };
};

/** Decides a checked draft and makes its payout; a card's goes to the bank at once. */
const settle = async (
  deps: DraftDeps,
  { approving, draft, recipient, checked, since_ms }: Ready,
): Promise<ApprovedDraft | Refusal> => {
  const { acting, at } = approving;
  const terms = termsOf(draft, recipient);
  const opened = await withinBound(open(deps, approving, draft, { terms, checked }), beyondBound);
  // The balance's bound was reached, and the transaction was rolled back.
  if (isRefusal(opened))
    return noteRefusal(payoutDrafts, deps.database.pool, approving, draft, opened);
  if ('refusal' in opened) return opened.refusal;
  if (!opened.payout) return again(deps, opened.draft);
  const now = draft.mode === 'live' ? acting.now : () => at;
  const payout =
    recipient.way === 'card' && opened.payout.status === 'pending'
      ? await payCard(deps, checked.bank, { payout: opened.payout, recipient, since_ms, now })
      : opened.payout;
  return { draft: opened.draft, payout, replayed: false };
};

/**
 * Approves a draft; returns it with its payout. Repeated by the same person, it returns the current
 * payout. Refuses with `not_found`, `scope_required` (the proposer), `not_pending`, `bad_request`
 * (a card's number), and, leaving the draft pending with the refusal: `aml_blocked`,
 * `live_not_enabled`, `route_not_configured`, `method_unsupported`, `insufficient_balance`.
 */
export const approveDraft = async (
  deps: DraftDeps,
  acting: PersonActing,
  request: ApprovalRequest,
): Promise<ApprovedDraft | Refusal> => {
  const ready = await prepare(deps, acting, request);
  return 'checked' in ready ? settle(deps, ready) : ready;
};

/** Drafts whose recipients are checked at once: each may need a bank query. */
const checked_max = 20;

/**
 * Approves drafts of a merchant in their order, each in a transaction of its own; returns for each
 * what `approveDraft` returns. A draft of a card is refused: its number is not given.
 */
export const approveDrafts = async (
  deps: DraftDeps,
  acting: PersonActing,
  {
    ids,
    ...request
  }: Omit<ApprovalRequest, 'id' | 'cardPan'> & { readonly ids: readonly string[] },
): Promise<readonly (ApprovedDraft | Refusal)[]> => {
  const answers: (ApprovedDraft | Refusal)[] = [];
  for (let from = 0; from < ids.length; from += checked_max) {
    const some = ids.slice(from, from + checked_max);
    const prepared = await Promise.all(
      some.map((id) => prepare(deps, acting, { ...request, id, cardPan: null })),
    );
    // One after another: the first ones are paid where the balance does not cover all.
    for (const ready of prepared)
      answers.push('checked' in ready ? await settle(deps, ready) : ready);
  }
  return answers;
};
