/** Drafts of payouts on a migrated database: people who propose and approve them. */
import { rejectDraft, type PersonActing } from '../../subgraphs/platform/drafts/drafts.ts';
import type { PolicyLists } from '../../subgraphs/platform/policies/policies.ts';
import { noPolicies } from '../support/no-policies.ts';
import type { Refusal } from '../../subgraphs/rules/refusal.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import type { CreatingDeps } from '../../subgraphs/payouts/create-payout.ts';
import {
  approveDraft,
  approveDrafts,
  type ApprovedDraft,
} from '../../subgraphs/payouts/drafts/approve-draft.ts';
import {
  createDraft,
  type DraftDeps,
  payoutDrafts,
} from '../../subgraphs/payouts/drafts/create-draft.ts';
import type { PayoutDraft } from '../../subgraphs/payouts/entities.ts';
import type { PayoutInput } from '../../subgraphs/payouts/rules/create.ts';
import { granted } from '../support/granted.ts';
import { start, type Harness } from './harness.ts';

/** A person of the platform, at a moment. */
export const person = (subject: string, at: Temporal.Instant = start): PersonActing => ({
  principal: { kind: 'operator', subject, role: 'finance', merchantId: null },
  requestId: 'r',
  now: () => at,
});

/** The parts, at a moment. */
export const partsAt = (deps: CreatingDeps, at: Temporal.Instant = start): DraftDeps => ({
  ...deps,
  clocks: { timeOf: () => at },
});

/** What people do with drafts of a harness's merchants. */
export class Drafts {
  readonly harness: Harness;

  constructor(harness: Harness) {
    this.harness = harness;
  }

  /** Proposes a payout as `anna`. */
  async proposed(
    { merchantId, shopId, mode }: KeyPrincipal,
    input: PayoutInput,
    parts: CreatingDeps = this.harness.parts,
  ): Promise<PayoutDraft> {
    const asked = {
      merchantId,
      shopId,
      mode,
      input,
      recipientOf: null,
      batchId: null,
      reason: 'September',
      idempotency: null,
    };
    return granted(await createDraft(partsAt(parts), person('anna'), asked)).made;
  }

  approve(
    { merchantId, id }: Pick<PayoutDraft, 'merchantId' | 'id'>,
    subject: string,
    {
      at = start,
      cardPan = null,
      policies = noPolicies,
      parts = this.harness.parts,
    }: {
      at?: Temporal.Instant;
      cardPan?: string | null;
      policies?: PolicyLists;
      parts?: CreatingDeps;
    } = {},
  ): Promise<ApprovedDraft | Refusal> {
    const asked = { merchantId, id, cardPan, policies };
    return approveDraft(partsAt(parts, at), person(subject, at), asked);
  }

  /** Approves drafts of one merchant by one call. */
  approveAll(
    drafts: readonly Pick<PayoutDraft, 'merchantId' | 'id'>[],
    subject: string,
  ): Promise<readonly (ApprovedDraft | Refusal)[]> {
    const ids = drafts.map(({ id }) => id);
    const asked = { merchantId: drafts[0]?.merchantId ?? '', ids, policies: noPolicies };
    return approveDrafts(partsAt(this.harness.parts), person(subject), asked);
  }

  reject(
    { merchantId, id }: Pick<PayoutDraft, 'merchantId' | 'id'>,
    subject: string,
    reason = 'Not ours',
  ): Promise<PayoutDraft | Refusal> {
    const parts = { pool: this.harness.pool, clocks: { timeOf: () => start } };
    return rejectDraft(payoutDrafts, parts, person(subject), { merchantId, id, reason });
  }

  async find({ merchantId, id }: Pick<PayoutDraft, 'merchantId' | 'id'>): Promise<PayoutDraft> {
    const [draft] = await payoutDrafts.load(this.harness.pool, [{ merchantId, id }]);
    if (!draft) throw new Error(`there is no draft ${id}`);
    return draft;
  }

  /** The ids of a merchant's payouts. */
  async payouts({ merchantId }: KeyPrincipal): Promise<readonly string[]> {
    const { rows } = await this.harness.pool.query<{ id: string }>(
      'select id from payout where merchant_id = $1',
      [merchantId],
    );
    return rows.map(({ id }) => id);
  }

  /** What the audit log says was done to a draft, oldest first. */
  async log({ id }: Pick<PayoutDraft, 'id'>): Promise<readonly string[]> {
    const { rows } = await this.harness.pool.query<{ actor: string; action: string }>(
      'select actor, action from audit_entry where subject_id = $1 order by id',
      [id],
    );
    return rows.map(({ actor, action }) => `${actor} ${action}`);
  }
}
