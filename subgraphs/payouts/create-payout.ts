/**
 * Creates a payout (docs/contract.md#payout-reservation). The payout is written and its money
 * reserved before the bank is called. Workers send SBP and account payouts after the commit. A card
 * number may not be stored, so this call sends a card payout itself, once; `lostCard_s` in
 * `rules/payout` covers calls that did not finish.
 */
import { createHmac } from 'node:crypto';
import { newRowId } from '../platform/database/new-id.ts';
import type { Bank } from '../acquirers/bank.ts';
import type { Banks } from '../acquirers/route.ts';
import {
  answerUnderKey,
  claimOf,
  type IdempotencyArgument,
  type IdempotencyClaim,
} from '../platform/database/idempotency.ts';
import type { Database } from '../platform/database/orm.ts';
import { withinBound } from '../ledger/bound.ts';
import type { PolicyLists } from '../platform/policies/policies.ts';
import type { CardRecipient } from '../rules/recipient.ts';
import { isRefusal, refuse, type Refusal } from '../rules/refusal.ts';
import { payoutScopes } from '../platform/access/access.ts';
import type { KeyPrincipal } from '../platform/access/principal.ts';
import type { Logger } from '../platform/tracing/telemetry.ts';
import { applyPayoutAnswer } from './apply-payout-answer.ts';
import { checkRecipient, payoutBank } from './check-draft.ts';
import type { Payout } from './entities.ts';
import { openPayout } from './open-payout.ts';
import { beyondBound, type Draft } from './open-payouts.ts';
import { payoutTerms, type PayoutInput } from './rules/create.ts';
import { callDeadline_s, type PayoutMethod } from './rules/payout.ts';
import { orderPayout } from './order-payout.ts';
import { allKeys, type Keys } from '../platform/access/keys.ts';

export interface CreatingDeps {
  readonly database: Database;
  readonly banks: Banks;
  readonly log: Logger;
  /** Makes keyed digests. */
  readonly fingerprintKey: Keys;
}

/** The caller, the lists, and the time. */
export interface Creating {
  readonly key: KeyPrincipal;
  readonly policies: PolicyLists;
  readonly now: () => Temporal.Instant;
}

export interface CreatedPayout {
  readonly payout: Payout;
  /** Whether an earlier call with the same key created it. */
  readonly replayed: boolean;
}

/** `scope_required` when the key's scopes do not allow the payout; otherwise null. */
export const lacksScope = ({ scopes }: KeyPrincipal, method: PayoutMethod): Refusal | null =>
  scopes.includes(payoutScopes[method])
    ? null
    : refuse('scope_required', `the key lacks the scope ${payoutScopes[method]}`);

/**
 * The stored claim: a plain digest of a body with a card number could be reversed by trying all
 * numbers.
 */
export const keyedClaim = (
  { fingerprintKey }: Pick<CreatingDeps, 'fingerprintKey'>,
  claim: IdempotencyClaim,
): IdempotencyClaim => ({
  ...claim,
  ...keyedFingerprints(fingerprintKey, claim.fingerprint),
});

/** A keyed digest of `meaning`, and those made with earlier keys. */
export const keyedFingerprints = (
  keys: Keys,
  meaning: string,
): Required<Omit<IdempotencyClaim, 'key' | 'request' | 'asksLater'>> => {
  const [fingerprint, ...earlierFingerprints] = allKeys(keys).map((key) =>
    createHmac('sha256', key).update(meaning).digest('hex'),
  );
  return { fingerprint: fingerprint ?? '', earlierFingerprints };
};

/**
 * Sends a card payout to its bank, in this process. `since_ms` is when its creation began, by
 * performance.now(): a process that was suspended since then must not pay what has meanwhile been
 * declared unsent.
 */
export const payCard = async (
  deps: CreatingDeps,
  bank: Bank,
  {
    payout,
    recipient,
    since_ms,
    now,
  }: { payout: Payout; recipient: CardRecipient; since_ms: number; now: () => Temporal.Instant },
): Promise<Payout> => {
  if (performance.now() - since_ms > callDeadline_s * 1_000) return payout;
  const ordered = await orderPayout(deps, bank, { payout, recipient, isFirst: true, now });
  return applyPayoutAnswer(deps.database, ordered.payout, ordered.answer, now());
};

/** The failed payout stays; its id or a replay of its key reads it. */
const routerError = ({ id }: Payout): Refusal =>
  refuse(
    'router_error',
    `the bank could not route the payout: the recipient's bank is unknown to it, or its router failed; payout ${id} has failed`,
  );

/**
 * Creates a payout of the key's shop, or finds the one that an earlier call with the same
 * idempotency key created, after the bank has answered. Refuses with `bad_request`,
 * `scope_required`, `aml_blocked`, `route_not_configured`, `method_unsupported`,
 * `insufficient_balance`, about the key, or, leaving a failed payout, with `router_error`.
 */
export const createPayout = async (
  deps: CreatingDeps,
  creating: Creating,
  input: PayoutInput,
  idempotency: IdempotencyArgument,
): Promise<CreatedPayout | Refusal> => {
  const since_ms = performance.now();
  const { key, now } = creating;
  const method = input.method ?? 'payouts_sbp';
  const lack = lacksScope(key, method);
  if (lack) return lack;
  const claim = claimOf(idempotency, 'payoutCreate', input, method === 'payouts_card');
  if (claim && isRefusal(claim)) return claim;
  const terms = payoutTerms(method, input);
  if (isRefusal(terms)) return terms;
  const bank = await payoutBank(deps.banks, key, method);
  const ready = await checkRecipient(
    { policies: creating.policies, merchantId: key.merchantId, bank, log: deps.log },
    terms.recipient,
  );
  const id = newRowId();
  const draft: Draft | Refusal = isRefusal(ready)
    ? ready
    : { id, terms, connector: ready.bank.connector, refusedAs: ready.refusedAs };
  const { pool } = deps.database;
  const claimed = { caller: key, claim: claim && keyedClaim(deps, claim), resourceId: id };
  const making = openPayout(pool, { ...claimed, at: now(), method, draft });
  const created = await withinBound(making, beyondBound);
  if (isRefusal(created)) return created;
  if (created.replayed || isRefusal(ready))
    return { payout: created.made, replayed: created.replayed };
  const { recipient } = terms;
  // Workers send the other methods to the bank, even if the call is repeated meanwhile.
  const payout =
    recipient.way === 'card'
      ? await answerUnderKey(pool, claimed, () =>
          payCard(deps, ready.bank, { payout: created.made, recipient, since_ms, now }),
        )
      : created.made;
  return payout.failReason === 'bank_unknown' ? routerError(payout) : { payout, replayed: false };
};
