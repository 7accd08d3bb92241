/**
 * Block lists of operators and cabinet users. Card and account numbers are stored as fingerprints
 * only.
 */
import { randomUUID } from 'node:crypto';
import type { MutationblockEntryAddArgs } from '../../../schema/generated/merchants.ts';
import { BlockEntryEntity, type BlockEntry } from '../../platform/policies/policies.ts';
import { blockValue, blockValueExpected } from '../../rules/block.ts';
import { refuse, type Refusal } from '../../rules/refusal.ts';
import { allKeys } from '../../platform/access/keys.ts';
import type { Acting } from '../../platform/database/audit.ts';
import { changePolicy, missing, reasonMistake, type PolicyDeps } from './change-policy.ts';

/** Entries of a merchant's own list at most; every process keeps the list in memory. */
export const blocksPerMerchant_max = 10_000;

const full = `a merchant's block list has at most ${blocksPerMerchant_max} entries`;

/**
 * Blocks a value for all merchants (`merchantId` null) or for one. Refuses with `not_found`, or
 * with `bad_request` a value that does not fit its kind and an entry above the limit.
 */
export const addBlockEntry = async (
  deps: PolicyDeps,
  acting: Acting,
  { merchantId = null, kind, reason, ...input }: MutationblockEntryAddArgs,
): Promise<BlockEntry | Refusal> => {
  const [blocked, ...asBefore] = allKeys(deps.fingerprintKey).map((key) =>
    blockValue(key, kind, input.value),
  );
  if (!blocked) return refuse('bad_request', `value: expected ${blockValueExpected[kind]}`);
  const mistake = reasonMistake(reason);
  if (mistake) return mistake;
  const id = randomUUID();
  return changePolicy(deps, acting, { action: 'block_entry.add', merchantId, id }, async (em) => {
    const gone = merchantId === null ? null : await missing(em, merchantId, null);
    if (gone) return gone;
    const values = [blocked, ...asBefore].flatMap((one) => one?.value ?? []);
    const known = await em.findOne(BlockEntryEntity, { merchantId, kind, value: values });
    if (known) return known;
    // The lock serializes changes, so the count holds.
    const isFull =
      merchantId !== null &&
      (await em.count(BlockEntryEntity, { merchantId })) >= blocksPerMerchant_max;
    if (isFull) return refuse('bad_request', full);
    const { value, shown } = blocked;
    const createdAt = acting.now();
    return em.create(BlockEntryEntity, { id, merchantId, kind, value, shown, reason, createdAt });
  });
};
