/** A merchant with many payments or refunds to be asked about does not delay others. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openBanks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import { noPolicies } from '../support/no-policies.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { askBank, paymentAsks } from '../../subgraphs/payments/bank-answers/ask-bank.ts';
import { openSession } from '../../subgraphs/payments/checkout/open-session.ts';
import { recordPayment } from '../../subgraphs/payments/create-payment.ts';
import { refundPayment } from '../../subgraphs/payments/refunds/refund-payment.ts';
import { refundAsks } from '../../subgraphs/payments/refunds/send-refund.ts';
import type { PaymentKey } from '../../subgraphs/payments/store-payment.ts';
import { countStatements } from '../support/count-statements.ts';
import { granted } from '../support/granted.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

const start = Temporal.Instant.from('2026-11-21T10:00:00Z');
const at = (minutes: number): Temporal.Instant => start.add({ minutes });
const banks = () => openBanks(openSimulator(migrated.database), migrated.database.pool);

/** A payment that the bank is to be asked about, two minutes later at the latest. */
const processing = async (
  key: KeyPrincipal,
  amount: bigint,
  now: Temporal.Instant,
): Promise<PaymentKey> => {
  const { database } = migrated;
  const input = { amount, method: 'sbp' } as const;
  const { payment } = granted(await recordPayment(database, noPolicies, key, { input }, now));
  const made = { merchantId: key.merchantId, paymentId: payment.id };
  const session = { key: made, card: null, pageUrl: 'https://pay.example/p', now };
  granted(await openSession(database, banks(), noPolicies, session));
  return made;
};

/** Makes refunds that the bank answers 5 seconds later: the amount ends in 07. */
const refund = async (key: KeyPrincipal, count: number, now: Temporal.Instant): Promise<void> => {
  const { database } = migrated;
  const payment = await processing(key, 100_000n, now);
  granted(await askBank(database, banks(), payment, now.add({ seconds: 10 })));
  const asked = { paymentId: payment.paymentId, amount: 107n, reason: null };
  for (let made = 0; made < count; made += 1)
    granted(await refundPayment(database, banks(), key, asked, now.add({ seconds: 20 })));
};

const finds = { payments: paymentAsks, refunds: refundAsks } as const;
const makes = {
  payments: async (key: KeyPrincipal, count: number, now: Temporal.Instant) => {
    for (let made = 0; made < count; made += 1) await processing(key, 100n, now);
  },
  refunds: refund,
} as const;

for (const what of ['payments', 'refunds'] as const)
  test(`merchants share a full page of ${what} to be asked about, by turns`, async () => {
    const { database } = migrated;
    const [busy, other] = [await migrated.merchant(), await migrated.merchant()];
    await makes[what](busy, 12, at(0));
    await makes[what](other, 3, at(1));
    const counted = countStatements(database.pool);
    const page = async (limit: number) =>
      (await finds[what].dueByTurns(database.pool, null, at(20), limit)).map(({ merchantId }) =>
        merchantId === other.merchantId ? 'other' : 'busy',
      );
    const full = await page(8);
    assert.equal(full.length, 8);
    assert.deepEqual(
      Array.from({ length: 3 }, (_, turn) => full.slice(turn * 2, turn * 2 + 2).toSorted()),
      Array.from({ length: 3 }, () => ['busy', 'other']),
    );
    const asked = counted.texts.length;
    assert.equal((await page(16)).length, 15);
    assert.equal(counted.texts.length - asked, 3, 'who has them, and those of each');
    await database.pool.query('update payment set ask_at = null where ask_at is not null');
    await database.pool.query('update refund set ask_at = null where ask_at is not null');
  });
