/** All of the books at once; the service reads some thousand rows at a time. */
import { checkStep, ends, type Difference } from '../../subgraphs/ledger/books/check-books.ts';
import { steps } from '../../subgraphs/ledger/books/checks.ts';
import type { Runner } from '../../subgraphs/platform/database/statement.ts';

/** What is wrong with all the books, or with one merchant's; empty when they are correct. */
export const checkBooks = async (
  { pool }: { readonly pool: Runner },
  merchantId: string | null = null,
): Promise<Difference[]> => {
  const { rows } = await pool.query<{ id: string }>(
    'select id from merchant where $1::uuid is null or id = $1 order by id',
    [merchantId],
  );
  const found: Difference[] = [];
  for (const { id } of rows)
    for (const step of steps) {
      const { first: from, last: to } = ends(step);
      const asked = { merchantId: id, from, to, limit: null, sums: '[]' };
      found.push(...(await checkStep(pool, step, asked)));
    }
  return found;
};
