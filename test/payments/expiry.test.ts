import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Bank } from '../../subgraphs/acquirers/bank.ts';
import { openBanks, type Banks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import { noPolicies } from '../support/no-policies.ts';
import { isRefusal, type Refusal } from '../../subgraphs/rules/refusal.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { askBank } from '../../subgraphs/payments/bank-answers/ask-bank.ts';
import { cancelPayment } from '../../subgraphs/payments/cancel-payment.ts';
import { recordPayment } from '../../subgraphs/payments/create-payment.ts';
import type { Payment } from '../../subgraphs/payments/entities.ts';
import { expirePayments } from '../../subgraphs/payments/expire-payments.ts';
import { openSession } from '../../subgraphs/payments/checkout/open-session.ts';
import { countStatements } from '../support/count-statements.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import { granted } from '../support/granted.ts';

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

const start = Temporal.Instant.from('2026-11-21T10:00:00Z');
const at = (seconds: number): Temporal.Instant => start.add({ seconds });
const banks = (): Banks => openBanks(openSimulator(migrated.database), migrated.database.pool);
/** The banks of this installation, of which every one does what `own` says. */
const banksThat = (own: Partial<Bank>): Banks => {
  const simulator = { ...banks().simulator, ...own };
  return { ...banks(), simulator, bankOf: () => simulator };
};
const create = async (key: KeyPrincipal, amount: bigint): Promise<Payment> =>
  granted(
    await recordPayment(
      migrated.database,
      noPolicies,
      key,
      { input: { amount, method: 'sbp' } },
      start,
    ),
  ).payment;
const pay = (payment: Payment, now: Temporal.Instant): Promise<Payment | Refusal> =>
  openSession(migrated.database, banks(), noPolicies, {
    key: { merchantId: payment.merchantId, paymentId: payment.id },
    card: null,
    pageUrl: 'https://pay.example/p',
    now,
  });

/** Makes `count` more payments like one, each with its own id and link. */
const multiply = async ({ merchantId, id }: Payment, count: number): Promise<void> => {
  const { pool } = migrated.database;
  const { rows } = await pool.query<{ columns: string }>(
    `select string_agg(quote_ident(column_name), ', ') as columns from information_schema.columns
      where table_schema = 'public' and table_name = 'payment' and column_name not in ('id', 'public_id')`,
  );
  const columns = rows[0]?.columns ?? assert.fail('no columns');
  await pool.query(
    `insert into payment (id, public_id, ${columns}) select gen_random_uuid(), 'P-' || nextval('payment_public_id'), ${columns}
      from payment, generate_series(1, $3) where merchant_id = $1 and id = $2`,
    [merchantId, id, count],
  );
};
const counted = async ({ merchantId }: KeyPrincipal): Promise<Readonly<Record<string, number>>> => {
  const { rows } = await migrated.database.pool.query<{ status: string; count: number }>(
    'select status, count(*)::int as count from payment where merchant_id = $1 group by status',
    [merchantId],
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
};
const webhooksOf = async ({
  merchantId,
}: KeyPrincipal): Promise<{ webhook_event: string; webhook_body: string; subject_id: string }[]> =>
  (
    await migrated.database.pool.query<{
      webhook_event: string;
      webhook_body: string;
      subject_id: string;
    }>(
      'select webhook_event, webhook_body, subject_id from event where merchant_id = $1 and webhook_event is not null',
      [merchantId],
    )
  ).rows;

test('two thousand links that end at the same moment all expire in a handful of statements, each published once', async () => {
  const key = await migrated.merchant();
  const { pool } = migrated.database;
  await multiply(await create(key, 10_000n), 1_999);
  let roundTrips = 0;
  const count = (): number => (roundTrips += 1);
  pool.on('acquire', count);
  assert.equal(await expirePayments(migrated.database, banks(), () => at(3_600)), 2_000);
  pool.off('acquire', count);
  assert.ok(roundTrips <= 12, `took ${roundTrips} statements and transactions`);
  assert.deepEqual(await counted(key), { expired: 2_000 });
  const received = await webhooksOf(key);
  assert.equal(received.length, 2_000);
  assert.equal(new Set(received.map(({ subject_id }) => subject_id)).size, 2_000);
  const { event, data } = JSON.parse(received[0]?.webhook_body ?? '{}');
  assert.deepEqual(
    [event, data.status, data.metadata, data.finalized_at],
    [
      'payment.expired',
      'expired',
      { mode: 'test', simulator_outcome: 'succeeded', failure_code: 'link_expired' },
      '2026-11-21T11:00:00.000Z',
    ],
  );
  assert.equal(
    await expirePayments(migrated.database, banks(), () => at(3_601)),
    0,
    'nothing is left to do',
  );
});

test('a bank that never answers delays no session’s end, and is asked again afterwards', async () => {
  const key = await migrated.merchant();
  const payment = await create(key, 10_006n);
  granted(await pay(payment, start));
  await multiply(payment, 299);
  const silent = banksThat({ ask: () => new Promise(() => {}) });
  await expirePayments(migrated.database, silent, () => at(20 * 60));
  assert.deepEqual(await counted(key), { expired: 300 });
  const { rows } = await migrated.database.pool.query(
    'select distinct ask_at::text from payment where merchant_id = $1',
    [key.merchantId],
  );
  assert.deepEqual(rows, [{ ask_at: '2026-11-21 10:21:00+00' }]);
});

test('a question that fails keeps no other payment from its end', async () => {
  const key = await migrated.merchant();
  const payments = await Promise.all(
    [10_006n, 10_006n, 10_006n].map((amount) => create(key, amount)),
  );
  for (const payment of payments) granted(await pay(payment, start));
  const broken = banksThat({
    ask: ({ operationId }) =>
      operationId === payments[0]?.id
        ? Promise.reject(new Error('the connector is broken'))
        : banks().simulator.ask({ ...key, operationId, now: start }),
  });
  await expirePayments(migrated.database, broken, () => at(20 * 60));
  assert.deepEqual(await counted(key), { expired: 3 });
});

test('of a cancel and a pay at the same moment exactly one wins, and the bank has a session only if the pay did', async () => {
  const key = await migrated.merchant();
  const won = { cancel: 0, pay: 0 };
  const sent = countStatements(migrated.database.pool).texts;
  for (let round = 0; round < 20; round += 1) {
    const payment = await create(key, 10_000n);
    const cancel = (): Promise<Payment | Refusal> =>
      cancelPayment(migrated.database, key, payment.id, at(1));
    const [first, second] =
      round % 2 === 0 ? [() => pay(payment, at(1)), cancel] : [cancel, () => pay(payment, at(1))];
    // The later the round, the more statements the first one is ahead: at last it is done.
    const until = sent.length + Math.floor(round / 2);
    const done = new AbortController();
    const begin = async (): Promise<Payment | Refusal> => {
      while (!done.signal.aborted && sent.length < until) await turn();
      return second();
    };
    const results = await Promise.all([first().finally(() => done.abort()), begin()]);
    const [winner] = results.filter((result) => !isRefusal(result));
    assert.equal(
      results.filter((result) => isRefusal(result) && result.code === 'not_pending').length,
      1,
      `round ${round}`,
    );
    const { rows } = await migrated.database.pool.query(
      'select 1 from simulator_operation where operation_id = $1',
      [payment.id],
    );
    const paid = winner && !isRefusal(winner) && winner.status === 'processing';
    assert.equal(rows.length, paid ? 1 : 0, 'the bank agrees');
    won[paid ? 'pay' : 'cancel'] += 1;
  }
  assert.ok(won.cancel > 0 && won.pay > 0, JSON.stringify(won));
});

test('of a cancel, a pay and the end of the link at the same moment exactly one wins, and it alone is published', async () => {
  const key = await migrated.merchant();
  const lastMoment = start.add({ minutes: 60 }).subtract({ milliseconds: 1 });
  const payments = await Promise.all(Array.from({ length: 30 }, () => create(key, 10_000n)));
  // Clocks of several processes differ: to the sweep the links are over, to the merchant and the
  // buyer not yet.
  await Promise.all([
    ...payments.flatMap((payment) => [
      pay(payment, lastMoment),
      cancelPayment(migrated.database, key, payment.id, lastMoment),
    ]),
    expirePayments(migrated.database, banks(), () => at(3_600)),
  ]);
  await expirePayments(migrated.database, banks(), () => at(3_600));
  const { pending, ...ended } = await counted(key);
  assert.equal(pending, undefined);
  const total = Object.values(ended).reduce((sum, count) => sum + count, 0);
  assert.equal(total, 30, JSON.stringify(ended));
  const received = await webhooksOf(key);
  assert.equal(received.length, 30 - (ended['processing'] ?? 0), 'one webhook for each that ended');
  const { rows } = await migrated.database.pool.query(
    'select 1 from simulator_operation where merchant_id = $1',
    [key.merchantId],
  );
  assert.equal(rows.length, ended['processing'] ?? 0, 'the bank agrees');
});

test('two sweeps at once expire each payment once', async () => {
  const key = await migrated.merchant();
  await multiply(await create(key, 10_000n), 599);
  await Promise.all(
    [1, 2, 3].map(() => expirePayments(migrated.database, banks(), () => at(3_600))),
  );
  await expirePayments(migrated.database, banks(), () => at(3_600));
  assert.deepEqual(await counted(key), { expired: 600 });
  assert.equal((await webhooksOf(key)).length, 600);
});

test('a charge of a saved method is asked about from its end on, and not ordered any more', async () => {
  const key = await migrated.merchant();
  const payment = await create(key, 10_006n);
  granted(await pay(payment, start));
  const { pool } = migrated.database;
  await pool.query(
    `update payment set kind = 'token_charge', token_id = gen_random_uuid(), method = 'recurrent' where id = $1`,
    [payment.id],
  );
  const calls = { asked: 0, ordered: 0 };
  const silent = (call: keyof typeof calls) => (): Promise<{ kind: 'unknown' }> =>
    Promise.resolve({ kind: 'unknown' } as const).finally(() => (calls[call] += 1));
  const bank = banksThat({ ask: silent('asked'), charge: silent('ordered') });
  await expirePayments(migrated.database, bank, () => at(20 * 60));
  assert.deepEqual(await counted(key), { expired: 1 });
  const after = granted(
    await askBank(
      migrated.database,
      bank,
      { merchantId: key.merchantId, paymentId: payment.id },
      at(21 * 60),
    ),
  );
  assert.deepEqual(
    [after.status, after.askAt?.epochMilliseconds, calls],
    ['expired', at(30 * 60).epochMilliseconds, { asked: 2, ordered: 0 }],
  );
});
