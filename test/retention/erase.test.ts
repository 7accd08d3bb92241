/** Personal data is erased from what is final; the money stays, and the books still prove right. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { writeEntry, type Acting } from '../../subgraphs/platform/database/audit.ts';
import { inTransaction } from '../../subgraphs/platform/database/statement.ts';
import { erasedTexts } from '../../subgraphs/platform/graph/free-texts.ts';
import { checkBooks } from '../support/check-books.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { readTexts } from '../../subgraphs/merchants/audit.ts';
import {
  erasePersonalData,
  type ErasedSubject,
} from '../../subgraphs/merchants/erasure/erase-personal-data.ts';
import { openHistory, type History } from '../books/history.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';

const traces = [
  'IVAN PETROV',
  '**** 4242',
  '+7 *** 1122',
  'Secret Bank',
  'Tea for Ivan',
  'ivan@example.com',
  '+79160000042',
  'Petrov I.',
  '40702810900000000042',
  'buyer-7',
];

let migrated: MigratedDatabase;
let history: History;
let key: KeyPrincipal;
before(async () => {
  migrated = await startMigratedDatabase();
  history = openHistory(migrated);
  key = await migrated.merchant();
});
after(() => migrated.close());

const query = async (text: string, values: readonly unknown[] = []): Promise<any[]> =>
  (await migrated.database.pool.query(text, [...values])).rows;
const operator: Acting = {
  principal: { kind: 'operator', subject: 'anna', role: 'admin', merchantId: null },
  requestId: 'r',
  now: () => Temporal.Now.instant(),
};
const erase = (subject: ErasedSubject, id: string, reason = 'asked by the buyer') =>
  erasePersonalData(migrated.database, operator, {
    merchantId: key.merchantId,
    subject,
    id,
    reason,
  });

/** A payment with everything that can be personal about it. */
const paid = async (customer: string): Promise<string> => {
  const { id } = await history.pay(key, 10_000n);
  const metadata = '{"zeta":"1","customer_name":"IVAN PETROV","cart":"7","Phone":"+79160000042"}';
  await query(
    `update payment set customer_id = $2, customer_card_holder = 'IVAN PETROV', customer_card_mask = '**** 4242', customer_phone_mask = '+7 *** 1122',
       customer_payer_bank = 'Secret Bank', description = 'Tea for Ivan', metadata = $3 where id = $1`,
    [id, customer, metadata],
  );
  await query(
    `update simulator_operation set card_holder = 'IVAN PETROV', card_mask = '**** 4242' where operation_id = $1`,
    [id],
  );
  return id;
};

const savedMethod = (customer: string, status: string, of = key, id: string = randomUUID()) =>
  query(
    `with t as (insert into token (merchant_id, id, shop_id, mode, customer_ref, customer_email, method, status, card_mask, card_holder, saved_reference, created_at)
       values ($1, $2, $3, 'test', $4, 'ivan@example.com', 'cards', $5, '**** 4242', 'IVAN PETROV', 'simulator:x', now()))
     insert into subscription (merchant_id, id, version, shop_id, mode, customer_ref, customer_email, customer_phone, amount, currency, method, period, interval_count,
       trial_days, status, token_id, periods, failures, created_at)
       values ($1, $2, 1, $3, 'test', $4, 'ivan@example.com', '+79160000042', 100, 'RUB', 'cards', 'month', 1, 0, $5, $2, 0, 0, now())`,
    [of.merchantId, id, of.shopId, customer, status],
  );

/**
 * Which of the traces stand anywhere in the merchant's tables; events keep what was published until
 * their month goes.
 */
const tracesLeft = async (): Promise<string[]> => {
  const tables = await query(
    "select table_name as name from information_schema.columns where table_schema = 'public' and column_name = 'merchant_id' and table_name <> 'event'",
  );
  const rows = await Promise.all(
    tables.map(({ name }) =>
      query(`select to_jsonb(t)::text as text from ${name} t where merchant_id = $1`, [
        key.merchantId,
      ]),
    ),
  );
  const text = rows
    .flat()
    .map((row) => row.text)
    .join('\n');
  return traces.filter((trace) => text.includes(trace));
};

const differences = () => checkBooks({ pool: migrated.database.pool });

describe('personal data', () => {
  test('of a customer is erased everywhere but in what is not final; money, moments and the order of the merchant’s other pairs stay', async () => {
    const [first, second] = [await paid('buyer-7'), await paid('buyer-7')];
    await history.refund(key, second, 4_000n);
    await savedMethod('buyer-7', 'cancelled');
    await history.relay();
    assert.equal((await tracesLeft()).length, traces.length - 2);
    const before = await query(
      'select amount, status, fee, captured_at, bank_ref, version from payment where id = $1',
      [first],
    );
    const ledger = await query('select * from posting where merchant_id = $1 order by id', [
      key.merchantId,
    ]);

    assert.deepEqual(await erase('customer', 'buyer-7'), {
      payments: 2,
      payouts: 0,
      tokens: 1,
      subscriptions: 1,
      left: 0,
      hasMore: false,
    });
    assert.deepEqual(await tracesLeft(), []);
    assert.deepEqual(
      await query(
        'select amount, status, fee, captured_at, bank_ref, version - 1 as version from payment where id = $1',
        [first],
      ),
      before,
    );
    assert.deepEqual(
      await query('select * from posting where merchant_id = $1 order by id', [key.merchantId]),
      ledger,
    );
    assert.equal(
      (
        await query('select metadata::text as text from payment where id = $1', [first])
      )[0].text.replaceAll(' ', ''),
      '{"zeta":"1","cart":"7"}',
    );
    assert.deepEqual(await differences(), []);
  });

  test('of a payment, and of a payout, is erased by its id', async () => {
    const payment = await paid('other');
    const payout = await history.payOut(key, 100n, 'succeeded');
    await query(
      `update payout set recipient_name = 'Petrov I.', recipient_phone = '+79160000042', recipient_account = '40702810900000000042' where id = $1`,
      [payout],
    );
    assert.deepEqual(await erase('payment', payment), {
      payments: 1,
      payouts: 0,
      tokens: 0,
      subscriptions: 0,
      left: 0,
      hasMore: false,
    });
    assert.deepEqual(await erase('payout', payout), {
      payments: 0,
      payouts: 1,
      tokens: 0,
      subscriptions: 0,
      left: 0,
      hasMore: false,
    });
    assert.deepEqual(await tracesLeft(), []);
    assert.deepEqual(await differences(), []);
  });

  test('in every free text that is classified as erased is gone, and what people wrote beside the log with it', async () => {
    const own = await migrated.merchant();
    const { merchantId, shopId } = own;
    const trace = 'Trace of Ivan';
    const ids = {
      link: randomUUID(),
      method: randomUUID(),
      draft: randomUUID(),
      proposal: randomUUID(),
    };
    const { id: payment } = await history.pay(own, 10_000n);
    await history.refund(own, payment, 4_000n);
    const payout = await history.payOut(own, 100n, 'succeeded');
    const whose = [merchantId, shopId];
    await query(
      `insert into payment_link (merchant_id, shop_id, id, mode, url, status, currency, method, metadata, payments_count, amount_paid, receipt, expires_at, created_at)
        values ($1, $2, $3, 'test', '', 'active', 'RUB', 'any', json_build_object('customer_name', $4::text, 'cart', '7'), 1, 0,
          json_build_object('customer', json_build_object('fullName', $4::text), 'taxSystem', 1, 'items', '[]'::json), now() + interval '1 day', now())`,
      [...whose, ids.link, trace],
    );
    await query(
      `insert into receipt_terms (merchant_id, shop_id, subject_id, mode, items, customer_sealed, customer_shown, created_at)
        values ($1, $2, $3, 'test', '[]', $4, to_json($4::text), now())`,
      [...whose, ids.link, trace],
    );
    await query(
      `update payment set receipt_terms_id = $3, metadata = json_build_object('customer_name', $4::text) where merchant_id = $1 and id = $2`,
      [merchantId, payment, ids.link, trace],
    );
    await savedMethod('buyer-8', 'cancelled', own, ids.method);
    await query(
      `insert into payout_draft (merchant_id, shop_id, id, mode, amount, currency, method, status, created_by, created_at, expires_at, decided_at)
        values ($1, $2, $3, 'test', 1, 'RUB', 'payouts_sbp', 'rejected', 'anna', now(), now(), now())`,
      [...whose, ids.draft],
    );
    await query(
      `insert into payment_note (merchant_id, payment_id, number, id, author, created_at, text)
        values ($1, $2, 1, gen_random_uuid(), 'anna', now(), '')`,
      [merchantId, payment],
    );
    await query(
      `insert into refund_draft (merchant_id, shop_id, payment_id, id, mode, amount, currency, status, reason, created_by, created_at, expires_at, decided_at)
        values ($1, $2, $3, $4, 'test', 1, 'RUB', 'rejected', '', 'anna', now(), now(), now())`,
      [...whose, payment, ids.proposal],
    );
    const resolved = `now(), now(), 'anna', 'none'`;
    await query(
      `insert into alert (merchant_id, shop_id, mode, id, kind, subject_id, detail, raised_at, resolved_at, resolved_by, note)
        values ($1, $2, 'test', gen_random_uuid(), 'late_success', $3, '', ${resolved})`,
      [...whose, payment],
    );
    await query(
      `insert into reconciliation_difference (merchant_id, id, run_id, mode, kind, operation, operation_id, detail, found_at, resolved_at, resolved_by, note)
        values ($1, gen_random_uuid(), gen_random_uuid(), 'test', 'duplicate', 'payment', $2, '', ${resolved})`,
      [merchantId, payment],
    );
    const columns = Array.from(erasedTexts, ([table, of]) =>
      of.map((name) => [table, name] as const),
    );
    const among = async (): Promise<string[]> => {
      const found = columns.flat().map(async ([table, name]) => {
        const asked = `select 1 from ${table} where merchant_id = $1 and ${name}::text like '%' || $2 || '%'`;
        return (await query(asked, [merchantId, trace])).length > 0 ? `${table}.${name}` : [];
      });
      return (await Promise.all(found)).flat();
    };
    for (const [table, name] of columns.flat())
      if (name !== 'metadata')
        await query(`update ${table} set ${name} = $2 where merchant_id = $1`, [
          merchantId,
          name === 'customer_ref' ? `buyer-8 ${trace}` : trace,
        ]);
    for (const table of ['refund', 'payout', 'token', 'subscription'])
      await query(
        `update ${table} set metadata = json_build_object('cart', $2::text) where merchant_id = $1`,
        [merchantId, trace],
      );
    assert.deepEqual(
      await among(),
      columns.flat().map(([table, name]) => `${table}.${name}`),
      'each of them was written',
    );
    const [refund] = await query('select id from refund where merchant_id = $1', [merchantId]);
    const [alert] = await query('select id from alert where merchant_id = $1', [merchantId]);
    const subjects = [
      payment,
      refund.id,
      alert.id,
      ids.link,
      ids.method,
      ids.draft,
      ids.proposal,
      payout,
    ];
    for (const id of subjects)
      await inTransaction(migrated.database.pool, (client) =>
        writeEntry(
          client,
          operator,
          { action: 'receipt.close', merchantId, id, kind: 'any' },
          { before: { note: trace }, after: { reason: trace, amount: 1 } },
        ),
      );
    const read = async () => {
      const entries = await query(
        `select id, merchant_id as "merchantId", before, after from audit_entry where merchant_id = $1 and action = 'receipt.close'`,
        [merchantId],
      );
      assert.ok(!JSON.stringify(entries).includes(trace), 'the log itself has no text');
      return (await readTexts(migrated.database.fork(), entries)).map(({ before, after }) => [
        before?.['note'],
        after?.['reason'],
      ]);
    };
    assert.deepEqual(
      await read(),
      subjects.map(() => [trace, trace]),
    );

    const eraseOf = (subject: ErasedSubject, id: string) =>
      erasePersonalData(migrated.database, operator, { merchantId, subject, id, reason: 'asked' });
    await eraseOf('payment', payment);
    await eraseOf('customer', `buyer-8 ${trace}`);
    await eraseOf('payout', payout);
    await eraseOf('payout', ids.draft);
    assert.deepEqual(await among(), []);
    assert.deepEqual(
      await read(),
      subjects.map(() => ['[erased]', '[erased]']),
    );
    const [link] = await query(
      'select status, finalized_at is not null as ended, receipt, metadata from payment_link where id = $1',
      [ids.link],
    );
    assert.deepEqual(link, {
      status: 'deactivated',
      ended: true,
      receipt: { customer: null, taxSystem: 1, items: [] },
      metadata: { cart: '7' },
    });
    const [terms] = await query(
      'select customer_sealed, customer_shown from receipt_terms where subject_id = $1',
      [ids.link],
    );
    assert.deepEqual(terms, { customer_sealed: null, customer_shown: null });
    assert.deepEqual(await differences(), []);
  });

  test('of what is not final is left, and counted', async () => {
    await savedMethod('active-9', 'active');
    const payout = await history.payOut(key, 100n, 'pending');
    assert.deepEqual(await erase('customer', 'active-9'), {
      payments: 0,
      payouts: 0,
      tokens: 0,
      subscriptions: 0,
      left: 2,
      hasMore: false,
    });
    assert.deepEqual(await erase('payout', payout), {
      payments: 0,
      payouts: 0,
      tokens: 0,
      subscriptions: 0,
      left: 1,
      hasMore: false,
    });
    assert.equal(
      (await query('select recipient_phone from payout where id = $1', [payout]))[0]
        .recipient_phone,
      '+79990000000',
    );
  });

  test('without a customer, of another merchant and without a reason is refused; what was done is in the audit log without the customer’s reference', async () => {
    const code = async (subject: ErasedSubject, id: string, reason?: string) =>
      ((await erase(subject, id, reason)) as { code?: string }).code;
    assert.deepEqual(
      [
        await code('customer', 'nobody'),
        await code('payment', randomUUID()),
        await code('payout', 'x'),
      ],
      ['not_found', 'not_found', 'not_found'],
    );
    assert.equal(await code('customer', 'active-9', ' '), 'bad_request');
    const stranger = await migrated.merchant();
    const [{ id }] = await query('select id from payment where merchant_id = $1 limit 1', [
      key.merchantId,
    ]);
    const foreign = await erasePersonalData(migrated.database, operator, {
      merchantId: stranger.merchantId,
      subject: 'payment',
      id,
      reason: 'r',
    });
    assert.equal('code' in foreign && foreign.code, 'not_found');
    const entries = await query(
      `select actor, subject_kind, subject_id, after, (select texts -> 'after' ->> 'reason' from audit_text where entry_id = audit_entry.id) as reason
        from audit_entry where action = 'personal_data.erase' and merchant_id = $1 order by at, id`,
      [key.merchantId],
    );
    assert.deepEqual(
      entries.map((entry) => entry.subject_kind),
      ['customer', 'payment', 'payout', 'customer', 'payout'],
    );
    assert.match(entries[0].subject_id, /^[0-9a-f]{16}$/);
    assert.deepEqual(
      [entries[0].actor, entries[0].after.payments, entries[0].reason],
      ['anna', 2, 'asked by the buyer'],
    );
  });
});
