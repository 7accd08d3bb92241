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
import { beyondBound, type Draft, openPayouts } from './open-payouts.ts';
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

/** The payout to create for a valid item, and the bank that sends it. */
interface Ready {
  readonly draft: Draft;
  readonly bank: Bank;
}

/** A valid item, or what is wrong with it. */
interface Item {
  readonly index: number;
  readonly amount: bigint;
  /** Of its own key; null without a key. */
  readonly claim: IdempotencyClaim | null;
  readonly id: string;
  readonly ready: Ready | Failure;
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

const readyOf = (checked: Checked | Refusal, id: string, terms: PayoutTerms): Item['ready'] => {
  if (isRefusal(checked)) return failureOf(checked);
  const { bank, refusedAs } = checked;
  if (refusedAs) return bankFailure(refusedAs);
  return { draft: { id, terms, connector: bank.connector, refusedAs }, bank };
};

const readItem = async (
  { parts, creating, method, bank, claim }: Batch,
  input: PayoutInput,
  index: number,
): Promise<Item> => {
  const meaning = JSON.stringify(['payoutBatchItem', method, input], (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );
  const id = newRowId();
  const base = {
    index,
    amount: input.amount,
    claim: claim && {
      ...claim,
      key: `${claim.key}:${index}`,
      ...keyedFingerprints(parts.fingerprintKey, meaning),
    },
    id,
  };
  const terms = payoutTerms(method, input);
  if (isRefusal(terms)) return { ...base, ready: failureOf(terms) };
  const checked = await checkRecipient(
    { policies: creating.policies, merchantId: creating.key.merchantId, bank, log: parts.log },
    terms.recipient,
  );
  return { ...base, ready: readyOf(checked, id, terms) };
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

interface Page {
  readonly made: readonly Made[];
  readonly replayed: boolean;
}

const openPage = async (
  client: pg.PoolClient,
  { claim, batchId, creating: { key: caller }, method }: Batch,
  items: readonly Item[],
  at: Temporal.Instant,
): Promise<Page | Refusal> => {
  const claims = items.flatMap((item) =>
    item.claim ? [{ ...item.claim, resourceId: item.id }] : [],
  );
  const taken = claim
    ? await claimPage(client, caller, [{ ...claim, resourceId: batchId }, ...claims], at)
    : new Map<string, string | Refusal>();
  const earlier = claim ? taken.get(claim.key) : undefined;
  if (typeof earlier === 'object') return earlier;
  const takenBy = (item: Item): string | Refusal | undefined => taken.get(item.claim?.key ?? '');
  const drafts = items.flatMap((item) =>
    'draft' in item.ready && takenBy(item) === undefined ? [item.ready.draft] : [],
  );
  const opened = await openPayouts(client, caller, method, drafts, at);
  if (isRefusal(opened)) return opened;
  const made = items.map((item): Made => {
    const resourceId = takenBy(item);
    if (typeof resourceId === 'string') return { duplicateOf: resourceId };
    if (resourceId) return failureOf(resourceId);
    if (!('draft' in item.ready)) return item.ready;
    const one = opened.get(item.id);
    if (!one) throw new Error(`payout ${item.id} was asked for and not answered`);
    return isRefusal(one) ? failureOf(one) : { payout: one };
  });
  // What made no payout leaves its key free.
  const unused = items.flatMap((item, place) =>
    item.claim && takenBy(item) === undefined && !isPayout(made[place]) ? [item.claim.key] : [],
  );
  await releaseKeys(client, caller, unused);
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
    if (!isPayout(one) || !('draft' in ready)) return;
    const { recipient } = ready.draft.terms;
    if (recipient.way === 'card')
      await payCard(parts, ready.bank, { payout: one.payout, recipient, since_ms, now });
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
