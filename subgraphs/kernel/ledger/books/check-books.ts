/**
 * Checks the books: all of them at once, for tests and for a person who doubts, or a range of one
 * table, for the walk in the background.
 */
import type pg from 'pg';
import { isSpread } from '../../database/spread.ts';
import { run, type Runner, type Statement } from '../../database/statement.ts';
import { isOfTotals, ofMerchant, partsOf, readTotalsPlace, type Part } from './apart.ts';
import { balancedChecks } from './balanced.ts';
import { bookedChecks } from './booked.ts';
import {
  highestId,
  lowestId,
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

/** Before the first row of any table. */
export const beginning: Place = { merchantId: lowestId, id: lowestId };
const end: Place = { merchantId: highestId, id: highestId };

/** So many differences of one kind in one range are enough to show that something is wrong. */
const differences_max = 100;

const ask = async (
  runner: Runner,
  check: CheckName,
  statement: Statement,
  { from, to, isApart }: Part,
  ...more: readonly unknown[]
): Promise<Difference[]> => {
  const counted = isApart && isOfTotals(statement.text) ? await readTotalsPlace(runner) : [];
  const values = [from.merchantId, from.id, to.merchantId, to.id, differences_max];
  const asked = isApart ? ofMerchant(statement) : statement;
  const found = await run<Omit<Difference, 'check'>>(runner, asked, [
    ...values,
    ...more,
    ...counted,
  ]);
  return found.map((difference) => ({ check, ...difference }));
};

const checkWhole = (
  runner: Runner,
  { name, walk, text }: Check,
  part: Part,
  limit: number | null,
): Promise<Difference[]> =>
  ask(runner, name, { name: `books.${name}.${limit}`, text: text(rowsOf(walk, limit)) }, part);

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
  part: Part,
): Promise<Difference[]> => {
  const { from, to, isApart } = part;
  const found: Difference[] = [];
  const merchants = [from.merchantId, to.merchantId];
  const [since] = await run<{ id: string }>(pool, provedFrom, merchants);
  const doubts = await ask(pool, name, quick, part, since?.id ?? from.id);
  const rows = new Map<string, Difference>();
  for (const doubt of doubts) {
    const subjectId = `${name}:${doubt.subjectId}`;
    if ((await run(pool, reported, [doubt.merchantId, subjectId])).length === 0)
      rows.set(doubt.shopId, doubt);
  }
  const whole = { name: `books.${name}.whole`, text: text(oneRowOf(walk)) };
  for (const { merchantId, shopId } of rows.values()) {
    const row = { merchantId, id: shopId };
    const differences = await ask(pool, name, whole, { from: row, to: row, isApart });
    if (differences.length === 0) await forgetCheckpoint(pool, merchantId);
    found.push(...differences);
  }
  return found;
};

const checkPartOf = async (
  pool: pg.Pool,
  walk: Walk,
  part: Part,
  limit: number,
): Promise<Difference[]> => {
  const found: Difference[] = [];
  for (const check of checks) {
    if (check.walk !== walk) continue;
    const { name, fromCheckpoint } = check;
    if (fromCheckpoint) {
      const text = fromCheckpoint(rowsOf(walk, limit));
      const quick = { name: `books.${name}.since.${limit}`, text };
      found.push(...(await checkSince(pool, check, quick, part)));
    } else found.push(...(await checkWhole(pool, check, part, limit)));
  }
  return found;
};

/**
 * What is wrong with the rows of a table behind `from`, up to and with `to`, of which there are at
 * most `limit`; at most `differences_max` for each check. Each check sees one snapshot. Balances
 * are proved from their checkpoints. `isApart`: merchant by merchant, as where tables are spread.
 */
export const checkRows = async (
  pool: pg.Pool,
  walk: Walk,
  range: Range,
  limit: number,
  isApart?: boolean,
): Promise<Difference[]> => {
  const found: Difference[] = [];
  const part = { ...range, isApart: isApart ?? (await isSpread(pool)) };
  for (const one of await partsOf(pool, walk, part))
    found.push(...(await checkPartOf(pool, walk, one, limit)));
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
  isApart?: boolean,
): Promise<Difference[]> => {
  const range =
    merchantId === null
      ? { from: beginning, to: end }
      : { from: { merchantId, id: lowestId }, to: { merchantId, id: highestId } };
  const part = { ...range, isApart: isApart ?? (await isSpread(pool)) };
  const found: Difference[] = [];
  for (const check of checks)
    for (const one of await partsOf(pool, check.walk, part))
      found.push(...(await checkWhole(pool, check, one, null)));
  return found;
};
