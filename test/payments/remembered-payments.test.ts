/**
 * What a process remembers of payments spares reads, and decides nothing: the row, its rate and the
 * bank do. Confirmations of the same moment share a statement of the simulated bank.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openBanks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import { noPolicies } from '../support/no-policies.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { confirmSimulator } from '../../subgraphs/payments/checkout/prepare-checkout.ts';
import { openSession } from '../../subgraphs/payments/checkout/open-session.ts';
import { openShownPayments } from '../../subgraphs/payments/parts.ts';
import { recordPayment } from '../../subgraphs/payments/create-payment.ts';
import type { Payment } from '../../subgraphs/payments/entities.ts';
import { expirePayments } from '../../subgraphs/payments/expire-payments.ts';
import { findPayment } from '../../subgraphs/payments/store-payment.ts';
import { countStatements } from '../support/count-statements.ts';
import { granted } from '../support/granted.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import { eventually } from '../support/eventually.ts';

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

const start = Temporal.Instant.from('2026-11-21T10:00:00.123Z');
const at = (seconds: number): Temporal.Instant => start.add({ seconds });
const banks = () => openBanks(openSimulator(migrated.database), migrated.database.pool);
const keyOf = ({ merchantId, id }: Payment) => ({ merchantId, paymentId: id });

/** Payments whose buyers are at the bank, as their pages remember them. */
const atBank = async (key: KeyPrincipal, count: number) => {
  const { database } = migrated;
  const shown = openShownPayments();
  const open = async (): Promise<Payment> => {
    const metadata = { simulator_outcome: 'requires_action' };
    const input = { amount: 10_000n, method: 'sbp', metadata } as const;
    const { payment } = granted(await recordPayment(database, noPolicies, key, { input }, start));
    granted(
      await openSession(database, banks(), noPolicies, {
        key: keyOf(payment),
        card: null,
        pageUrl: 'https://pay.example/p',
        now: at(1),
      }),
    );
    const found = await findPayment(database.pool, keyOf(payment), at(1));
    assert.ok(found);
    shown.keep(found);
    return found.payment;
  };
  const payments = await Promise.all(Array.from({ length: count }, open));
  const confirm = async (payment: Payment, approve: boolean, seconds: number): Promise<Payment> =>
    granted(
      await confirmSimulator(
        { database, banks: banks(), shown },
        keyOf(payment),
        { approve, coded: false },
        at(seconds),
      ),
    );
  return { payments, confirm };
};

/** How many calls of banks are on record for a payment. */
const callsOf = async ({ merchantId, id }: Payment): Promise<number> => {
  const { rows } = await migrated.database.pool.query<{ count: number }>(
    'select count(*)::int as count from bank_call where merchant_id = $1 and subject_id = $2',
    [merchantId, id],
  );
  return rows[0]?.count ?? 0;
};

const setRate = async ({ merchantId }: KeyPrincipal, rateBps: number): Promise<unknown> =>
  migrated.database.pool.query(
    `insert into rate (id, method, rate_bps, since, merchant_id) values (gen_random_uuid(), 'sbp', $1, $2, $3)`,
    [rateBps, at(2).toString(), merchantId],
  );

test('a fee follows the rate of its moment, whatever was remembered, alone and among others', async () => {
  for (const count of [1, 12]) {
    const key = await migrated.merchant();
    const { payments, confirm } = await atBank(key, count);
    await setRate(key, 250);
    const confirmed = await Promise.all(payments.map((payment) => confirm(payment, true, 3)));
    assert.deepEqual(
      new Set(confirmed.map(({ status, feeRateBps }) => `${status} ${feeRateBps}`)),
      new Set(['succeeded 250']),
    );
  }
});

test('a confirmation of a payment that is remembered reads nothing and is two statements', async () => {
  const { payments, confirm } = await atBank(await migrated.merchant(), 1);
  const [payment] = payments;
  assert.ok(payment);
  // The calls of the opening are written beside the work, some moments later.
  await eventually(async () => (await callsOf(payment)) > 0, 'the record of the opening');
  const counted = countStatements(migrated.database.pool);
  assert.equal((await confirm(payment, true, 2)).status, 'succeeded');
  assert.equal(counted.texts.length, 2, counted.texts.join('\n'));
});

test('confirmations at the same moment share a statement, and each payment is decided once', async () => {
  const { payments, confirm } = await atBank(await migrated.merchant(), 20);
  const counted = countStatements(migrated.database.pool);
  // Every payment is confirmed and refused at once: the bank takes one of them.
  const answers = await Promise.all(
    payments.flatMap((payment, index) => [
      confirm(payment, index % 2 === 0, 2),
      confirm(payment, index % 2 === 1, 2),
    ]),
  );
  for (const [place, payment] of payments.entries()) {
    const [one, other] = answers.slice(place * 2, place * 2 + 2);
    assert.equal(one?.status, other?.status, payment.id);
    assert.ok(one?.status === 'succeeded' || one?.status === 'failed');
  }
  const shared = counted.texts.filter((text) => text.includes('update simulator_operation'));
  assert.ok(shared.length < 2 * payments.length, `${shared.length} statements for 40 calls`);
  const { rows } = await migrated.database.pool.query<{ booked: string; succeeded: string }>(
    `select (select count(*) from posting where merchant_id = $1 and type = 'payment') as booked,
      (select count(*) from payment where merchant_id = $1 and status = 'succeeded') as succeeded`,
    [payments[0]?.merchantId],
  );
  assert.equal(rows[0]?.booked, rows[0]?.succeeded);
});

test('a payment whose session has ended is read again: it is no longer confirmed', async () => {
  const { payments, confirm } = await atBank(await migrated.merchant(), 1);
  const [payment] = payments;
  assert.ok(payment);
  const late_s = 20 * 60 + 60;
  await expirePayments(migrated.database, banks(), () => at(late_s));
  assert.equal((await confirm(payment, true, late_s)).status, 'expired');
});
