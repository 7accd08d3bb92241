/**
 * Creates a batch of payouts (docs/contract.md#payout-batches). Each item is independent, with its
 * own idempotency key. The batch is written in pages, each in one transaction of a few statements.
 * If a page fails, the earlier ones stay, and sending the batch again completes it.
 */
import type { PayoutBatchItem } from '../../schema/generated/payouts.ts';
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { isBeyondBound } from '../ledger/balance.ts';
import { claimPage, releaseKeys } from '../platform/database/claim-page.ts';
import {
  claimOf,
  type IdempotencyArgument,
  type IdempotencyClaim,
} from '../platform/database/idempotency.ts';
import { inTransaction, isLockTimeout, newRowId } from '../platform/database/statement.ts';
import { isRefusal, refuse, type Refusal } from '../rules/refusal.ts';
import { payoutBank, checkRecipient, type Checked } from './check-draft.ts';
import {
  keyedClaim,
  lacksScope,
  payCard,
  type CreatingDeps,
  type Creating,
  keyedFingerprints,
} from './create-payout.ts';
import type { Payout } from './entities.ts';
import { beyondBound, openPayouts } from './open-payouts.ts';
import { type PayoutInput, payoutTerms, type PayoutTerms } from './rules/create.ts';
import type { PayoutMethod } from './rules/payout.ts';
import type { Bank } from '../acquirers/bank.ts';

/*
 * The items of a payout batch. Each is checked independently, and has its own idempotency key and
 * fingerprints.
 */

/** Concurrent bank queries. */
const concurrentItems_max = 20;

interface Failure {
  readonly code: string;
  readonly error: string;
}

/** A valid item, or what is wrong with it. */
interface Item {
  readonly index: number;
  readonly amount: bigint;
  /** Its own key; '' without a key. */
  readonly key: string;
  readonly fingerprint: string;
  readonly earlierFingerprints: readonly string[];
  readonly id: string;
  readonly ready: { readonly terms: PayoutTerms; readonly bank: Bank } | Failure;
}

interface Batch {
  readonly parts: CreatingDeps;
  readonly creating: Creating;
  readonly method: PayoutMethod;
  readonly bank: Bank | Refusal;
  readonly claim: IdempotencyClaim | null;
  /** The body under the batch's own key: it only records that this call was made. */
  readonly batchId: string;
}

const failureOf = ({ code, message }: Refusal): Failure => ({ code, error: message });

const bankFailure = (code: string): Failure =>
  code === 'bank_unknown'
    ? { code, error: "the recipient's bank is unknown to the bank's router, or the router failed" }
    : { code, error: `the bank refused the recipient: ${code}` };

const readyOf = (checked: Checked | Refusal, terms: PayoutTerms): Item['ready'] => {
  if (isRefusal(checked)) return failureOf(checked);
  return checked.refusedAs ? bankFailure(checked.refusedAs) : { terms, bank: checked.bank };
};

const readItem = async (
  { parts, creating, method, bank, claim }: Batch,
  input: PayoutInput,
  index: number,
): Promise<Item> => {
  const meaning = JSON.stringify(['payoutBatchItem', method, input], (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );
  const fingerprints = claim
    ? keyedFingerprints(parts.fingerprintKey, meaning)
    : { fingerprint: '', earlierFingerprints: [] };
  const base = {
    index,
    amount: input.amount,
    key: claim ? `${claim.key}:${index}` : '',
    ...fingerprints,
    id: newRowId(),
  };
  const terms = payoutTerms(method, input);
  if (isRefusal(terms)) return { ...base, ready: failureOf(terms) };
  const checked = await checkRecipient(
    { policies: creating.policies, merchantId: creating.key.merchantId, bank, log: parts.log },
    terms.recipient,
  );
  return { ...base, ready: readyOf(checked, terms) };
};

/** Reads the items from `from` on, a few at a time: each may need a bank query. */
const readItems = async (
  batch: Batch,
  inputs: readonly PayoutInput[],
  from: number,
): Promise<readonly Item[]> => {
  const items: Item[] = [];
  for (let place = 0; place < inputs.length; place += concurrentItems_max) {
    const some = inputs.slice(place, place + concurrentItems_max);
    items.push(
      ...(await Promise.all(
        some.map((input, offset) => readItem(batch, input, from + place + offset)),
      )),
    );
  }
  return items;
};

const batch_max_items = 1_000;
/** Items of one transaction. The merchant's row is locked for that long. */
const page_items = 100;
/** A page of cards is no larger than the concurrency of bank calls: no card number is queued. */
const cardPage_items = 20;
export interface CreatedBatch {
  readonly results: readonly PayoutBatchItem[];
  /** Whether an earlier call used the same key. */
  readonly replayed: boolean;
}

type Made = { readonly payout: Payout } | { readonly duplicateOf: string } | Failure;

/** An item's result from an earlier call; undefined when there was none. */
const earlierOf = (
  taken: ReadonlyMap<string, string | Refusal>,
  { key }: Item,
): Made | undefined => {
  const earlier = taken.get(key);
  if (earlier === undefined) return undefined;
  return typeof earlier === 'string' ? { duplicateOf: earlier } : failureOf(earlier);
};

interface Page {
  readonly made: readonly Made[];
  readonly replayed: boolean;
}

/** Creates the payouts of valid new items. */
const openItems = async (
  client: pg.PoolClient,
  { creating: { key }, method }: Batch,
  items: readonly Item[],
  at: Temporal.Instant,
): Promise<readonly Made[] | Refusal> => {
  const drafts = items.flatMap(({ id, ready }) =>
    'terms' in ready
      ? [{ id, terms: ready.terms, connector: ready.bank.connector, refusedAs: null }]
      : [],
  );
  const opened = await openPayouts(client, key, method, drafts, at);
  if (isRefusal(opened)) return opened;
  return items.map(({ id, ready }) => {
    if (!('terms' in ready)) return ready;
    const one = opened.get(id);
    if (!one) throw new Error(`payout ${id} was asked for and not answered`);
    return isRefusal(one) ? failureOf(one) : { payout: one };
  });
};

const openPage = async (
  client: pg.PoolClient,
  batch: Batch,
  items: readonly Item[],
  at: Temporal.Instant,
): Promise<Page | Refusal> => {
  const { claim, batchId, creating } = batch;
  const claims = items.map(({ key, fingerprint, earlierFingerprints, id: resourceId }) => ({
    key,
    fingerprint,
    earlierFingerprints,
    request: claim?.request ?? '',
    asksLater: false,
    resourceId,
  }));
  const taken = claim
    ? await claimPage(client, creating.key, [{ ...claim, resourceId: batchId }, ...claims], at)
    : new Map<string, string | Refusal>();
  const earlier = claim ? taken.get(claim.key) : undefined;
  if (typeof earlier === 'object') return earlier;
  const fresh = items.filter(({ key }) => !taken.has(key));
  const opened = await openItems(client, batch, fresh, at);
  if (isRefusal(opened)) return opened;
  const freshMade = new Map(fresh.map(({ index }, place) => [index, opened[place]]));
  const left = fresh.filter((_, place) => !isPayout(opened[place]));
  if (claim) {
    await releaseKeys(
      client,
      creating.key,
      left.map(({ key }) => key),
    );
  }
  const made = items.flatMap((item) => freshMade.get(item.index) ?? earlierOf(taken, item) ?? []);
  return { made, replayed: earlier !== undefined && earlier !== batchId };
};

const isPayout = (made: Made | undefined): made is { readonly payout: Payout } =>
  made !== undefined && 'payout' in made;

/** A page without new payouts stores nothing, not even the batch's own key. */
const isKept = (page: Page | Refusal): boolean => !isRefusal(page) && page.made.some(isPayout);

const makePage = async (batch: Batch, items: readonly Item[]): Promise<Page | Refusal> => {
  const at = batch.creating.now();
  try {
    return await inTransaction(
      batch.parts.database.pool,
      (client) => openPage(client, batch, items, at),
      isKept,
    );
  } catch (error) {
    // An identical batch is processing this page.
    if (batch.claim && isLockTimeout(error))
      return refuse(
        'idempotent_in_progress',
        'an earlier call with this Idempotency-Key is still running',
      );
    if (isBeyondBound(error))
      return { made: items.map(() => failureOf(beyondBound)), replayed: false };
    throw error;
  }
};

/**
 * Sends the card payouts of a page to the bank. The items count as created whatever the bank
 * answers; the outcomes arrive by webhook.
 */
const payCards = async (
  { parts, creating: { now } }: Batch,
  items: readonly Item[],
  made: readonly Made[],
  since_ms: number,
): Promise<void> => {
  const calls = items.map(async ({ ready }, place) => {
    const one = made[place];
    if (!isPayout(one) || !('terms' in ready) || ready.terms.recipient.way !== 'card') return;
    await payCard(parts, ready.bank, {
      payout: one.payout,
      recipient: ready.terms.recipient,
      since_ms,
      now,
    });
  });
  const failed = (await Promise.allSettled(calls)).find((call) => call.status === 'rejected');
  if (failed) throw failed.reason;
};

const resultOf = (
  method: PayoutMethod,
  { index, amount }: Item,
  made: Made | undefined,
): PayoutBatchItem => {
  const base = { index, method, amount, payoutId: null, code: null, error: null };
  if (!made) throw new Error(`item ${index} came to nothing`);
  if ('payout' in made) return { ...base, status: 'created', payoutId: made.payout.id };
  if ('duplicateOf' in made) return { ...base, status: 'duplicate', payoutId: made.duplicateOf };
  return { ...base, status: 'failed', ...made };
};

/**
 * Creates payouts of one method for the key's shop; returns a result for each item, in order.
 * Refuses as a whole with `bad_request`, `scope_required`, or about the key; other errors fail only
 * their item.
 */
export const createPayoutBatch = async (
  deps: CreatingDeps,
  creating: Creating,
  {
    method,
    items: inputs,
  }: { readonly method: PayoutMethod; readonly items: readonly PayoutInput[] },
  idempotency: IdempotencyArgument,
): Promise<CreatedBatch | Refusal> => {
  const lack = lacksScope(creating.key, method);
  if (lack) return lack;
  if (inputs.length < 1 || inputs.length > batch_max_items) {
    return refuse(
      'bad_request',
      `items: expected an array of 1 to ${batch_max_items} items, got an array of ${inputs.length}`,
    );
  }
  const claim = claimOf(idempotency, 'payoutBatchCreate', { method, items: inputs });
  if (isRefusal(claim)) return claim;
  const bank = await payoutBank(deps.banks, creating.key, method);
  const batch: Batch = {
    parts: deps,
    creating,
    method,
    bank,
    claim: claim && keyedClaim(deps, claim),
    batchId: randomUUID(),
  };
  const size = method === 'payouts_card' ? cardPage_items : page_items;
  const results: PayoutBatchItem[] = [];
  let replayed = false;
  for (let from = 0; from < inputs.length; from += size) {
    const items = await readItems(batch, inputs.slice(from, from + size), from);
    const since_ms = performance.now();
    const page = await makePage(batch, items);
    if (isRefusal(page)) return page;
    await payCards(batch, items, page.made, since_ms);
    replayed ||= page.replayed;
    results.push(...items.map((item, place) => resultOf(method, item, page.made[place])));
  }
  return { results, replayed };
};
