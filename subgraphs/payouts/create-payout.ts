/**
 * Creates a payout (docs/contract.md#payout-reservation). The payout is written and its money
 * reserved before the bank is called. Workers send SBP and account payouts after the commit. A card
 * number may not be stored, so this call sends a card payout itself, once; `lostCard_s` in
 * `rules/payout` covers calls that did not finish.
 */
import { createHmac } from 'node:crypto';
import type pg from 'pg';
import type { Bank } from '../acquirers/bank.ts';
import { withinBound } from '../ledger/balance.ts';
import { payoutScopes } from '../platform/access/access.ts';
import { allKeys, type Keys } from '../platform/access/keys.ts';
import type { KeyPrincipal } from '../platform/access/principal.ts';
import { batched } from '../platform/database/batch-calls.ts';
import { releaseUnused, tryClaims } from '../platform/database/claim-page.ts';
import {
  answerUnderKey,
  claimOf,
  type CallClaim,
  type IdempotencyArgument,
  type IdempotencyClaim,
  createOnce,
  type Created,
} from '../platform/database/idempotency.ts';
import { newRowId, inTransaction, unlessHeld } from '../platform/database/statement.ts';
import { rememberTrace } from '../platform/database/subject-trace.ts';
import type { PolicyLists } from '../platform/policies/policies.ts';
import type { CardRecipient } from '../rules/recipient.ts';
import { isRefusal, refuse, type Refusal } from '../rules/refusal.ts';
import { payoutTerms, type PayoutInput } from './rules/create.ts';
import { callDeadline_s, type PayoutMethod } from './rules/payout.ts';
import { applyPayoutAnswer } from './apply-payout-answer.ts';
import { checkRecipient, payoutBank } from './check-draft.ts';
import type { Payout } from './entities.ts';
import { loadPayouts } from './find-payouts.ts';
import { beyondBound, type Draft, openPayouts } from './open-payouts.ts';
import { orderPayout, type OrderingDeps } from './order-payout.ts';

export interface CreatingDeps extends OrderingDeps {
  /** Makes keyed digests. */
  readonly fingerprintKey: Keys;
}

/** The caller, the lists, and the time. */
export interface Creating {
  readonly key: KeyPrincipal;
  readonly policies: PolicyLists;
  readonly now: () => Temporal.Instant;
}

type Answer = Created<Payout> | Refusal;

/** `scope_required` when the key's scopes do not allow the payout; otherwise null. */
export const lacksScope = ({ scopes }: KeyPrincipal, method: PayoutMethod): Refusal | null =>
  scopes.includes(payoutScopes[method])
    ? null
    : refuse('scope_required', `the key lacks the scope ${payoutScopes[method]}`);

/** A plain digest of a body with a card number could be reversed by trying all numbers. */
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

// Creates a payout once for its idempotency key. Concurrent payouts of one merchant share a
// transaction: the merchant's row is locked once, and the available balance is allocated in order.

interface PayoutOpening extends Omit<CallClaim, 'caller'> {
  readonly caller: KeyPrincipal;
  readonly method: PayoutMethod;
  readonly draft: Draft | Refusal;
}

const openOne = async (
  client: pg.PoolClient,
  { caller, method, draft, at }: PayoutOpening,
): Promise<Payout | Refusal> => {
  // A repeated call still finds an earlier payout, whatever would refuse it now.
  if (isRefusal(draft)) return draft;
  const opened = await openPayouts(client, caller, method, [draft], at);
  return isRefusal(opened)
    ? opened
    : (opened.get(draft.id) ?? refuse('bad_request', 'nothing to pay out'));
};

const openAlone = (pool: pg.Pool, opening: PayoutOpening): Promise<Answer> => {
  const { merchantId } = opening.caller;
  const find = async (id: string): Promise<Payout | null> =>
    (await loadPayouts(pool, [{ merchantId, id }]))[0] ?? null;
  return createOnce(pool, { ...opening, find }, (client) => openOne(client, opening));
};

/** Of one shop, mode, method and currency, so that one balance check covers them all. */
const groupOf = ({ caller: { shopId, mode }, method, draft }: PayoutOpening): string =>
  [shopId, mode, method, isRefusal(draft) ? '' : draft.terms.currency].join(' ');

const openGroup = async (
  client: pg.PoolClient,
  group: readonly PayoutOpening[],
): Promise<readonly (readonly [string, Answer | 'left'])[]> => {
  const [first] = group;
  if (!first) return [];
  const drafts = group.flatMap(({ draft }) => (isRefusal(draft) ? [] : [draft]));
  const opened = await openPayouts(client, first.caller, first.method, drafts, first.at);
  return group.map(({ draft, resourceId }) => {
    const made = isRefusal(opened) ? opened : opened.get(resourceId);
    const one = isRefusal(draft) ? draft : made;
    if (!one) return [resourceId, 'left'];
    return [resourceId, isRefusal(one) ? one : { made: one, replayed: false }];
  });
};

const openTogether = (
  pool: pg.Pool,
  openings: readonly PayoutOpening[],
): Promise<readonly (Answer | 'left')[]> =>
  inTransaction(pool, async (client) => {
    const free = await tryClaims(client, openings);
    const mine = openings.filter(({ resourceId }) => free.has(resourceId));
    const answers = new Map<string, Answer | 'left'>();
    for (const group of Map.groupBy(mine, groupOf).values())
      for (const [id, answer] of await openGroup(client, group)) answers.set(id, answer);
    // A refused payout releases its key.
    const unused = mine.filter(({ resourceId }) => {
      const answer = answers.get(resourceId);
      return !answer || answer === 'left' || isRefusal(answer);
    });
    await releaseUnused(client, unused);
    return openings.map(({ resourceId }) => answers.get(resourceId) ?? 'left');
  });

const openGathered = batched<PayoutOpening, Answer>({
  name: 'payout.open',
  callerOf: ({ caller }) => caller.merchantId,
  // Concurrent batches would wait for each other at the merchant's row.
  inFlight: 1,
  run: unlessHeld(openTogether),
  alone: openAlone,
});

/**
 * Creates a payout of the caller's shop, or finds the one that an earlier call with the same
 * idempotency key created. Refuses as the draft does, with `insufficient_balance`, `not_found` (the
 * shop), or about the key, and then creates nothing. Rejects when a balance would pass its bound
 * (`ledger/balance`).
 */
const openPayout = async (pool: pg.Pool, opening: PayoutOpening): Promise<Answer> => {
  const { caller, resourceId: subjectId } = opening;
  await rememberTrace(pool, { merchantId: caller.merchantId, subjectId });
  return openGathered(pool, opening);
};

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
): Promise<Answer> => {
  const since_ms = performance.now();
  const { key, now } = creating;
  const method = input.method ?? 'payouts_sbp';
  const lack = lacksScope(key, method);
  if (lack) return lack;
  const claim = claimOf(idempotency, 'payoutCreate', input, method === 'payouts_card');
  if (isRefusal(claim)) return claim;
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
  if (isRefusal(created) || created.replayed || isRefusal(ready)) return created;
  const { recipient } = terms;
  // Workers send the other methods to the bank, even if the call is repeated meanwhile.
  const payout =
    recipient.way === 'card'
      ? await answerUnderKey(pool, claimed, () =>
          payCard(deps, ready.bank, { payout: created.made, recipient, since_ms, now }),
        )
      : created.made;
  return payout.failReason === 'bank_unknown'
    ? routerError(payout)
    : { made: payout, replayed: false };
};
