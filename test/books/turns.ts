/** The background's check of the books, a turn at a time. */
import assert from 'node:assert/strict';
import type pg from 'pg';
import { checkTurn } from '../../subgraphs/ledger/books/check-books.ts';
import { openLog } from '../../subgraphs/platform/tracing/telemetry.ts';

const log = openLog({ logLevel: 'silent' }, 'test');
const stopping = new AbortController().signal;

/** Checks the merchants whose turn it is; gives whose it was, null when there was none. */
export const takeTurn = async (pool: pg.Pool, rows?: number): Promise<string | null> => {
  const { rows: due } = await pool.query<{ id: string }>(
    'select merchant_id as id from books_check where due_at <= now() order by due_at limit 1',
  );
  const taken = await checkTurn({ pool, now: () => Temporal.Now.instant(), log, stopping }, rows);
  return taken ? (due[0]?.id ?? null) : null;
};

/** Checks all books from their beginning to their end, or one merchant's, some rows at a time. */
export const checkAll = async (
  pool: pg.Pool,
  rows?: number,
  merchantId: string | null = null,
): Promise<void> => {
  await pool.query(
    `update books_check set due_at = case when coalesce(merchant_id = $1, true) then now() - interval '1 second' else now() + interval '1 day' end`,
    [merchantId],
  );
  for (let turns = 0; (await takeTurn(pool, rows)) !== null; turns += 1)
    assert.ok(turns < 2_000, 'the check does not come to its end');
};
