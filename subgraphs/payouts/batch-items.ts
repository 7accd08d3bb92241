/**
 * The items of a payout batch. Each is checked independently, and has its own idempotency key and
 * fingerprints.
 */
import { newRowId } from '../kernel/database/new-id.ts';
import type { Bank } from '../kernel/banks/bank.ts';
import type { IdempotencyClaim } from '../kernel/database/idempotency.ts';
import { isRefused, type Refused } from '../kernel/rules/refusal.ts';
import { checkRecipient, type Checked } from './check-draft.ts';
import { keyedFingerprints, type CreatingParts, type Creating } from './create-payout.ts';
import { payoutTerms, type PayoutInput, type PayoutTerms } from './rules/create.ts';
import type { PayoutMethod } from './rules/payout.ts';

/** Concurrent bank queries. */
const concurrentItems_max = 20;

export interface Failure {
  readonly code: string;
  readonly error: string;
}

/** A valid item, or what is wrong with it. */
export interface Item {
  readonly index: number;
  readonly amount: bigint;
  /** Its own key; '' without a key. */
  readonly key: string;
  readonly fingerprint: string;
  readonly earlierFingerprints: readonly string[];
  readonly id: string;
  readonly ready: { readonly terms: PayoutTerms; readonly bank: Bank } | Failure;
}

export interface Batch {
  readonly parts: CreatingParts;
  readonly creating: Creating;
  readonly method: PayoutMethod;
  readonly bank: Bank | Refused;
  readonly claim: IdempotencyClaim | null;
  /** The body under the batch's own key: it only records that this call was made. */
  readonly batchId: string;
}

export const failureOf = ({ code, message }: Refused): Failure => ({ code, error: message });

const bankFailure = (code: string): Failure =>
  code === 'bank_unknown'
    ? { code, error: "the recipient's bank is unknown to the bank's router, or the router failed" }
    : { code, error: `the bank refused the recipient: ${code}` };

const readyOf = (checked: Checked | Refused, terms: PayoutTerms): Item['ready'] => {
  if (isRefused(checked)) return failureOf(checked);
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
  if (isRefused(terms)) return { ...base, ready: failureOf(terms) };
  const checked = await checkRecipient(
    { policies: creating.policies, merchantId: creating.key.merchantId, bank, log: parts.log },
    terms.recipient,
  );
  return { ...base, ready: readyOf(checked, terms) };
};

/** Reads the items from `from` on, a few at a time: each may need a bank query. */
export const readItems = async (
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
