/** The closing of a span equals the ledger, whatever was booked and however much of it is folded. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { readClosing, type ClosingSpan } from '../../subgraphs/ledger/closing.ts';
import { bookPostings } from '../../subgraphs/ledger/balance.ts';
import { foldBalances } from '../../subgraphs/ledger/fold.ts';
import type { PostingSource } from '../../subgraphs/ledger/post.ts';
import { minorUnits } from '../../subgraphs/rules/money.ts';
import * as rules from '../../subgraphs/rules/postings.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import * as payouts from '../../subgraphs/payouts/rules/payout.ts';
import { balancesAfter } from '../../subgraphs/merchants/ledger/resolvers.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

const moment = (text: string): Temporal.Instant => Temporal.Instant.from(text);

/** Every fact that the books know. The seventh is above what goes through a delta. */
const facts: readonly (readonly rules.Posting[])[] = [
  rules.paymentSucceeded({ amount: minorUnits(10_001n), fee: minorUnits(281n) }),
  rules.refundOpened({ amount: minorUnits(2_003n) }),
  rules.refundSucceeded({ amount: minorUnits(2_003n) }),
  rules.refundFailed({ amount: minorUnits(17n) }),
  rules.lateRefundFailed({ amount: minorUnits(19n) }),
  rules.settlementRecorded({ amount: minorUnits(1_009n) }),
  rules.adjustmentRecorded({ amount: minorUnits(200_000_003n), inFavour: true }),
  rules.adjustmentRecorded({ amount: minorUnits(23n), inFavour: false }),
  payouts.payoutOpened({ amount: minorUnits(503n), fee: minorUnits(11n) }),
  payouts.payoutSucceeded({ amount: minorUnits(401n), fee: minorUnits(7n) }),
  payouts.payoutFailed({ amount: minorUnits(29n), fee: minorUnits(3n) }),
];

/** Both sides of the edges of spans: of months and days, of half an hour, of a millisecond. */
const moments = [
  '2026-09-30T20:59:59.999Z',
  '2026-09-30T21:00:00Z',
  '2026-10-01T00:00:00Z',
  '2026-10-14T18:29:59.999Z',
  '2026-10-14T18:30:00Z',
  '2026-10-14T18:59:00Z',
  '2026-10-31T20:59:59.999Z',
  '2026-10-31T21:00:00Z',
  '2026-11-20T07:00:00Z',
].map(moment);

const sourceOf = (key: KeyPrincipal, currency: string, at: Temporal.Instant): PostingSource => ({
  merchantId: key.merchantId,
  shopId: key.shopId,
  mode: key.mode,
  currency,
  sourceKind: 'adjustment',
  sourceId: randomUUID(),
  paymentId: null,
  payoutId: null,
  description: 'A fact',
  at,
});

const addShop = async (key: KeyPrincipal): Promise<KeyPrincipal> => {
  const shopId = randomUUID();
  await migrated.database.pool.query(
    `insert into shop select (jsonb_populate_record(shop, jsonb_build_object('id', $2::text, 'name', 'Second'))).* from shop where merchant_id = $1`,
    [key.merchantId, shopId],
  );
  return { ...key, shopId };
};

/** What the ledger says, from its postings alone. */
const fromPostings = async ({ merchantId, mode, currency, from, to }: ClosingSpan) => {
  const owned = `case when to_account in ('merchant', 'merchant_reserved') then amount else 0 end
    - case when from_account in ('merchant', 'merchant_reserved') then amount else 0 end`;
  const free = `case when to_account = 'merchant' then amount when from_account = 'merchant' then -amount else 0 end`;
  const { rows } = await migrated.database.pool.query<{ line: object }>(
    `select jsonb_build_object('shop', shop.id, 'opening', coalesce(sum(${owned}) filter (where entry.created_at < $4), 0),
        'closing', coalesce(sum(${owned}), 0), 'available', coalesce(sum(${free}), 0),
        'moved', (select coalesce(jsonb_object_agg(type, amount), '{}') from (select type, sum(${owned}) as amount from posting
          where merchant_id = $1 and shop_id = shop.id and mode = $2 and currency = $3 and created_at >= $4 and created_at < $5
          group by type having sum(${owned}) <> 0) as moved)) as line
      from shop left join posting as entry on entry.merchant_id = $1 and entry.shop_id = shop.id and entry.mode = $2
        and entry.currency = $3 and entry.created_at < $5
      where shop.merchant_id = $1 group by shop.id, shop.created_at order by shop.created_at, shop.id`,
    [merchantId, mode, currency, from.toString(), to.toString()],
  );
  return rows.map(({ line }) => line);
};

const asRead = async (span: ClosingSpan) =>
  (await readClosing(migrated.database.pool, span)).map((shop) => ({
    shop: shop.shopId,
    opening: Number(shop.opening),
    closing: Number(shop.closing),
    available: Number(shop.closingAvailable),
    moved: Object.fromEntries(
      [...shop.moved].flatMap(([type, amount]) => (amount === 0n ? [] : [[type, Number(amount)]])),
    ),
  }));

/** Every movement with its running balances, from the postings alone. */
const runFromPostings = async (merchantId: string) => {
  const owned = `case when to_account like 'merchant%' then amount else 0 end - case when from_account like 'merchant%' then amount else 0 end`;
  const { rows } = await migrated.database.pool.query<{ id: string; all: string; shop: string }>(
    `select id, (sum(${owned}) over (partition by mode, currency order by created_at, id))::text as all,
        (sum(${owned}) over (partition by mode, currency, shop_id order by created_at, id))::text as shop
      from posting where merchant_id = $1 order by created_at, id`,
    [merchantId],
  );
  return rows;
};

const proveRunning = async (merchantId: string): Promise<void> => {
  const rows = await runFromPostings(merchantId);
  const movements = rows.map(({ id }) => ({ merchantId, id }));
  const after = await balancesAfter(migrated.database.pool, movements);
  assert.deepEqual(
    after.map((one) => [one?.ofAll.toString(), one?.ofShop.toString()]),
    rows.map(({ all, shop }) => [all, shop]),
  );
};

describe('the closing of a span', () => {
  test('equals the postings of every kind to the kopeck, by shop, and so do running balances, while the fold is under way', async () => {
    const { pool } = migrated.database;
    const one = await migrated.merchant('live');
    const shops = [one, await addShop(one)];
    const bookings = shops.flatMap((key, place) =>
      moments.flatMap((at, index) =>
        facts.map((postings) => async () => {
          const currency = (place + index) % 4 === 3 ? 'USD' : 'RUB';
          await bookPostings(pool, sourceOf(key, currency, at), postings);
        }),
      ),
    );
    const folds = [1, 2, 3].map(() => async () => {
      for (let round = 0; round < 10; round += 1) await foldBalances(pool, 5);
    });
    await Promise.all([...bookings, ...folds].map((act) => act()));
    const proveAll = async (): Promise<void> => {
      for (const from of moments)
        for (const to of moments)
          for (const currency of ['RUB', 'USD']) {
            if (Temporal.Instant.compare(from, to) > 0) continue;
            const span = { merchantId: one.merchantId, mode: 'live', currency, from, to } as const;
            assert.deepEqual(await asRead(span), await fromPostings(span), `${from} to ${to}`);
          }
      await proveRunning(one.merchantId);
    };
    const waiting = await pool.query('select from balance_delta limit 1');
    assert.equal(waiting.rowCount, 1, 'a part is not folded yet');
    await proveAll();
    while ((await foldBalances(pool)) > 0);
    await proveAll();
  });

  test('is read without the postings between its ends', async () => {
    const { pool } = migrated.database;
    const key = await migrated.merchant('live');
    for (let hour = 0; hour < 48; hour += 1)
      await bookPostings(
        pool,
        sourceOf(key, 'RUB', moment('2026-10-01T00:30:00Z').add({ hours: hour })),
        rules.paymentSucceeded({ amount: minorUnits(100n), fee: minorUnits(1n) }),
      );
    while ((await foldBalances(pool)) > 0);
    const span = { merchantId: key.merchantId, mode: 'live', currency: 'RUB' } as const;
    const [from, to] = [moment('2026-10-01T00:15:00Z'), moment('2026-10-02T23:45:00Z')];
    const whole = (await asRead({ ...span, from, to }))[0];
    assert.deepEqual(whole?.moved, { payment: 4_800, fee: -48 });
    // Without these nothing is missing, so nothing read them.
    await pool.query(
      `delete from posting where merchant_id = $1 and created_at >= $2 and created_at < $3`,
      [key.merchantId, '2026-10-01T01:00:00Z', '2026-10-02T23:00:00Z'],
    );
    assert.deepEqual((await asRead({ ...span, from, to }))[0], whole);
  });
});
