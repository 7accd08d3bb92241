/** Whether the books of the crash test balance, from outside and in the database itself. */
import assert from 'node:assert/strict';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../subgraphs/platform/database/embedded-postgres.ts';
import type { Merchant } from '../support/merchant.ts';
import { eventually } from '../support/eventually.ts';

/** All of a registry, page by page. */
export const registryOf = async (merchant: Merchant, path: string): Promise<any[]> => {
  const items: any[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: any = (
      await merchant.call('GET', `${path}?limit=200${cursor ? `&cursor=${cursor}` : ''}`)
    ).body;
    items.push(...page.items);
    cursor = page.next_cursor;
  }
  return items;
};

export const sumOf = (items: readonly { readonly amount: number }[]): number =>
  items.reduce((sum, { amount }) => sum + amount, 0);

/** What the merchant sees of its money, against the payments and refunds as they are. */
export const compareBooks = async (merchant: Merchant, settled: readonly any[]): Promise<void> => {
  const refunds = settled.flatMap((payment) => payment.refunds);
  const registry = await registryOf(merchant, '/refunds');
  assert.equal(
    registry.length,
    refunds.length,
    'no refund beside those that were asked for and those of late successes',
  );
  const given = refunds.filter(({ status }) => status === 'succeeded');
  const paid = settled.filter(({ captured_at }) => captured_at !== null);
  const taken = paid.map(({ amount_captured: amount }) => ({ amount }));
  const owed = sumOf(taken) - sumOf(given);
  const { body: balance } = await merchant.call('GET', '/balance');
  assert.deepEqual(
    [balance.balance, balance.available],
    [owed, owed - sumOf(refunds.filter(({ status }) => status === 'pending'))],
  );
  const ledger = await registryOf(merchant, '/ledger');
  assert.equal(sumOf(ledger), owed);
  assert.equal(
    ledger.filter(({ type }) => type === 'payment').length,
    paid.length,
    'each booked once',
  );
  assert.equal(
    ledger.filter(({ type }) => type === 'refund').length,
    given.length,
    'each given back once',
  );
};

/** The receipts that events say were registered. */
const publishedReceipts = async (merchant: Merchant): Promise<string[]> => {
  const ids: string[] = [];
  for (let after = ''; ;) {
    const query = `event=receipt.registered&limit=200${after && `&after=${after}`}`;
    const page: any = (await merchant.call('GET', `/event-log?${query}`)).body;
    ids.push(...page.items.map(({ data }: any) => data.id));
    if (!page.has_more) return ids;
    after = page.last_id;
  }
};

/** That each movement of payments with receipts has exactly one, registered and published once. */
export const compareReceipts = async (
  merchant: Merchant,
  receipted: readonly any[],
): Promise<void> => {
  const expected: string[] = receipted.flatMap(({ id, captured_at, amount_captured, refunds }) => [
    ...(captured_at === null ? [] : [`${id} payment ${amount_captured}`]),
    ...refunds
      .filter(({ status }: any) => status === 'succeeded')
      .map(({ amount }: any) => `${id} refund ${amount}`),
  ]);
  const registered = await eventually(async () => {
    const receipts = await registryOf(merchant, '/receipts');
    return receipts.every(({ status }) => status === 'registered') && receipts;
  }, 'every receipt');
  const seen: string[] = registered.map(
    ({ payment_id, type, amount }) => `${payment_id} ${type} ${amount}`,
  );
  assert.ok(expected.length > 10, `only ${expected.length} receipts`);
  assert.deepEqual(seen.toSorted(), expected.toSorted(), 'one receipt for each movement');
  // An event is read once it has its number, which it gets a moment after it was written.
  const published = await eventually(async () => {
    const ids = await publishedReceipts(merchant);
    return ids.length >= registered.length && ids;
  }, 'the event of every receipt');
  const ids = registered.map(({ id }) => String(id));
  assert.deepEqual(published.toSorted(), ids.toSorted(), 'every receipt was published once');
};

/** Fails unless every balance that is kept is the sum of the postings behind it. */
export const compareBalances = async (client: pg.Client): Promise<void> => {
  const { rows: differing } = await client.query(`with moved as (
      select merchant_id, shop_id, mode, currency, to_account as account, amount from posting
      union all select merchant_id, shop_id, mode, currency, from_account, -amount from posting),
    booked as (select merchant_id, shop_id, account, sum(amount) as amount from moved where account in ('merchant', 'merchant_reserved') group by 1, 2, 3),
    kept as (select merchant_id, shop_id, account, sum(amount) as amount from (select merchant_id, shop_id, account, amount from balance
      union all select merchant_id, shop_id, account, amount from balance_delta) as kept_and_new group by 1, 2, 3)
    select * from booked full join kept using (merchant_id, shop_id, account) where booked.amount is distinct from kept.amount`);
  assert.deepEqual(differing, [], 'every balance equals its postings');
};

/**
 * What stands in the database itself, when nothing runs on it any more: the bank's own side, too.
 * Gives how many payments had lost an order, which was given again.
 */
export const compareRecords = async (dataDir: string, refunds: number): Promise<number> => {
  const server = await startEmbeddedPostgres({ dataDir, progress: () => {} });
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    // A refund that was cut off before the bank had it, and that the bank would leave pending, is
    // seen nowhere else: it is due to be given to it.
    const { rows } = await client.query<{ given: number; unknown: number; sum: string }>(`select
      (select count(*)::int from refund left join simulator_operation on operation_id = id
        where operation_id is not null or (status = 'pending' and ask_at is not null)) as given,
      (select count(*)::int from simulator_operation where operation_id not in (select id from payment union select id from refund)) as unknown,
      (select coalesce(sum(amount), 0)::text from (select amount from posting union all select -amount from posting) as moved) as sum`);
    assert.deepEqual(
      rows,
      [{ given: refunds, unknown: 0, sum: '0' }],
      'the bank was given each refund once or is to be, and nothing else',
    );
    await compareBalances(client);
    const { rows: holds } = await client.query(
      `select payment.id, payment.status from payment left join simulator_hold_order as settled on settled.payment_id = payment.id
        where capture = 'manual' and (settled.kind, settled.amount) is distinct from
          (case status when 'succeeded' then 'capture' else 'release' end, coalesce(payment.amount_captured, payment.amount))`,
    );
    assert.deepEqual(holds, [], 'the bank did with each hold what is known here, once');
    const { rows: again } = await client.query<{ count: number }>(
      `select count(*)::int as count from payment where ordered_at > processing_until - interval '20 minutes'`,
    );
    return again[0]?.count ?? 0;
  } finally {
    await client.end();
    await server.stop();
  }
};
