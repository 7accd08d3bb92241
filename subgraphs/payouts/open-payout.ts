/**
 * Creates a payout once for its idempotency key. Concurrent payouts of one merchant share a
 * transaction: the merchant's row is locked once, and the available balance is allocated in order.
 */
import type pg from 'pg';
import { releaseKeys, tryClaims, type CallClaim } from '../platform/database/claim-page.ts';
import { batched } from '../platform/database/batch-calls.ts';
import { createOnce, type Created } from '../platform/database/idempotency.ts';
import { inTransaction, unlessHeld } from '../platform/database/statement.ts';
import { rememberTrace } from '../platform/database/subject-trace.ts';
import { modes } from '../rules/mode.ts';
import { isRefusal, refuse, type Refusal } from '../rules/refusal.ts';
import type { KeyPrincipal } from '../platform/access/principal.ts';
import type { Payout } from './entities.ts';
import { loadPayouts } from './find-payouts.ts';
import { openPayouts, type Draft } from './open-payouts.ts';
import type { PayoutMethod } from './rules/payout.ts';

/** A payout requested by a key. */
interface PayoutOpening extends Omit<CallClaim, 'caller'> {
  readonly caller: KeyPrincipal;
  readonly method: PayoutMethod;
  /** The created payout, or the refusal. */
  readonly draft: Draft | Refusal;
}

type Answer = Created<Payout> | Refusal | 'left';

const openOne = async (
  client: pg.PoolClient,
  { caller, method, draft, at }: PayoutOpening,
): Promise<Payout | Refusal> => {
  // A repeated call still finds an earlier payout, whatever would refuse it now.
  if (isRefusal(draft)) return draft;
  const opened = await openPayouts(client, caller, method, [draft], at);
  return isRefusal(opened) ? opened : (opened[0] ?? refuse('bad_request', 'nothing to pay out'));
};

const openAlone = (pool: pg.Pool, opening: PayoutOpening): Promise<Created<Payout> | Refusal> => {
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
): Promise<readonly (readonly [string, Answer])[]> => {
  const [first] = group;
  if (!first) return [];
  const drafts = group.flatMap(({ draft }) => (isRefusal(draft) ? [] : [draft]));
  const opened =
    drafts.length === 0
      ? []
      : await openPayouts(client, first.caller, first.method, drafts, first.at);
  const made = new Map(
    drafts.map(({ id }, place) => [id, isRefusal(opened) ? opened : opened[place]]),
  );
  return group.map(({ draft, resourceId }) => {
    const one = isRefusal(draft) ? draft : made.get(resourceId);
    if (!one) return [resourceId, 'left'];
    return [resourceId, isRefusal(one) ? one : { made: one, replayed: false }];
  });
};

const openTogether = (
  pool: pg.Pool,
  openings: readonly PayoutOpening[],
): Promise<readonly Answer[]> =>
  inTransaction(pool, async (client) => {
    const free = await tryClaims(client, openings);
    const mine = openings.filter(({ resourceId }) => free.has(resourceId));
    const answers = new Map<string, Answer>();
    for (const group of Map.groupBy(mine, groupOf).values())
      for (const [id, answer] of await openGroup(client, group)) answers.set(id, answer);
    // A refused payout releases its key.
    for (const mode of modes) {
      const unused = mine.filter(({ caller, resourceId }) => {
        const answer = answers.get(resourceId);
        return caller.mode === mode && (!answer || answer === 'left' || isRefusal(answer));
      });
      const keys = unused.flatMap(({ claim }) => (claim ? [claim.key] : []));
      if (unused[0]) await releaseKeys(client, unused[0].caller, keys);
    }
    return openings.map(({ resourceId }) => answers.get(resourceId) ?? 'left');
  });

/** Returns `left` for payouts that a batch did not decide because their key is taken. */
const openGathered = batched<PayoutOpening, Answer>({
  name: 'payout.open',
  callerOf: ({ caller }) => caller.merchantId,
  perCaller: true,
  // Concurrent batches would wait for each other at the merchant's row.
  inFlight: 1,
  run: unlessHeld(openTogether),
});

/**
 * Creates a payout of the caller's shop, or finds the one that an earlier call with the same
 * idempotency key created. Refuses as the draft does, with `insufficient_balance`, `not_found` (the
 * shop), or about the key, and then creates nothing. Rejects when a balance would pass its bound
 * (`ledger/bound`).
 */
export const openPayout = async (
  pool: pg.Pool,
  opening: PayoutOpening,
): Promise<Created<Payout> | Refusal> => {
  const opened = await openGathered(pool, opening);
  // Outside the batches, so that waiting for the key does not delay them.
  if (opened === 'left') return openAlone(pool, opening);
  const { merchantId } = opening.caller;
  if (!isRefusal(opened) && !opened.replayed)
    await rememberTrace(pool, { merchantId, subjectId: opened.made.id });
  return opened;
};
