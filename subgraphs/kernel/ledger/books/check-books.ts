/**
 * Checks the books: all of them at once, for tests and for a person who doubts, or a range of one
 * table, for the walk in the background.
 */
import type pg from 'pg';
import { run, type Runner, type Statement } from '../../database/statement.ts';
import { balancedChecks } from './balanced.ts';
import { bookedChecks } from './booked.ts';
import {
  oneRowOf,
  rowsOf,
  type Check,
  type CheckName,
  type Difference,
  type Place,
  type Range,
  type Walk,
} from './check.ts';
import { forgetCheckpoint, provedFrom } from './checkpoint.ts';
import { countedChecks } from './counted.ts';
import { deliveredChecks } from './delivered.ts';

/** Every check, in no order that matters. */
const checks: readonly Check[] = [
  ...bookedChecks,
  ...balancedChecks,
  ...deliveredChecks,
  ...countedChecks,
];

const lowest = '00000000-0000-0000-0000-000000000000';
const highest = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
/** Before the first row of any table. */
export const beginning: Place = { merchantId: lowest, id: lowest };
const end: Place = { merchantId: highest, id: highest };

/** So many differences of one kind in one range are enough to show that something is wrong. */
const differences_max = 100;

const ask = async (
  runner: Runner,
  check: CheckName,
  statement: Statement,
  { from, to }: Range,
  ...more: readonly string[]
): Promise<Difference[]> => {
  const values = [from.merchantId, from.id, to.merchantId, to.id, differences_max, ...more];
  const found = await run<Omit<Difference, 'check'>>(runner, statement, values);
  return found.map((difference) => ({ check, ...difference }));
};

const checkRange = (
  runner: Runner,
  { name, walk, text }: Check,
  from: Place,
  to: Place,
  limit: number | null,
): Promise<Difference[]> =>
  ask(
    runner,
    name,
    { name: `books.${name}.${limit}`, text: text(rowsOf(walk, limit)) },
    { from, to },
  );

const reported: Statement = {
  name: 'books.reported',
  text: `select 1 from alert where merchant_id = $1 and kind = 'books_differ' and subject_id = $2 and resolved_at is null`,
};

/**
 * Checks a range from checkpoints; each row that is in doubt is proved from its beginning, in one
 * snapshot, unless its difference is known. Where that proves it right, the checkpoint was wrong,
 * or something has come in before its end after all: it is given up.
 */
const checkSince = async (
  pool: pg.Pool,
  { name, walk, text }: Check,
  quick: Statement,
  { from, to }: Range,
): Promise<Difference[]> => {
  const found: Difference[] = [];
  const merchants = [from.merchantId, to.merchantId];
  const [since] = await run<{ id: string }>(pool, provedFrom, merchants);
  const doubts = await ask(pool, name, quick, { from, to }, since?.id ?? from.id);
  const rows = new Map<string, Difference>();
  for (const doubt of doubts) {
    const subjectId = `${name}:${doubt.subjectId}`;
    if ((await run(pool, reported, [doubt.merchantId, subjectId])).length === 0)
      rows.set(doubt.shopId, doubt);
  }
  const whole = { name: `books.${name}.whole`, text: text(oneRowOf(walk)) };
  for (const { merchantId, shopId } of rows.values()) {
    const row = { merchantId, id: shopId };
    const differences = await ask(pool, name, whole, { from: row, to: row });
    if (differences.length === 0) await forgetCheckpoint(pool, merchantId);
    found.push(...differences);
  }
  return found;
};

/**
 * What is wrong with the rows of a table behind `from`, up to and with `to`, of which there are at
 * most `limit`; at most `differences_max` for each check. Each check sees one snapshot. Balances
 * are proved from their checkpoints.
 */
export const checkRows = async (
  pool: pg.Pool,
  walk: Walk,
  from: Place,
  to: Place,
  limit: number,
): Promise<Difference[]> => {
  const found: Difference[] = [];
  for (const check of checks) {
    if (check.walk !== walk) continue;
    const { name, fromCheckpoint } = check;
    if (fromCheckpoint) {
      const text = fromCheckpoint(rowsOf(walk, limit));
      const quick = { name: `books.${name}.since.${limit}`, text };
      found.push(...(await checkSince(pool, check, quick, { from, to })));
    } else found.push(...(await checkRange(pool, check, from, to, limit)));
  }
  return found;
};

/**
 * What is wrong with all the books, or with one merchant's; nothing when they are right. Safe while
 * everything else goes on: a fact and its consequences are one transaction, and each check is one
 * statement, which sees all of it or nothing. It reads every row and trusts no checkpoint: for
 * large books the job walks them in parts.
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
