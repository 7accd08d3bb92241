/**
 * Backup and restore to a point in time, as docs/operations.md describes them: a base backup of the
 * running primary, the archive of its write-ahead log, and a new server that recovers to a moment.
 * What was answered before that moment is there, what came after it is not, the books are right,
 * and the service continues.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../support/free-port.ts';
import { checkBooks } from '../support/check-books.ts';
import { payByCard } from '../support/buyer.ts';
import { callRest, makeMerchant, type Merchant } from '../support/merchant.ts';
import { spawnProcess, stopProcess, untilReady, type ServiceProcess } from '../support/service.ts';
import {
  addFolder,
  askServer,
  closeHouse,
  endServer,
  openHouse,
  startPrimary,
  startRestored,
  takeBackup,
} from './postgres-server.ts';
import { openPool } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';

const secretKey = randomBytes(32).toString('base64');
const house = openHouse();
const stack = new AsyncDisposableStack();
after(async () => {
  await stack.disposeAsync();
  closeHouse(house);
});

const startOn = async (databaseUrl: string): Promise<ServiceProcess> => {
  const service = spawnProcess('all', await freePort(), {
    DATABASE_URL: databaseUrl,
    SECRET_KEY: secretKey,
    WEBHOOK_PRIVATE_TARGETS: 'allow',
  });
  stack.defer(async () => void (await stopProcess(service, 'SIGKILL')));
  await untilReady(service);
  return service;
};

/** Buys so many things and waits until they are paid; gives the payments' ids. */
const buy = (merchant: Merchant, count: number): Promise<readonly string[]> =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const { status, body } = await merchant.call('POST', '/payments', {
        amount: 1_000,
        method: 'cards',
      });
      assert.equal(status, 201, JSON.stringify(body));
      await payByCard(body.payment_url);
      const { id } = body.payment;
      await eventually(
        async () => (await merchant.call('GET', `/payments/${id}`)).body.status === 'succeeded',
        'the payment',
      );
      return id;
    }),
  );

test('a base backup and the archived log bring back everything up to a moment, and the service continues from there', async () => {
  const archive = addFolder(house, 'archive');
  const primary = await startPrimary(house, {
    archive_mode: 'on',
    archive_command: `test ! -f "${archive}/%f" && cp "%p" "${archive}/%f"`,
  });
  stack.defer(() => endServer(primary, 'SIGKILL'));
  const service = await startOn(primary.url);
  const merchant = await makeMerchant({ rest: service.url, graph: service.url });
  const before = await buy(merchant, 3);
  const directory = await takeBackup(house, primary, 'restored');
  const since = await buy(merchant, 3);
  await sleep(50);
  const [moment] = await askServer(primary.url, 'select now() as at');
  await sleep(50);
  const afterwards = await buy(merchant, 2);
  const [last] = await askServer(primary.url, 'select pg_walfile_name(pg_switch_wal()) as file');
  await eventually(() => existsSync(join(archive, last.file)), 'the archive');
  await stopProcess(service, 'SIGKILL');
  await endServer(primary, 'SIGKILL');

  const restored = await startRestored(
    house,
    directory,
    archive,
    Temporal.Instant.fromEpochMilliseconds(moment.at.getTime() + 10),
  );
  stack.defer(() => endServer(restored, 'SIGKILL'));
  const pool = openPool(restored.url, 1);
  const differences = await checkBooks({ pool }).finally(() => pool.end());
  assert.deepEqual(
    differences.filter(({ check }) => check !== 'event_relayed'),
    [],
  );
  const again = await startOn(restored.url);
  const call = (path: string) => callRest({ rest: again.url, key: merchant.key }, 'GET', path);
  for (const id of [...before, ...since])
    assert.equal((await call(`/payments/${id}`)).body.status, 'succeeded');
  for (const id of afterwards) assert.equal((await call(`/payments/${id}`)).status, 404);
  assert.equal((await call('/balance')).body.balance, 6_000);
  const created = await callRest({ rest: again.url, key: merchant.key }, 'POST', '/payments', {
    amount: 1_000,
    method: 'cards',
  });
  assert.equal(created.status, 201);
  await payByCard(created.body.payment_url);
  await eventually(async () => (await call('/balance')).body.balance === 7_000, 'the new payment');
});
