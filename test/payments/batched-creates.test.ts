/** Payments that are created at the same moment share one statement, with the same answers. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bank } from '../../subgraphs/acquirers/bank.ts';
import { openBanks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import { createOnce } from '../../subgraphs/platform/database/idempotency.ts';
import { isSharded } from '../../subgraphs/platform/database/sql-file.ts';
import { propertyNames } from '../../subgraphs/platform/database/statement.ts';
import { noPolicies } from '../support/no-policies.ts';
import { isRefusal, refuse } from '../../subgraphs/rules/refusal.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import {
  createPayment,
  recordPayment,
  type CreatingDeps,
} from '../../subgraphs/payments/create-payment.ts';
import { PaymentEntity, type Payment } from '../../subgraphs/payments/entities.ts';
import { countStatements } from '../support/count-statements.ts';
import { answered, codeOf, granted } from '../support/granted.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import { poison } from '../support/poison.ts';
import { eventually } from '../support/eventually.ts';
import { size } from '../support/size.ts';
import { openGate, repeatWhileAsking } from '../support/slow-answer.ts';
import { testCustomers } from '../support/customers.ts';

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

const start = Temporal.Instant.from('2026-11-21T10:00:00.123Z');

const create = (key: KeyPrincipal, amount: bigint, idempotencyKey?: string) =>
  recordPayment(
    migrated.database,
    noPolicies,
    key,
    {
      input: { amount, orderId: `order ${amount}`, metadata: { text: `{"a", NULL} \\ ${amount}` } },
      idempotency: idempotencyKey ? { key: idempotencyKey } : null,
    },
    start.add({ milliseconds: Number(amount % 1_000n) }),
  );

const amounts = (count: number): readonly bigint[] =>
  Array.from({ length: count }, (_, index) => BigInt(index + 1));

const stored = async ({ merchantId, id }: Payment): Promise<object> => {
  const entity = await migrated.database.fork().findOneOrFail(PaymentEntity, { merchantId, id });
  return Object.fromEntries(
    propertyNames(PaymentEntity).map((name) => [name, entity[name as keyof typeof entity] ?? null]),
  );
};

/** What was written for a merchant: payments, events, claims. */
const writtenOf = async ({ merchantId }: KeyPrincipal): Promise<readonly number[]> => {
  const { rows } = await migrated.database.pool.query<{ counts: number[] }>(
    `select array[(select count(*) from payment where merchant_id = $1),
      (select count(*) from event where merchant_id = $1),
      (select count(*) from idempotency_key where merchant_id = $1)]::int[] as counts`,
    [merchantId],
  );
  return rows[0]?.counts ?? [];
};

test('a hundred calls of two merchants are a few statements, and each writes and returns what a single one does', async () => {
  const [one, other] = [await migrated.merchant(), await migrated.merchant()];
  // Asked once for each pool.
  await isSharded(migrated.database.pool);
  const counted = countStatements(migrated.database.pool);
  const made = await Promise.all(
    amounts(100).map((amount) =>
      create(
        amount % 2n === 0n ? one : other,
        amount,
        amount % 3n === 0n ? `${amount}` : undefined,
      ),
    ),
  );
  assert.equal(counted.texts.length, 2, counted.texts.join('\n'));
  const payments = made.map((created) => granted(created).payment);
  assert.deepEqual(
    payments.map(({ amount }) => amount),
    amounts(100),
  );
  for (const payment of payments.slice(0, 10))
    assert.deepEqual(await stored(payment), { ...payment });
  const single = granted(await create(one, 10n)).payment;
  const shape = (payment: Payment): object => ({ ...payment, id: '', publicId: '' });
  assert.deepEqual(payments[9] && shape(payments[9]), shape(single));
  assert.deepEqual(
    [await writtenOf(one), await writtenOf(other)],
    [
      [51, 51, 16],
      [50, 50, 17],
    ],
  );
});

test('numbers and events of one merchant follow the order of its calls', async () => {
  const key = await migrated.merchant();
  await Promise.all(amounts(50).map((amount) => create(key, amount)));
  const { rows } = await migrated.database.pool.query<{ amounts: bigint[]; events: string[] }>(
    `select (select array_agg(amount::text order by substr(public_id, 3)::int) from payment where merchant_id = $1) as amounts,
      (select array_agg(payload ->> 'amount' order by position) from event where merchant_id = $1) as events`,
    [key.merchantId],
  );
  const expected = amounts(50).map(String);
  assert.deepEqual(rows[0], { amounts: expected, events: expected });
});

test('equal keys of one moment are one effect: replays for the same request, a conflict for another', async () => {
  const [key, other] = [await migrated.merchant(), await migrated.merchant()];
  const [mine, theirs] = [
    await Promise.all(Array.from({ length: 40 }, () => answered(() => create(key, 5n, 'same')))),
    await Promise.all([create(key, 6n, 'same'), create(key, 7n), create(other, 5n, 'same')]),
  ];
  const made = mine.map(granted);
  assert.equal(new Set(made.map(({ payment }) => payment.id)).size, 1);
  assert.equal(made.filter(({ replayed }) => !replayed).length, 1);
  assert.deepEqual(theirs.map(codeOf), ['idempotent_conflict', 'not refused', 'not refused']);
  assert.deepEqual(await writtenOf(key), [2, 2, 1]);
});

test('a key that another operation holds is waited for alone: the calls beside it are not held up', async () => {
  const key = await migrated.merchant();
  const others = await Promise.all([migrated.merchant(), migrated.merchant()]);
  const held = Promise.withResolvers<void>();
  const holding = Promise.withResolvers<void>();
  const claim = {
    key: 'held',
    fingerprint: 'another',
    request: 'POST /v1/public/payments',
    asksLater: false,
  };
  const creation = {
    caller: key,
    claim,
    find: async () => null,
    resourceId: randomUUID(),
    at: start,
  };
  const holder = createOnce(migrated.database.pool, creation, async () => {
    held.resolve();
    await holding.promise;
    return refuse('insufficient_balance', 'not today');
  });
  await held.promise;
  let round = 0;
  // A call waits for five seconds, which a busy machine may need for those beside it: then anew.
  await eventually(async () => {
    round += 1;
    let isWaiting = true;
    const waiting = create(key, 1n, 'held').finally(() => (isWaiting = false));
    const beside = await Promise.all(
      [key, ...others].flatMap((caller) =>
        amounts(10).map((amount) => create(caller, amount, `${round} ${amount}`)),
      ),
    );
    assert.ok(beside.every((created) => !isRefusal(created) && !created.replayed));
    const wereNotHeldUp = isWaiting;
    assert.equal(codeOf(await waiting), 'idempotent_in_progress');
    return wereNotHeldUp;
  }, 'calls that are done while another one waits');
  holding.resolve();
  assert.equal(codeOf(await holder), 'insufficient_balance');
  const free = granted(await create(key, 1n, 'held'));
  assert.equal(free.replayed, false, 'the holder was refused: its key is free');
});

test('a stranger whose rows cannot be written fails alone, and makes no second batch fail', async () => {
  const [stranger, key] = [await migrated.merchant(), await migrated.merchant()];
  const { pool } = migrated.database;
  const heal = await poison(pool, 'payment', 'insert', stranger.merchantId);
  const mixed = () =>
    Promise.allSettled(
      amounts(20).flatMap((amount) => [create(stranger, amount), create(key, amount)]),
    );
  const counted = countStatements(pool);
  for (const round of [1, 2]) {
    const ended = await mixed();
    assert.deepEqual(
      new Set(ended.filter((_, place) => place % 2 === 0).map(({ status }) => status)),
      new Set(['rejected']),
    );
    assert.deepEqual(
      new Set(ended.filter((_, place) => place % 2 === 1).map(({ status }) => status)),
      new Set(['fulfilled']),
    );
    assert.deepEqual(await writtenOf(stranger), [0, 0, 0]);
    assert.deepEqual((await writtenOf(key)).slice(0, 2), [20 * round, 20 * round]);
  }
  await heal();
  const sent = counted.texts.filter((text) => text.includes('insert into payment'));
  const alone = 2 * 20;
  assert.equal(sent.length - alone, 3, 'one of each merchant, and then none of the stranger');
});

/** What PostgreSQL calls the sessions of the process that is killed. */
const doomed = 'doomed creator';

/** Creates in another process, which is killed when it has reported so many; gives those. */
const createInDoomed = async (
  { merchantId, shopId }: KeyPrincipal,
  first: number,
  most: number,
): Promise<ReadonlyMap<number, string>> => {
  const reported = new Map<number, string>();
  const program = join(import.meta.dirname, 'doomed-creator.ts');
  const url = new URL(migrated.database.url);
  url.searchParams.set('application_name', doomed);
  const child = fork(program, [url.href, merchantId, shopId, `${first}`]);
  child.on('message', (message) => {
    // Messages over the channel are of our own making on both sides.
    const { number, id } = message as { readonly number: number; readonly id: string };
    reported.set(number, id);
    if (reported.size >= most) child.kill('SIGKILL');
  });
  const [, signal] = (await once(child, 'exit')) as [unknown, NodeJS.Signals | null];
  assert.equal(signal, 'SIGKILL');
  return reported;
};

test('a process that is killed in the middle of batches leaves each payment whole or not at all', async () => {
  const key = await migrated.merchant();
  const reported = new Map<number, string>();
  const kills = size([50, 133], [50, 133, 400]);
  for (const most of kills)
    for (const [number, id] of await createInDoomed(key, reported.size, most))
      reported.set(number, id);
  const { pool } = migrated.database;
  // One that looks idle may have a statement to read.
  const sessions = async (): Promise<number> =>
    (await pool.query('select from pg_stat_activity where application_name = $1', [doomed])).rows
      .length;
  await eventually(async () => (await sessions()) === 0, 'the end of what the dead process sent');
  const [payments = 0, ...others] = await writtenOf(key);
  assert.deepEqual(others, [payments, payments], 'each with its event and its claim');
  const least = Math.max(...kills);
  assert.ok(payments >= reported.size && reported.size >= least, `${payments}, ${reported.size}`);
  const numbers = [...reported.keys()];
  const repeated = await Promise.all(
    numbers.map((number) =>
      recordPayment(
        migrated.database,
        noPolicies,
        key,
        { input: { amount: 100n }, idempotency: { key: `key ${number}` } },
        start,
      ),
    ),
  );
  assert.deepEqual(
    repeated.map((created) => granted(created).payment.id),
    [...reported.values()],
    'what was reported is there',
  );
  assert.deepEqual(await writtenOf(key), [payments, payments, payments]);
});

test('connections that are lost in the middle of batches lose no payment and make none twice', async () => {
  const keys = await Promise.all(Array.from({ length: 4 }, () => migrated.merchant()));
  const { pool } = migrated.database;
  const over = new AbortController();
  const killing = (async () => {
    while (!over.signal.aborted) {
      await pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and query like 'with sent%' and state = 'active'`,
      );
      await sleep(5);
    }
  })();
  // Each caller repeats under the same key until it is answered, as the contract has it.
  const repeat = async (
    key: KeyPrincipal,
    amount: bigint,
    round: number,
  ): Promise<[lost: number, id: string]> => {
    for (let lost = 0; ; lost += 1) {
      const made = await create(key, amount, `key ${round} ${amount}`).catch(() => null);
      if (made) return [lost, granted(made).payment.id];
    }
  };
  const calls_max = size(60, 250);
  const ended: [lost: number, id: string][] = [];
  let rounds = 0;
  // A statement is over in milliseconds: on a busy machine none may be met for a while.
  for (; ended.every(([lost]) => lost === 0); rounds += 1)
    ended.push(
      ...(await Promise.all(
        keys.flatMap((key) => amounts(calls_max).map((amount) => repeat(key, amount, rounds))),
      )),
    );
  over.abort();
  await killing;
  const each = calls_max * rounds;
  assert.equal(new Set(ended.map(([, id]) => id)).size, keys.length * each);
  for (const key of keys) assert.deepEqual(await writtenOf(key), [each, each, each]);
});

test('creates under one key that arrive while the acquirer is given the order have the answer of the first', async () => {
  const { database } = migrated;
  const key = await migrated.merchant('live');
  await database.pool.query(
    `insert into bank_route (merchant_id, id, shop_id, mode, operation, method, connector, priority, active, created_at)
      values ($1, gen_random_uuid(), $2, 'live', 'payment', 'sbp', 'early', 1, true, now())`,
    [key.merchantId, key.shopId],
  );
  const gate = openGate();
  const simulator = openSimulator(database);
  const early: Bank = {
    ...simulator,
    connector: 'early',
    createsOrderEarly: ['sbp'],
    openSession: async (order) => {
      await gate.pass();
      return simulator.openSession(order);
    },
  };
  const parts: CreatingDeps = {
    database,
    customers: testCustomers,
    banks: openBanks(simulator, database.pool, [early]),
    policies: { current: async () => noPolicies },
    publicUrl: 'https://pay.example',
    pageSecret: randomBytes(32),
    privateTargets: () => false,
  };
  const request = {
    input: { amount: 100n, method: 'sbp' },
    idempotency: { key: 'early' },
  } as const;
  const answers = await repeatWhileAsking(database.pool, gate, () =>
    createPayment(parts, key, request, () => start),
  );
  const made = answers.map(granted);
  assert.ok(made[0]?.payment.bankRef);
  assert.deepEqual(
    made.map(({ payment, replayed }) => [payment.bankRef, replayed]),
    made.map((_, index) => [made[0]?.payment.bankRef, index > 0]),
  );
});
