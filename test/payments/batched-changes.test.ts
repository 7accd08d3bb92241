/** Changes of payments at the same moment share one statement, with the same answers. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openBanks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import { propertyNames } from '../../subgraphs/platform/database/statement.ts';
import { noPolicies } from '../support/no-policies.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { askBank } from '../../subgraphs/payments/bank-answers/ask-bank.ts';
import { openSession } from '../../subgraphs/payments/checkout/open-session.ts';
import { recordPayment } from '../../subgraphs/payments/create-payment.ts';
import { PaymentEntity, type Payment } from '../../subgraphs/payments/entities.ts';
import { storePayment } from '../../subgraphs/payments/store-payment.ts';
import { countStatements } from '../support/count-statements.ts';
import { granted } from '../support/granted.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import { poison } from '../support/poison.ts';

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

const start = Temporal.Instant.from('2026-11-21T10:00:00.123Z');
const at = (seconds: number): Temporal.Instant => start.add({ seconds });
const banks = () => openBanks(openSimulator(migrated.database), migrated.database.pool);

/** Payments of the merchants, by turns. */
const createMany = (keys: readonly KeyPrincipal[], count: number): Promise<readonly Payment[]> =>
  Promise.all(
    Array.from({ length: count }, (_, index) => keys[index % keys.length])
      .filter((key) => key !== undefined)
      .map(async (key) => {
        const input = {
          amount: 10_000n,
          method: 'sbp',
          metadata: { zebra: '1', ant: '2' },
        } as const;
        return granted(await recordPayment(migrated.database, noPolicies, key, { input }, start))
          .payment;
      }),
  );

const stored = async ({ merchantId, id }: Payment): Promise<object> => {
  const entity = await migrated.database.fork().findOneOrFail(PaymentEntity, { merchantId, id });
  return Object.fromEntries(
    propertyNames(PaymentEntity).map((name) => [name, entity[name as keyof typeof entity] ?? null]),
  );
};

/** A change of a payment that anybody can see. */
const mark = (payment: Payment, text: string): Promise<Payment | null> =>
  storePayment(
    migrated.database.pool,
    payment,
    { patch: { metadata: { ...payment.metadata, text } }, postings: [], events: () => [] },
    at(1),
  );

test('payments that are opened and approved at the same moment are written and booked as one by one', async () => {
  const keys = [await migrated.merchant(), await migrated.merchant()];
  const { database } = migrated;
  const payments = await createMany(keys, 40);
  const counted = countStatements(database.pool);
  const opened = await Promise.all(
    payments.map(async ({ merchantId, id }) =>
      granted(
        await openSession(database, banks(), noPolicies, {
          key: { merchantId, paymentId: id },
          card: null,
          pageUrl: 'https://pay.example/p',
          now: at(1),
        }),
      ),
    ),
  );
  for (const payment of opened.slice(0, 6)) assert.deepEqual(await stored(payment), { ...payment });
  const approved = await Promise.all(
    payments.map(async ({ merchantId, id }) =>
      granted(await askBank(database, banks(), { merchantId, paymentId: id }, at(60))),
    ),
  );
  assert.deepEqual(new Set(approved.map(({ status }) => status)), new Set(['succeeded']));
  for (const payment of approved.slice(0, 6)) {
    assert.deepEqual(await stored(payment), { ...payment });
    assert.deepEqual(Object.keys(payment.metadata).slice(0, 2), ['zebra', 'ant']);
  }
  const writes = counted.texts.filter((text) => text.includes('update payment set version'));
  assert.ok(writes.length < payments.length, `${writes.length} statements for 80 changes`);
  for (const { merchantId } of keys) {
    const { rows } = await database.pool.query<{ counts: number[] }>(
      `select array[(select count(*) from posting where merchant_id = $1),
        (select count(distinct source_id) from posting where merchant_id = $1),
        (select count(*) from event where merchant_id = $1 and stream_kind = 'payment.status_changed'),
        (select sum(amount) from balance_delta where merchant_id = $1 and account = 'merchant')]::int[] as counts`,
      [merchantId],
    );
    // Nothing is withheld in test mode.
    assert.deepEqual(rows[0]?.counts, [20, 20, 40, 200_000]);
  }
});

test('of two changes of one payment at the same moment one is written, and the other is not', async () => {
  const payments = await createMany([await migrated.merchant()], 3);
  const [payment] = payments;
  assert.ok(payment);
  const [one, other, ...others] = await Promise.all([
    mark(payment, 'one'),
    mark(payment, 'other'),
    ...payments.slice(1).map((each) => mark(each, 'another')),
  ]);
  assert.equal(one?.metadata['text'], 'one');
  assert.equal(other, null);
  assert.ok(others.every((each) => each !== null));
  assert.deepEqual(await stored(payment), { ...one });
});

test('a locked payment is waited for alone: the other changes of its batch are written', async () => {
  const payments = await createMany([await migrated.merchant(), await migrated.merchant()], 10);
  const [locked, ...beside] = payments;
  assert.ok(locked);
  const holder = await migrated.database.pool.connect();
  await holder.query('begin');
  await holder.query('select from payment where id = $1 for update', [locked.id]);
  const waiting = mark(locked, 'later');
  const written = await Promise.all(beside.map((payment) => mark(payment, 'now')));
  assert.ok(written.every((payment) => payment?.metadata['text'] === 'now'));
  assert.equal('text' in ((await stored(locked)) as Payment).metadata, false);
  await holder.query('rollback');
  holder.release();
  assert.equal((await waiting)?.metadata['text'], 'later');
});

test('a change that cannot be written fails alone', async () => {
  const [stranger, key] = [await migrated.merchant(), await migrated.merchant()];
  const payments = await createMany([stranger, key], 20);
  const heal = await poison(migrated.database.pool, 'payment', 'update', stranger.merchantId);
  const ended = await Promise.allSettled(payments.map((payment) => mark(payment, 'marked')));
  await heal();
  assert.deepEqual(
    ended.map(({ status }) => status),
    payments.map(({ merchantId }) => (merchantId === key.merchantId ? 'fulfilled' : 'rejected')),
  );
});
