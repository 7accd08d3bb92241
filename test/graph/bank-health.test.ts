/** How calls to banks went: counted by each process, summed for operators alone, forgotten. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { parse } from 'graphql';
import type { Bank } from '../../subgraphs/acquirers/bank.ts';
import type { Account, AccountsOf } from '../../subgraphs/acquirers/bank-accounts.ts';
import { openCallCounter, openCallRecorder } from '../../subgraphs/acquirers/calls.ts';
import type { OpenedBank } from '../../subgraphs/acquirers/connector.ts';
import { openBanks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import { openYooKassa } from '../../subgraphs/acquirers/yookassa/open-yookassa.ts';
import { forgetReports } from '../../subgraphs/platform/retention/jobs.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import { scopes, type Principal } from '../../subgraphs/platform/access/principal.ts';
import { spanOf, successRate_bps } from '../../subgraphs/merchants/bank-health/resolvers.ts';
import { shopAccount, startAcquirer, type Acquirer } from '../acquirer/start-acquirer.ts';
import { sessionOf } from '../live/receipt-fixture.ts';
import { patience_ms } from '../support/eventually.ts';
import { openGraphHarness } from './harness.ts';

let harness: Awaited<ReturnType<typeof openGraphHarness>>;
let acquirer: Acquirer;
let yookassa: OpenedBank;
let refused: OpenedBank;
const wrong = { ...shopAccount, secret: 'not the secret' };
const accounts =
  (account: Account): AccountsOf =>
  async () => ({ current: account, all: [account] });
before(async () => {
  [harness, acquirer] = await Promise.all([openGraphHarness(), startAcquirer()]);
  const { pool } = harness.database;
  const config = { url: acquirer.api, payouts: null, attempt_ms: patience_ms };
  refused = openYooKassa(config, accounts(wrong), pool);
  yookassa = openYooKassa(config, accounts(shopAccount), pool);
});
after(async () => {
  await Promise.all([yookassa?.close(), refused?.close()]);
  await Promise.all([acquirer?.stop(), harness?.close()]);
});

const document = parse(`query ($hours: Int) { bankHealth(hours: $hours) { intervalMinutes
  rows { connector mode operation method calls failures successRateBps measured p50Ms p95Ms series { calls failures } }
  breakers { connector process state since } } }`);

const operator: Principal = { kind: 'operator', subject: 'o', role: 'viewer', merchantId: null };
const ask = async (principal: Principal, hours?: number): Promise<any> => {
  const { data, errors } = await harness.supergraph.execute(
    { document, variables: hours === undefined ? {} : { hours } },
    { principal, requestId: 'r', isInLane: true },
  );
  return errors ? errors[0]?.extensions['code'] : JSON.parse(JSON.stringify(data)).bankHealth;
};

/** The banks of a process of its own, as far as counts go; `close` writes what it counted. */
const openProcess = (connectors: readonly Bank[]) => {
  const { database } = harness;
  const recorder = openCallRecorder(database.pool);
  const banks = openBanks(openSimulator(database), database.pool, connectors, null, recorder);
  const live = banks.bankOf({ mode: 'live', connector: 'yookassa' });
  assert(!isRefusal(live));
  const order = (bank: Bank) => bank.openSession(sessionOf(randomUUID(), 10_000, {}));
  return { live: () => order(live), test: () => order(banks.simulator), close: recorder.close };
};

const rowOf = (health: any, connector: string): any =>
  health.rows.find((row: any) => row.connector === connector && row.operation === 'payment');

test('calls of two processes are summed; a bank that is gone fails, opens its breaker and changes nothing for another', async () => {
  const [one, other] = [openProcess([yookassa]), openProcess([yookassa])];
  for (let call = 0; call < 3; call++) assert.equal((await one.live()).kind, 'opened');
  assert.equal((await other.live()).kind, 'opened');
  assert.equal((await other.test()).kind, 'opened');
  await Promise.all([one.close(), other.close()]);
  const well = await ask(operator);
  const { calls, failures, successRateBps, p50Ms, p95Ms, method, mode } = rowOf(well, 'yookassa');
  assert.deepEqual(
    [calls, failures, successRateBps, method, mode],
    [4, 0, 10_000, 'cards', 'live'],
  );
  assert(p50Ms > 0 && p50Ms <= p95Ms);
  assert.deepEqual(
    well.breakers.map(({ connector, state, since }: any) => [connector, state, since]),
    [
      ['yookassa', 'closed', null],
      ['yookassa', 'closed', null],
    ],
  );
  assert.equal(new Set(well.breakers.map((breaker: any) => breaker.process)).size, 2);

  // One merchant's account that the bank turns away is an answer: no merchant makes a bank ill.
  const stranger = openProcess([refused]);
  assert.equal((await stranger.live()).kind, 'unaccepted');
  await stranger.close();
  assert.deepEqual(
    [rowOf(await ask(operator), 'yookassa').calls, rowOf(await ask(operator), 'yookassa').failures],
    [5, 0],
  );

  await acquirer.stop();
  for (let call = 0; call < 6; call++)
    assert.notEqual((await one.live()).kind, 'opened', 'no bank answers');
  await one.close();
  const ill = await ask(operator);
  const row = rowOf(ill, 'yookassa');
  assert.deepEqual([row.calls, row.failures, row.successRateBps], [11, 6, 4_545]);
  const sum = (field: string) =>
    row.series.reduce((all: number, point: any) => all + Number(point[field]), 0);
  assert.deepEqual([sum('calls'), sum('failures')], [11, 6]);
  const open = ill.breakers.filter(({ state }: any) => state !== 'closed');
  assert.equal(open.length, 1, 'of the process that called since');
  assert.ok(open[0].since);
  assert.deepEqual(
    [rowOf(ill, 'simulator').calls, rowOf(ill, 'simulator').failures, rowOf(ill, 'simulator').mode],
    [1, 0, 'test'],
  );
});

test('keys and people of a merchant are refused; hours have bounds', async () => {
  const merchantId = randomUUID();
  const cabinet: Principal = { ...operator, role: 'admin', merchantId };
  const key: Principal = {
    kind: 'key',
    keyId: '00000000-0000-4000-8000-00000000000a',
    merchantId,
    shopId: randomUUID(),
    mode: 'live',
    scopes,
  };
  assert.equal(await ask(cabinet), 'forbidden');
  assert.equal(await ask(key), 'scope_required');
  for (const hours of [0, -1, 49]) assert.equal(await ask(operator, hours), 'bad_request');
  assert.equal((await ask(operator, 6)).intervalMinutes, 5);
  assert.equal((await ask(operator, 48)).intervalMinutes, 60);
});

test('rows older than two days are forgotten, younger ones stay; counts that the database did not take are written later', async () => {
  const { pool } = harness.database;
  const now = Temporal.Now.instant();
  const names = async (): Promise<readonly string[]> => {
    const { rows } = await pool.query(
      `select connector from bank_health where connector like 'aged-%' order by 1`,
    );
    return rows.map(({ connector }) => String(connector));
  };
  for (const hours of [49, 47]) {
    const counter = openCallCounter(pool, () => now.subtract({ hours }));
    counter.count({
      connector: `aged-${hours}`,
      mode: 'live',
      operation: 'payout',
      method: 'card',
      answered: true,
      duration_ms: 30.2,
    });
    await pool.query('alter table bank_health rename to bank_health_away');
    await counter.close();
    await pool.query('alter table bank_health_away rename to bank_health');
    await counter.close();
    await counter.close();
  }
  assert.deepEqual(await names(), ['aged-47', 'aged-49']);
  await forgetReports({ pool, now: () => now, stopping: new AbortController().signal });
  assert.deepEqual(await names(), ['aged-47']);
  const aged = (await ask(operator, 48)).rows.find((row: any) => row.connector === 'aged-47');
  assert.deepEqual([aged.calls, aged.method, aged.p50Ms, aged.p95Ms], [1, 'card', 31, 31]);
});

test('the median and the 95th percentile are measured durations of the newest answers, of a row its last 100', async () => {
  const { pool } = harness.database;
  const now = Temporal.Now.instant();
  const call = { connector: 'timed', mode: 'live', operation: 'refund', method: '' } as const;
  for (const { minutes, longest_ms } of [
    { minutes: 100, longest_ms: 9_000 },
    ...Array.from({ length: 10 }, (_, place) => ({ minutes: 10 + place * 5, longest_ms: 120 })),
  ]) {
    const counter = openCallCounter(pool, () => now.subtract({ minutes }));
    for (let place = 119; place >= 0; place -= 1)
      counter.count({ ...call, answered: true, duration_ms: longest_ms - place });
    counter.count({ ...call, answered: false, duration_ms: 60_000 });
    await counter.close();
  }
  const timed = (await ask(operator, 6)).rows.find((row: any) => row.connector === 'timed');
  assert.deepEqual(
    [timed.calls, timed.failures, timed.measured, timed.p50Ms, timed.p95Ms],
    [11 * 121, 11, 1_000, 70, 115],
  );
});

test('a rate is rounded down, a span begins with an interval', () => {
  assert.deepEqual([successRate_bps(3, 1), successRate_bps(100_000, 1)], [6_666, 9_999]);
  const span = spanOf(Temporal.Instant.from('2026-11-23T10:02:00Z'), 1);
  assert(!isRefusal(span));
  assert.deepEqual([String(span.from), span.interval_min], ['2026-11-23T09:05:00Z', 5]);
});
