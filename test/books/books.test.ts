import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { newRowId } from '../../subgraphs/platform/database/statement.ts';
import { foldBalances } from '../../subgraphs/ledger/fold.ts';
import { countDifferences } from '../../subgraphs/ledger/books/check-books.ts';
import { checkBooks } from '../support/check-books.ts';
import { checkNames, type CheckName } from '../../subgraphs/ledger/books/checks.ts';
import { followEvents, walkOlder } from '../../subgraphs/ledger/totals/keep-totals.ts';
import { platformMerchantId } from '../../subgraphs/rules/ids.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import { size } from '../support/size.ts';
import { openHistory, type History } from './history.ts';
import { checkAll } from './turns.ts';

let migrated: MigratedDatabase;
let history: History;
let key: KeyPrincipal;
let ids: {
  readonly payment: string;
  readonly refund: string;
  readonly pendingRefund: string;
  readonly payout: string;
  readonly endpoint: string;
};

before(async () => {
  migrated = await startMigratedDatabase();
  history = openHistory(migrated);
  key = await migrated.merchant();
  const endpoint = randomUUID();
  await migrated.database.pool.query(
    `insert into webhook_endpoint (merchant_id, id, shop_id, url, events, secret_sealed, signature, active, created_at)
     values ($1, $2, $3, 'https://shop.example/all', '{}', 'x', 'v2', true, '2026-01-01')`,
    [key.merchantId, endpoint, key.shopId],
  );
  const payment = await history.pay(key, 10_000n);
  // Ends in 06: the simulated bank never answers, so that the refund waits.
  const refund = await history.refund(key, payment.id, 4_000n);
  const pendingRefund = await history.refund(key, payment.id, 1_006n);
  await history.adjust(key, 500n, false);
  await history.payOut(key, 1_000n, 'succeeded');
  const payout = await history.payOut(key, 300n, 'pending');
  await history.relay();
  ids = { payment: payment.id, refund, pendingRefund, payout, endpoint };
});
after(() => migrated.close());

/** What the checks find after the statements, which are undone afterwards. */
const foundAfter = async (...statements: readonly string[]): Promise<readonly CheckName[]> => {
  const client = await migrated.database.pool.connect();
  try {
    await client.query('begin');
    for (const statement of statements) {
      const { rowCount } = await client.query(statement);
      assert.notEqual(rowCount, 0, `nothing was changed by ${statement}`);
    }
    const found = await checkBooks({ pool: client });
    for (const { detail, merchantId } of found)
      assert.ok(detail.length > 20 && merchantId === key.merchantId, detail);
    return [...new Set(found.map(({ check }) => check))].toSorted();
  } finally {
    await client.query('rollback');
    client.release();
  }
};

const posting = (type: string, kind: string, id: string): string =>
  `type = '${type}' and source_kind = '${kind}' and source_id = '${id}'`;
const invented = (kind: string, type: string, from: string, to: string): string =>
  `insert into posting select merchant_id, gen_random_uuid(), shop_id, mode, currency, '${type}', '${from}', '${to}', 5, '', '${kind}', gen_random_uuid(), null, null, created_at
   from posting where ${posting('payment', 'payment', ids.payment)}`;

/**
 * Each kind of mistake, as a broken program or a person at the tables would leave it, and which
 * checks see it.
 */
const mistakes: Readonly<
  Record<string, () => readonly [statements: readonly string[], ...seen: CheckName[]]>
> = {
  'a succeeded payment without its posting': () => [
    [`delete from posting where ${posting('payment', 'payment', ids.payment)}`],
    'balance_adds_up',
    'payment_booked',
  ],
  'a payment booked with another amount': () => [
    [`update posting set amount = amount + 1 where ${posting('payment', 'payment', ids.payment)}`],
    'balance_adds_up',
    'payment_booked',
  ],
  'a fee without a posting': () => [
    [`update payment set fee = 5 where id = '${ids.payment}'`],
    'payment_booked',
  ],
  'a payment that succeeded without money': () => [
    [`update payment set captured_at = null where id = '${ids.payment}'`],
    'payment_booked',
    'payment_refunded',
  ],
  'an amount given back that is not the sum of the refunds': () => [
    [`update payment set amount_refunded = 4001 where id = '${ids.payment}'`],
    'payment_refunded',
  ],
  'a refund that was lost': () => [
    [`delete from refund where id = '${ids.refund}'`],
    'payment_refunded',
    'posting_sourced',
  ],
  'a refund without its posting': () => [
    [`delete from posting where ${posting('refund', 'refund', ids.refund)}`],
    'balance_adds_up',
    'refund_booked',
  ],
  'a pending refund that was marked as failed by hand': () => [
    [
      `update refund set status = 'failed', fail_reason = 'refund_rejected', completed_at = now() where id = '${ids.pendingRefund}'`,
    ],
    'refund_booked',
    'reserve_covers',
  ],
  'a payout that was marked as paid by hand': () => [
    [`update payout set status = 'succeeded', completed_at = now() where id = '${ids.payout}'`],
    'payout_booked',
    'reserve_covers',
  ],
  'a payout with another amount': () => [
    [`update payout set amount = amount + 1 where id = '${ids.payout}'`],
    'payout_booked',
    'reserve_covers',
  ],
  'a posting of a payment that does not exist': () => [
    [invented('payment', 'payment', 'acquirer_clearing', 'platform_fees')],
    'posting_sourced',
  ],
  'a posting of a shop that does not exist': () => [
    [
      `update posting set shop_id = gen_random_uuid() where ${posting('payment', 'payment', ids.payment)}`,
    ],
    'posting_sourced',
    'balance_adds_up',
  ],
  'a balance that was changed': () => [
    [`update balance set amount = amount + 1 where account = 'merchant'`],
    'balance_adds_up',
  ],
  'a delta that was lost': () => [
    ['delete from balance_delta where id = (select id from balance_delta limit 1)'],
    'balance_adds_up',
  ],
  'an hour of the ledger that was changed': () => [
    [
      `insert into ledger_hour select merchant_id, mode, currency, hour, shop_id, account, 'fee', 1 from balance_delta limit 1`,
    ],
    'ledger_hours_add_up',
  ],
  'reserved money that belongs to nothing': () => [
    [`update balance set amount = amount + 1 where account = 'merchant_reserved'`],
    'balance_adds_up',
    'reserve_covers',
  ],
  'an event whose own address got no delivery': () => [
    ['delete from webhook_delivery where endpoint_id is null'],
    'event_delivered',
  ],
  'an event that an endpoint did not get': () => [
    [`update event set webhook_url = null where webhook_event = 'payment.succeeded'`],
    'event_delivered',
  ],
  'an event that stays in the outbox': () => [
    [
      `update event set sequence = null, id = '${newRowId(Date.now() - 3_600_000)}' where webhook_event = 'payment.succeeded'`,
    ],
    'event_relayed',
  ],
  'a payment that is counted with other money than it booked': () => [
    [`update counted_fact set moved = moved + 1 where id = '${ids.payment}'`],
    'payment_counted',
    'hour_adds_up',
  ],
  'a refund that is not counted': () => [
    [`delete from counted_fact where id = '${ids.refund}'`],
    'refund_counted',
    'hour_adds_up',
  ],
  'a payout that is counted as failed': () => [
    [`update counted_fact set status = 'failed' where id = '${ids.payout}'`],
    'payout_counted',
    'hour_adds_up',
  ],
  'an hour of a shop that was changed': () => [
    [`update hourly_total set fee = fee + 1 where shop_id = '${key.shopId}' and kind = 'payment'`],
    'hour_adds_up',
  ],
  'an hour of a shop that was lost': () => [
    [`delete from hourly_total where shop_id = '${key.shopId}' and kind = 'refund'`],
    'hour_adds_up',
  ],
  'an hour of the merchant that was changed': () => [
    [
      `update hourly_total set fee = fee + 1 where merchant_id = '${key.merchantId}' and shop_id = '${platformMerchantId}' and kind = 'payment'`,
    ],
    'hours_together',
  ],
  'an hour of the merchant that was lost': () => [
    [
      `delete from hourly_total where merchant_id = '${key.merchantId}' and shop_id = '${platformMerchantId}' and kind = 'refund'`,
    ],
    'hours_together',
  ],
  'failures that nothing failed for': () => [
    [
      `insert into hourly_total select merchant_id, shop_id, mode, currency, 'payment_failure', hour, '', '', 'do_not_honor', 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0
       from hourly_total where merchant_id = '${key.merchantId}' and kind = 'payment'`,
    ],
    'hour_adds_up',
    'hours_together',
  ],
};

describe('the books', () => {
  before(async () => {
    // Some is folded and some is not, so that both have something to lose.
    while ((await foldBalances(migrated.database.pool)) > 0);
    await history.adjust(key, 20n, true);
    await history.payOut(key, 10n, 'pending');
    const { pool } = migrated.database;
    while ((await followEvents(pool)) > 0);
    while (await walkOlder(pool));
  });

  test('of a merchant with one of everything are right', async () =>
    assert.deepEqual(await checkBooks(migrated.database), []));

  for (const [what, mistake] of Object.entries(mistakes)) {
    test(`show ${what}`, async () => {
      const [statements, ...seen] = mistake();
      const found = await foundAfter(...statements);
      for (const check of seen)
        assert.ok(found.includes(check), `${check} saw nothing; found: ${found.join(', ')}`);
    });
  }

  for (const [from, to] of [
    ['petty_cash', 'suspense'],
    ['suspense', 'petty_cash'],
    ['merchant', 'merchant'],
  ] as const)
    test(`take no posting from ${from} to ${to}`, () =>
      assert.rejects(migrated.database.pool.query(invented('adjustment', 'adjustment', from, to)), {
        code: '23514',
      }));

  test('are checked for everything in the list', () => {
    const planted = new Set(Object.values(mistakes).flatMap((mistake) => mistake().slice(1)));
    assert.deepEqual(planted, new Set(checkNames));
  });

  test('say nothing of an endpoint that was made or changed after the event', async () => {
    const changed = `insert into audit_entry (merchant_id, id, at, actor, role, action, subject_kind, subject_id, request_id)
      values ('${key.merchantId}', gen_random_uuid(), now(), 'a', 'admin', 'webhook_endpoint.enable', 'webhook_endpoint', '${ids.endpoint}', 'r')`;
    const unaddressed = `update event set webhook_url = null where webhook_event = 'payment.succeeded'`;
    assert.deepEqual(await foundAfter(unaddressed, changed), []);
    assert.deepEqual(
      await foundAfter(unaddressed, `update webhook_endpoint set created_at = now()`),
      [],
    );
  });

  test('say nothing of an event that a test clock dated ahead of an endpoint made after it', async () => {
    const ahead = `update event set webhook_url = null, created_at = created_at + interval '2 years' where webhook_event = 'payment.succeeded'`;
    const dated = `update webhook_delivery set created_at = created_at + interval '2 years' where webhook_event = 'payment.succeeded'`;
    const later = `update webhook_endpoint set created_at = now()`;
    assert.deepEqual(await foundAfter(ahead, dated, later), []);
    assert.deepEqual(await foundAfter(ahead, dated), ['event_delivered']);
  });

  test('look right at every moment while payments, refunds and folds go on', async () => {
    const stop = new AbortController();
    const busy = await migrated.merchant();
    const trade = async (): Promise<void> => {
      while (!stop.signal.aborted) {
        const { id } = await history.pay(busy, 1_000n);
        await Promise.all([history.refund(busy, id, 300n), history.refund(busy, id, 106n)]);
        await history.relay();
      }
    };
    const fold = async (): Promise<void> => {
      while (!stop.signal.aborted) await foldBalances(migrated.database.pool, 3);
    };
    const trading = Promise.all([trade(), trade(), fold()]);
    try {
      for (let looked = 0; looked < size(10, 50); looked += 1)
        assert.deepEqual(await checkBooks(migrated.database), []);
    } finally {
      stop.abort();
      await trading;
    }
  });
});

test('the background finds a mistake, raises one alert for it, and begins again', async () => {
  const { pool } = migrated.database;
  const alerts = async () =>
    (
      await pool.query<{ kind: string; subject_id: string; detail: string }>(
        'select * from alert order by subject_id',
      )
    ).rows;
  await checkAll(pool, 3);
  assert.deepEqual(await alerts(), []);
  await pool.query(`update payment set amount_refunded = 4001 where id = '${ids.payment}'`);
  await checkAll(pool, 3);
  await checkAll(pool, 3);
  const [alert, ...others] = await alerts();
  assert.deepEqual(others, []);
  assert.deepEqual(
    [alert?.kind, alert?.subject_id],
    ['books_differ', `payment_refunded:${ids.payment}`],
  );
  assert.match(
    alert?.detail ?? '',
    /10000 is succeeded with 4001 given back, its successful refunds are 4000/,
  );
  assert.equal((await countDifferences(pool)).get('payment_refunded'), 1);
  await pool.query(`update payment set amount_refunded = 4000 where id = '${ids.payment}'`);
});
