/** The books of a test merchant, read from the postings alone. */
import assert from 'node:assert/strict';
import type { Database } from '../../subgraphs/platform/database/orm.ts';
import { readBalances } from '../../subgraphs/ledger/balance.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';

interface Books {
  readonly merchant: bigint;
  readonly reserved: bigint;
  readonly clearing: bigint;
}

/**
 * What the books hold of a merchant, by account, from the postings alone; beside them what balance
 * rows and deltas say.
 */
export const booksOf = async (
  database: Database,
  { merchantId, mode }: KeyPrincipal,
): Promise<Books> => {
  const { rows } = await database.pool.query<{ account: string; amount: string }>(
    `select account, sum(amount)::text as amount from (select to_account as account, amount from posting where merchant_id = $1
      union all select from_account, -amount from posting where merchant_id = $1) as moved group by account order by account`,
    [merchantId],
  );
  const [balance] = await readBalances(database.pool, merchantId, mode, 'RUB');
  const accounts = new Map(rows.map(({ account, amount }) => [account, BigInt(amount)]));
  const of = (account: string): bigint => accounts.get(account) ?? 0n;
  assert.equal(
    [...accounts.values()].reduce((sum, amount) => sum + amount, 0n),
    0n,
    'the accounts sum to zero',
  );
  assert.deepEqual(
    [balance?.balance, balance?.available],
    [of('merchant') + of('merchant_reserved'), of('merchant')],
    'balances are what was posted',
  );
  return {
    merchant: of('merchant'),
    reserved: of('merchant_reserved'),
    clearing: of('acquirer_clearing'),
  };
};
