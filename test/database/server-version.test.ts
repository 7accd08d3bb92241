/** A server that is too old is refused before anything is done to it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { refuseOldServer } from '../../subgraphs/platform/database/orm.ts';
import { startTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let client: pg.Client;
before(async () => {
  database = await startTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  client.on('error', () => {});
  await client.connect();
});
after(async () => {
  await client.end();
  await database.stop();
});

/** The test's server, which says of itself that it is of another version. */
const ofVersion = async (number: number): Promise<string> => {
  await client.query(
    `create or replace function public.current_setting(text) returns text language sql as $$ select '${number}' $$`,
  );
  const options = encodeURIComponent('-c search_path=public,pg_catalog');
  return `${database.url}?options=${options}`;
};

test('a server before 15 is refused in one sentence', async () => {
  for (const number of [90_624, 130_020, 140_012])
    await assert.rejects(refuseOldServer(await ofVersion(number)), {
      message: `DATABASE_URL leads to PostgreSQL ${Math.floor(number / 10_000)}: the service needs PostgreSQL 15 or later.`,
    });
});

test('15 and whatever comes after it is taken, and so is the one at hand', async () => {
  for (const number of [150_000, 160_010, 180_001, 200_000])
    await refuseOldServer(await ofVersion(number));
  await refuseOldServer(database.url);
});

test('a server that does not answer is waited for by others', async () => {
  await refuseOldServer('postgres://nobody@127.0.0.1:1/nothing');
});
