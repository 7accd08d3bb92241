/** What changed lists is passed on by a commit of either kind of transaction, by no rollback. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  announceListChanges,
  noteListChange,
} from '../../subgraphs/platform/database/list-changes.ts';
import { clientOf } from '../../subgraphs/platform/database/orm-connections.ts';
import { openDatabase, type Database } from '../../subgraphs/platform/database/orm.ts';
import { inTransaction } from '../../subgraphs/platform/database/statement.ts';
import { refuse } from '../../subgraphs/rules/refusal.ts';
import type { Bus, ListChange } from '../../subgraphs/platform/bus/bus.ts';
import { entities } from '../../subgraphs/entities.ts';
import { startTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';

let server: TestDatabase;
let database: Database;
let end: () => void;
const messages: (readonly ListChange[])[] = [];
/** What was published since the last look. What is noted last is published last. */
const published = async (): Promise<readonly (readonly ListChange[])[]> => {
  const last: ListChange = { list: 'alerts', merchantId: randomUUID() };
  const isLast = ({ merchantId }: ListChange): boolean => merchantId === last.merchantId;
  noteListChange(database.pool, last);
  await eventually(() => messages.flat().some(isLast), 'what was noted last');
  return messages
    .splice(0)
    .map((message) => message.filter((one) => !isLast(one)))
    .filter(({ length }) => length > 0);
};

before(async () => {
  server = await startTestDatabase({ migrated: true });
  database = await openDatabase({ url: server.url, entities, pool: 4 });
  const publish: Bus['publish'] = async (topic, message) => {
    assert.equal(topic, 'lists');
    messages.push(message as readonly ListChange[]);
  };
  end = announceListChanges(database.pool, { publish });
});
after(async () => {
  end();
  await database.close();
  await server.stop();
});

const change: ListChange = { list: 'audit_log', merchantId: randomUUID() };

test('a transaction by hand passes on what it noted when it is committed, each list once', async () => {
  await inTransaction(database.pool, async (client) => {
    noteListChange(client, change);
    noteListChange(client, change);
    noteListChange(client, { ...change, list: 'alerts' });
    assert.deepEqual(await published(), [], 'it is not committed yet');
  });
  assert.deepEqual(await published(), [[change, { ...change, list: 'alerts' }]]);
});

test('and so does one of the ORM', async () => {
  await database.fork().transactional(async (em) => {
    noteListChange(await clientOf(em), change);
    assert.deepEqual(await published(), []);
  });
  assert.deepEqual(await published(), [[change]]);
});

test('what is rolled back is not passed on, not even by the next user of the client', async () => {
  const failing = inTransaction(database.pool, async (client) => {
    noteListChange(client, change);
    throw new Error('not this');
  });
  await assert.rejects(failing, /not this/);
  await inTransaction(
    database.pool,
    async (client) => noteListChange(client, change),
    () => false,
  );
  const refused = await inTransaction(database.pool, async (client) => {
    noteListChange(client, change);
    return refuse('not_found', 'there is none');
  });
  assert.equal(refused.code, 'not_found');
  await Promise.all([1, 2, 3, 4].map(() => inTransaction(database.pool, async () => {})));
  assert.deepEqual(await published(), []);
});

test('what is written without a transaction is passed on at once, and many merchants by parts', async () => {
  for (let count = 0; count < 450; count += 1)
    noteListChange(database.pool, { list: 'webhook_deliveries', merchantId: String(count) });
  const parts = await published();
  assert.deepEqual(
    parts.map(({ length }) => length),
    [200, 200, 50],
  );
});
