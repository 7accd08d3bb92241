/**
 * Books an operator's settlements and adjustments on a merchant's account. A reference is booked
 * once, also under concurrent calls. A withholding is negative.
 */
import type {
  MutationadjustmentRecordArgs,
  MutationsettlementRecordArgs,
} from '../../../schema/generated/merchants.ts';
import type pg from 'pg';
import { availableOf, bookPostings, lockMerchant, withinBound } from '../../ledger/balance.ts';
import { idFrom } from '../../platform/database/statement.ts';
import { clientOf } from '../../platform/database/orm-connections.ts';
import { isCurrency } from '../../../schema/currencies.ts';
import { largestAmount, minorUnits } from '../../rules/money.ts';
import { adjustmentRecorded, settlementRecorded, type Posting } from '../../rules/postings.ts';
import { refuse, type Refusal, charactersOf, isPlainText } from '../../rules/refusal.ts';
import { changeEntities, type Acting } from '../../platform/database/audit.ts';
import { missing, reasonMistake, type PolicyDeps } from '../policies/change-policy.ts';
import type { LedgerRow } from '../rows.ts';
import { findMovements } from './read-ledger.ts';

const reference_max_chars = 100;

/** Its amount is signed: as the merchant sees it. */
interface Movement extends Required<MutationsettlementRecordArgs> {
  readonly kind: 'settlement' | 'adjustment';
  readonly description: string;
  readonly postings: readonly Posting[];
}

/** A ledger movement, and whether an earlier call with the same reference booked it. */
interface RecordedMovement {
  readonly entry: LedgerRow;
  readonly repeated: boolean;
}

/**
 * The source of the postings, derived from the reference: the ledger itself refuses a second
 * booking.
 */
const sourceIdOf = ({ kind, merchantId, reference }: Movement): string =>
  idFrom(JSON.stringify([kind, merchantId, reference]));

const mistakeIn = ({ amount, currency, reference }: Movement): string | null => {
  if (amount === 0n || amount > largestAmount || -amount > largestAmount)
    return `amount: expected an integer up to 2^53-1 other than 0, got ${amount}`;
  if (!isCurrency(currency))
    return `currency: expected an ISO 4217 code such as RUB, got ${currency}`;
  const came = charactersOf(reference);
  const fits = isPlainText(reference) && reference.trim() !== '' && came <= reference_max_chars;
  return fits ? null : `reference: expected 1 to ${reference_max_chars} characters, got ${came}`;
};

const isSame = (entry: LedgerRow, { shopId, mode, currency, amount }: Movement): boolean =>
  entry.shopId === shopId.toLowerCase() &&
  entry.mode === mode &&
  entry.currency === currency &&
  entry.amount === amount;

const overdrawn = async (
  client: pg.PoolClient,
  { kind, merchantId, mode, currency, amount }: Movement,
): Promise<Refusal | null> => {
  // An adjustment may take a balance below zero, as a refund may.
  if (kind === 'adjustment') return null;
  const available = await availableOf(client, merchantId, mode, currency);
  return available + amount >= 0n
    ? null
    : refuse(
        'insufficient_balance',
        `the merchant has ${available} available, which is less than ${-amount}`,
      );
};

const beyondUpperBound = refuse(
  'bad_request',
  'amount: the balance of the merchant or of the shop would exceed 2^53-1',
);
const beyondLowerBound = refuse(
  'insufficient_balance',
  'the available balance of the merchant or of the shop would fall below -(2^53-1)',
);

const record = async (
  { database }: PolicyDeps,
  acting: Acting,
  movement: Movement,
): Promise<RecordedMovement | Refusal> => {
  const mistake = mistakeIn(movement);
  if (mistake) return refuse('bad_request', mistake);
  const { kind, merchantId, shopId, mode, currency, reference, description, amount, postings } =
    movement;
  const sourceId = sourceIdOf(movement);
  const recording = changeEntities<RecordedMovement>(
    database,
    acting,
    { action: `${kind}.record`, merchantId, id: sourceId },
    async (em, notes) => {
      const gone = await missing(em, merchantId, shopId);
      if (gone) return gone;
      const client = await clientOf(em);
      await lockMerchant(client, merchantId);
      const after = { shopId, mode, currency, amount, reference, description };
      const find = () => findMovements(client, merchantId, [kind], [sourceId], 1);
      const [earlier] = await find();
      if (earlier && !isSame(earlier, movement))
        return refuse(
          'idempotent_conflict',
          `reference: a different ${kind} was recorded under ${reference}`,
        );
      notes.after = after;
      if (earlier) {
        notes.before = after;
        return { entry: earlier, repeated: true };
      }
      const short = await overdrawn(client, movement);
      if (short) return short;
      const source = {
        merchantId,
        shopId,
        mode,
        currency,
        sourceKind: kind,
        sourceId,
        paymentId: null,
        payoutId: null,
        description,
        at: acting.now(),
      };
      await bookPostings(client, source, postings);
      const [entry] = await find();
      if (!entry) throw new Error(`${kind} ${sourceId} was booked and is not in the ledger`);
      return { entry, repeated: false };
    },
  );
  return withinBound(recording, amount > 0n ? beyondUpperBound : beyondLowerBound);
};

const magnitude = (amount: bigint): bigint => {
  const positive = amount < 0n ? -amount : amount;
  return positive > largestAmount ? largestAmount : positive;
};

/**
 * Books a settlement of `amount` to a merchant. Refuses with `insufficient_balance` an amount above
 * the available balance of all its shops, with `idempotent_conflict` a reference of another
 * settlement, with `not_found`, and with `bad_request`.
 */
export const recordSettlement = (
  deps: PolicyDeps,
  acting: Acting,
  input: Required<MutationsettlementRecordArgs>,
): Promise<RecordedMovement | Refusal> => {
  const postings = settlementRecorded({ amount: minorUnits(magnitude(input.amount)) });
  return record(deps, acting, {
    ...input,
    kind: 'settlement',
    description: input.reference,
    amount: -input.amount,
    postings,
  });
};

/**
 * Corrects a merchant's balance by a signed amount; the balance may become negative. Refuses as
 * `recordSettlement` does, except that the balance is only limited to 2^53-1.
 */
export const recordAdjustment = async (
  deps: PolicyDeps,
  acting: Acting,
  { reason, ...input }: Required<MutationadjustmentRecordArgs>,
) => {
  const mistake = reasonMistake(reason);
  if (mistake) return mistake;
  const postings = adjustmentRecorded({
    amount: minorUnits(magnitude(input.amount)),
    inFavour: input.amount > 0n,
  });
  return record(deps, acting, { ...input, kind: 'adjustment', description: reason, postings });
};
