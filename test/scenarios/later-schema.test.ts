/**
 * A program beside the schema of the release after it: while merchants' payments go on, every table
 * is expanded as a later migration may do it. The program that runs is the old version then, with
 * its connections, its prepared statements and their plans.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { migrationLock_ms } from '../../subgraphs/platform/database/orm.ts';
import { judgeMigrations } from '../database/migration-rules.ts';
import { pay } from '../support/buyer.ts';
import { startTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeMerchant, openReceiver, type Merchant } from '../support/merchant.ts';
import { startService, type Service } from '../support/service.ts';
import { eventually } from '../support/eventually.ts';

let database: TestDatabase;
let service: Service;
let merchant: Merchant;
let client: pg.Client;
before(async () => {
  database = await startTestDatabase();
  service = await startService('one', {
    DATABASE_URL: database.url,
    SECRET_KEY: randomBytes(32).toString('base64'),
    WEBHOOK_PRIVATE_TARGETS: 'allow',
  });
  merchant = await makeMerchant(service);
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
after(async () => {
  await client.end();
  await service.stop();
  await database.stop();
});

/** A payment's whole way; gives its id. Fails at whatever is not answered as it should be. */
const live = async (name: string): Promise<string> => {
  const call = async (
    method: string,
    path: string,
    status: number,
    body?: unknown,
  ): Promise<any> => {
    const answer = await merchant.call(
      method,
      path,
      body,
      method === 'POST' ? { 'idempotency-key': `${name}${path.slice(-20)}` } : {},
    );
    assert.equal(answer.status, status, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const { payment, payment_url } = await call('POST', '/payments', 201, {
    amount: 10_000,
    method: 'sbp',
    order_id: name,
  });
  await pay(payment_url);
  const isPaid = async (): Promise<boolean> =>
    (await call('GET', `/payments/${payment.id}`, 200)).status === 'succeeded';
  await eventually(isPaid, 'the success');
  await call('POST', `/payments/${payment.id}/refund`, 201, { amount: 4_000 });
  await call('GET', '/payments?limit=5', 200);
  await call('GET', '/ledger', 200);
  await call('GET', '/balance', 200);
  return payment.id;
};

const many = (name: string, count: number): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => live(`${name}-${index}`)));

/** What a later release may do to a table before its program is there. */
const expansions = (table: string): readonly string[] => [
  `alter table ${table} add column later_text text, add column later_flag boolean default false`,
  `alter table ${table} add constraint ${table}_later check (later_text is null or length(later_text) < 100) not valid`,
  `alter table ${table} validate constraint ${table}_later`,
];

/** Runs a statement as a migration does: it gives way when it does not get its lock. */
const apply = (statement: string): Promise<unknown> =>
  eventually(
    () =>
      client.query(statement).catch((error: { readonly code?: string }) => {
        if (error.code !== '55P03') throw error;
        return null;
      }),
    `the lock for ${statement}`,
  );

test('every table is expanded under a running service: each payment goes its way, the service stays ready, and no webhook is missing', async (t) => {
  const receiver = await openReceiver();
  t.after(() => receiver.close());
  await merchant.endpoint(receiver.url, ['payment_succeeded']);
  const before = await many('before', 8);
  const { rows } = await client.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
  );
  const statements = rows.flatMap(({ name }) => expansions(name));
  const later = statements.map((statement, index) => ({
    name: `Migration2027_${index}`,
    statements: [statement],
    isTransactional: true,
  }));
  assert.deepEqual(judgeMigrations(later), [], 'what is tried here is what the rules allow');

  const expanding = new AbortController();
  const meanwhile = (async () => {
    const ids: string[] = [];
    for (let round = 0; !expanding.signal.aborted; round += 1)
      ids.push(...(await many(`meanwhile-${round}`, 4)));
    return ids;
  })();
  await client.query(`set lock_timeout = ${migrationLock_ms}`);
  for (const statement of statements) await apply(statement);
  await apply('create index concurrently payment_later on payment (merchant_id, later_text)');
  await client.query(
    `insert into mikro_orm_migrations (name, executed_at) values ('Migration20270101000000_later', now())`,
  );
  expanding.abort();
  const ids = [...before, ...(await meanwhile), ...(await many('after', 8))];

  assert.ok(
    statements.length > 90 && ids.length >= 20,
    `${statements.length} statements, ${ids.length} payments`,
  );
  assert.equal((await fetch(`${service.rest}/readyz`)).status, 200);
  await eventually(
    () => ids.every((id) => receiver.received.some(({ body }) => body.data.id === id)),
    'the webhooks',
  );
});
