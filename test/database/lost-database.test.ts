import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { GraphQLError } from 'graphql';
import pg from 'pg';
import { pino } from 'pino';
import { isDatabaseLost } from '../../subgraphs/platform/tracing/error-code.ts';
import { presentErrors } from '../../subgraphs/platform/graph/present-errors.ts';
import { startTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
before(async () => void (database = await startTestDatabase()));
after(() => database.stop());

const failure = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => assert.fail('it did not fail'),
    (error: unknown) => (error instanceof Error ? error : assert.fail('no error')),
  );

const codeOf = (error: Error): unknown => {
  const result = { data: null, errors: [new GraphQLError('failed', { originalError: error })] };
  const call = {
    principal: { kind: 'service', name: 'test' },
    requestId: 'test',
    isInLane: false,
  } as const;
  return presentErrors(result, call, pino({ level: 'silent' })).errors?.[0]?.extensions['code'];
};

test('a call whose database refuses, ends the session or hangs up is answered "try again"; a mistake in a statement is ours', async () => {
  const refused = new pg.Client({ host: '127.0.0.1', port: 1 });
  const ended = new pg.Client({ connectionString: database.url });
  ended.on('error', () => {});
  await ended.connect();
  const { rows } = await ended.query<{ pid: number }>('select pg_backend_pid() as pid');
  const waiting = failure(ended.query('select pg_sleep(60)'));
  const other = new pg.Client({ connectionString: database.url });
  await other.connect();
  await other.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
  const lost = [
    await failure(refused.connect()),
    await waiting,
    await failure(ended.query('select 1')),
  ];
  assert.deepEqual(
    lost.map(codeOf),
    ['unavailable', 'unavailable', 'unavailable'],
    lost.map(String).join('\n'),
  );
  const mistaken = await failure(other.query('select mistake'));
  await other.end();
  assert.equal(isDatabaseLost(mistaken), false);
  assert.equal(codeOf(mistaken), 'INTERNAL_SERVER_ERROR');
});
