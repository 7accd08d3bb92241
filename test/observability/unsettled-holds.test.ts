/**
 * An order about a hold whose bank's word is not known is money without an end, from its order on.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openBanks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import { newRowId } from '../../subgraphs/platform/database/statement.ts';
import { watchUnsettledMoney } from '../../subgraphs/ledger/unsettled-money.ts';
import { metrics } from '../../subgraphs/platform/tracing/telemetry.ts';
import { capturePayment } from '../../subgraphs/payments/holds/capture-payment.ts';
import { granted } from '../support/granted.ts';
import { holdPayment } from '../support/held-payment.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

/** What the gauges say of holds in test mode: count by age, and sum by age. */
const holds = async (): Promise<readonly string[]> => {
  const scraped = await metrics.metrics();
  return scraped
    .split('\n')
    .filter(
      (line) => /^money_unsettled.*kind="hold",mode="test"/.test(line) && !line.endsWith(' 0'),
    )
    .map((line) => line.replace(/^money_unsettled|kind="hold",mode="test",|currency="RUB",/g, ''));
};

test('a capture that its bank has not answered counts since its order, with what it takes', async (t) => {
  const { database } = migrated;
  t.after(watchUnsettledMoney(database.pool));
  const key = await migrated.merchant();
  const made = Temporal.Now.instant().subtract({ hours: 72 });
  const held = await holdPayment(migrated, key, 10_000n, made);
  assert.deepEqual(await holds(), [], 'what is held and not ordered waits for its merchant');
  const banks = openBanks(openSimulator(database), database.pool);
  // The simulator gives no answer to an amount that ends with 06.
  const request = { paymentId: held.id, amount: 9_006n };
  const now = made.add({ hours: 1 });
  const { made: payment } = granted(await capturePayment(database, banks, key, request, now));
  assert.equal(payment.status, 'authorized');
  assert.deepEqual(await holds(), ['{age="10m"} 1', '_minor_units{age="10m"} 9006']);

  const age = (minutes: number): Promise<unknown> =>
    database.pool.query('update payment set hold_key = $2 where id = $1', [
      held.id,
      newRowId(Date.now() - minutes * 60_000),
    ]);
  await age(90);
  assert.deepEqual(await holds(), ['{age="1d"} 1', '_minor_units{age="1d"} 9006']);
  // One that was made before its key had the time in it.
  const random = '5f0c1f0e-2b9d-4a7e-9d3a-1c2b3a4d5e6f';
  await database.pool.query('update payment set hold_key = $2 where id = $1', [held.id, random]);
  assert.deepEqual(await holds(), ['{age="10m"} 1', '_minor_units{age="10m"} 9006']);
});
