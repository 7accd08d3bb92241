/**
 * Checks the books: all of them at once, for tests and for a person who doubts, or a range of one
 * table, for the walk in the background.
 */
import { run, type Runner } from '../../database/statement.ts';
import { balancedChecks } from './balanced.ts';
import { bookedChecks } from './booked.ts';
import { rowsOf, type Check, type Difference, type Walk } from './check.ts';
import { countedChecks } from './counted.ts';
import { deliveredChecks } from './delivered.ts';

/** Every check, in no order that matters. */
const checks: readonly Check[] = [
  ...bookedChecks,
  ...balancedChecks,
  ...deliveredChecks,
  ...countedChecks,
];

/** A place in the order of a table's keys. */
export interface Place {
  readonly merchantId: string;
  readonly id: string;
}

const lowest = '00000000-0000-0000-0000-000000000000';
const highest = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
/** Before the first row of any table. */
export const beginning: Place = { merchantId: lowest, id: lowest };
const end: Place = { merchantId: highest, id: highest };

/** So many differences of one kind in one range are enough to show that something is wrong. */
const differences_max = 100;

const checkRange = async (
  runner: Runner,
  { name, walk, text }: Check,
  from: Place,
  to: Place,
  limit: number | null,
): Promise<Difference[]> => {
  const values = [from.merchantId, from.id, to.merchantId, to.id, differences_max];
  const found = await run<Omit<Difference, 'check'>>(
    runner,
    { name: `books.${name}.${limit}`, text: text(rowsOf(walk, limit)) },
    values,
  );
  return found.map((difference) => ({ check: name, ...difference }));
};

/**
 * What is wrong with the rows of a table behind `from`, up to and with `to`, of which there are at
 * most `limit`; at most `differences_max` for each check. Each check sees one snapshot.
 */
export const checkRows = async (
  runner: Runner,
  walk: Walk,
  from: Place,
  to: Place,
  limit: number,
): Promise<Difference[]> => {
  const found: Difference[] = [];
  for (const check of checks)
    if (check.walk === walk) found.push(...(await checkRange(runner, check, from, to, limit)));
  return found;
};

/**
 * What is wrong with all the books, or with one merchant's; nothing when they are right. Safe while
 * everything else goes on: a fact and its consequences are one transaction, and each check is one
 * statement, which sees all of it or nothing. It reads every row: for large books the job walks
 * them in parts.
 */
export const checkBooks = async (
  { pool }: { readonly pool: Runner },
  merchantId: string | null = null,
): Promise<Difference[]> => {
  const [from, to] =
    merchantId === null
      ? [beginning, end]
      : [
          { merchantId, id: lowest },
          { merchantId, id: highest },
        ];
  const found: Difference[] = [];
  for (const check of checks) found.push(...(await checkRange(pool, check, from, to, null)));
  return found;
};
