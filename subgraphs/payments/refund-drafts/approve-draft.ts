/**
 * Approves a proposed refund and orders it at the bank. The refund has the draft's id and is
 * created in the transaction that decides the draft, under the locks of the payment and the draft,
 * so concurrent approvals create one refund. A crash before the bank's answer leaves a pending
 * refund, which the sweep orders. A refusal is stored with the draft, which stays pending.
 */
import type { TestClocks } from '../../platform/clock/test-clocks.ts';
import { writeEntries } from '../../platform/database/audit.ts';
import type { RowKey } from '../../platform/database/batch-calls.ts';
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
import { isRefusal, type Refusal } from '../../rules/refusal.ts';
import { loadRefunds } from '../find-payments.ts';
import { lockPayment, storeLocked } from '../lock-payment.ts';
import type { PaymentsDeps } from '../parts.ts';
import type { Refund, RefundDraft } from '../entities.ts';
import { decideRefund, beyondBound } from '../refunds/refund-payment.ts';
import { sendRefund } from '../refunds/send-refund.ts';
import { refundDrafts } from './create-draft.ts';

/** What approving needs. */
type ApprovingDeps = Pick<PaymentsDeps, 'database' | 'banks'> & {
  readonly clocks: Pick<TestClocks, 'timeOf'>;
};

/** The result of an approval in a transaction; `refund` is null when it was approved before. */
type Opened =
  | { readonly draft: RefundDraft; readonly refund: Refund | null }
  | { readonly refusal: Refusal };

const open = (
  { database: { pool }, banks }: ApprovingDeps,
  approving: Approving,
  { merchantId, id, paymentId }: RefundDraft,
): Promise<Opened> =>
  inTransaction(pool, async (client): Promise<Opened> => {
    const { acting, at } = approving;
    const { principal, requestId } = acting;
    const locked = await lockPayment(client, { merchantId, paymentId }, at);
    const draft = await refundDrafts.lock(client, { merchantId, id });
    if (!locked || !draft) return { refusal: noDraft };
    const status = approval(draft, { subject: principal.subject, at });
    if (status === 'again') return { draft, refund: null };
    if (typeof status === 'object') return { refusal: status };
    const { shopId, mode, amount, reason, receiptTermsId } = draft;
    const opened = await decideRefund(client, locked, {
      caller: { kind: 'person', principal, merchantId, shopId, mode },
      banks,
      paymentId,
      amount,
      reason,
      metadata: null,
      receipt: receiptTermsId === null ? null : 'written',
      requestId,
      resourceId: id,
      at,
    });
    if (isRefusal(opened)) {
      await keepRefusal(refundDrafts, client, approving, draft, opened);
      return { refusal: opened };
    }
    await storeLocked(client, locked, opened.change, at);
    await writeEntries(client, [opened.entry]);
    const after = await keepApproval(refundDrafts, client, approving, draft);
    await rememberTrace(client, { merchantId, subjectId: id });
    return { draft: after, refund: opened.refund };
  });

const again = async ({ database }: ApprovingDeps, draft: RefundDraft) => {
  const [refund] = await loadRefunds(database.pool, [draft]);
  if (!refund) throw new Error(`draft ${draft.id} was approved and has no refund`);
  return { draft, refund, replayed: true };
};

/**
 * Approves a draft; returns it with its refund, once the bank was asked. Repeated by the same
 * person (`replayed`), it returns the refund as it is. Refuses with `not_found`, `scope_required` (the
 * proposer), `not_pending`, and, leaving the draft pending with the refusal, as a refund does.
 */
export const approveRefundDraft = async (
  deps: ApprovingDeps,
  acting: PersonActing,
  key: RowKey,
) => {
  const { database, banks, clocks } = deps;
  const [draft] = await refundDrafts.load(database.pool, [key]);
  if (!draft) return noDraft;
  const { merchantId, id } = draft;
  const at = await clocks.timeOf({ kind: 'shop', ...draft });
  const approving = { acting, at };
  const status = approval(draft, { subject: acting.principal.subject, at });
  if (status === 'again') return again(deps, draft);
  if (typeof status === 'object') return status;
  const opened = await withinBound(open(deps, approving, draft), beyondBound);
  // The balance's bound was reached, and the transaction was rolled back.
  if (isRefusal(opened)) return noteRefusal(refundDrafts, database.pool, approving, draft, opened);
  if ('refusal' in opened) return opened.refusal;
  if (!opened.refund) return again(deps, opened.draft);
  const sent = await sendRefund(database, banks, { merchantId, refundId: id }, at);
  return { draft: opened.draft, refund: sent ?? opened.refund, replayed: false };
};
