/**
 * Months of events: made before they are needed, dropped when they have reached their age, and
 * never in the way of an event.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { insertEvents, eventRow } from '../../subgraphs/platform/events/outbox.ts';
import {
  makePartitions,
  partitionedTables,
} from '../../subgraphs/platform/database/maintain-tables.ts';
import {
  dropPartitions,
  keepRequests,
  keepEvents,
} from '../../subgraphs/platform/retention/jobs.ts';
import { openRequestStore } from '../../subgraphs/merchants/requests/resolvers.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';

let migrated: MigratedDatabase;
let key: KeyPrincipal;
let numbers = 0;
before(async () => {
  migrated = await startMigratedDatabase();
  key = await migrated.merchant();
});
after(() => migrated.close());

const pool = () => migrated.database.pool;
const at = (text: string): Temporal.Instant => Temporal.Instant.from(text);
const stay = new AbortController().signal;
const keep = (now: Temporal.Instant) =>
  keepEvents({ pool: pool(), now: () => now, stopping: stay, eventsKept_days: 90 });

/**
 * An event with one delivery and one attempt, numbered unless it is still in the outbox; gives its
 * id.
 */
const happen = async (
  moment: string,
  { status = 'delivered', relayed = true, shopId = key.shopId } = {},
): Promise<string> => {
  const { merchantId } = key;
  const subjectId = randomUUID();
  const webhook = { event: 'payment.succeeded', data: {}, url: 'http://127.0.0.1:1/x' } as const;
  const row = eventRow({
    merchantId,
    shopId,
    mode: 'test',
    subjectId,
    stream: null,
    webhook,
    at: at(moment),
  });
  await pool().query(insertEvents('$1', 'select 1'), [JSON.stringify([row])]);
  const [{ id } = { id: '' }] = (
    await pool().query<{ id: string }>('select id from event where subject_id = $1', [subjectId])
  ).rows;
  if (!relayed) return id;
  numbers += 1;
  const number = numbers;
  await pool().query('update event set sequence = $2 where id = $1', [id, number]);
  await pool().query(
    `insert into webhook_delivery (merchant_id, id, event_id, webhook_event, shop_id, mode, subject_id, lane, url, status, attempts, created_at)
     select merchant_id, id, id, webhook_event, shop_id, mode, subject_id, webhook_url, webhook_url, 'pending', 0, created_at from event where id = $1`,
    [id],
  );
  await pool().query('update webhook_delivery set status = $2 where event_id = $1', [id, status]);
  await pool().query(
    `insert into webhook_attempt (merchant_id, delivery_id, number, at, duration_ms, created_at)
     select merchant_id, id, 1, now(), 1, created_at from webhook_delivery where event_id = $1`,
    [id],
  );
  await pool().query(
    `insert into bank_call (merchant_id, subject_id, id, connector, call, answer, duration_ms, created_at)
     select merchant_id, id, id, 'simulator', 'ask', 'approved', 1, created_at from event where id = $1`,
    [id],
  );
  await pool().query(
    `insert into page_opening (merchant_id, payment_id, created_at)
     select merchant_id, id, created_at from event where id = $1`,
    [id],
  );
  return id;
};

/**
 * In which partitions the event, its delivery, its attempt, a call to a bank and an opening of the
 * page are; empty texts where they are gone.
 */
const placesOf = async (id: string): Promise<string> => {
  const { rows } = await pool().query<{ places: string }>(
    `select concat_ws(' ', (select tableoid::regclass from event where id = $1), (select tableoid::regclass from webhook_delivery where event_id = $1),
       (select a.tableoid::regclass from webhook_attempt a join webhook_delivery d on d.id = a.delivery_id where d.event_id = $1),
       (select tableoid::regclass from bank_call where subject_id = $1),
       (select tableoid::regclass from page_opening where payment_id = $1)) as places`,
    [id],
  );
  return (rows[0]?.places ?? '').replaceAll('partitions.', '');
};

/** Until where the events are counted in the totals. */
const countedUntil = (sequence: number): Promise<unknown> =>
  pool().query(`update consumer_offset set sequence = $1 where consumer = 'totals'`, [sequence]);

const inMonth = (month: string): string =>
  partitionedTables.map((table) => `${table}_${month}`).join(' ');
const monthsOf = async (): Promise<string[]> => {
  const { rows } = await pool().query<{ name: string }>(
    "select relname as name from pg_class where relname ~ '^event_\\d{4}_\\d\\d$' order by 1",
  );
  return rows.map(({ name }) => name);
};

describe('a month of events', () => {
  before(() => countedUntil(Number.MAX_SAFE_INTEGER));

  test('has its partitions since the migration, and the two months to come have theirs', async () => {
    // The database may have been migrated in the month before this one.
    const [first = '', ...following] = await monthsOf();
    const month = Temporal.PlainYearMonth.from(first.slice('event_'.length).replace('_', '-'));
    for (const [place, name] of following.entries()) {
      const next = month.add({ months: place + 1 });
      assert.equal(name, `event_${next.toString().replace('-', '_')}`);
    }
    assert.ok(following.length >= 2, 'two months to come');
    const now = Temporal.Now.instant().toString();
    const place = inMonth(now.slice(0, 7).replace('-', '_'));
    assert.equal(await placesOf(await happen(now)), place);
  });

  test('that has no partition takes its events all the same, and gets them when it has one', async () => {
    const id = await happen('2031-05-10T00:00:00Z');
    const beside = await happen('2031-09-01T00:00:00Z');
    assert.equal(await placesOf(id), inMonth('default'));
    await makePartitions(pool(), at('2031-03-31T23:59:59Z'));
    assert.equal(await placesOf(id), inMonth('2031_05'));
    assert.equal(await placesOf(beside), inMonth('default'));
    assert.equal(await makePartitions(pool(), at('2031-03-31T23:59:59Z')), 0);
  });

  test('is made once, however many workers make it at the same moment, while events come', async () => {
    const now = at('2033-01-01T00:00:00Z');
    const coming = Promise.all(Array.from({ length: 20 }, () => happen('2033-01-15T00:00:00Z')));
    const made = await Promise.all([
      makePartitions(pool(), now),
      makePartitions(pool(), now),
      makePartitions(pool(), now),
    ]);
    const ids = await coming;
    await makePartitions(pool(), now);
    // The audit log has its months, too.
    assert.ok(made.reduce((sum, count) => sum + count, 0) <= (partitionedTables.length + 1) * 3);
    for (const id of ids) assert.equal(await placesOf(id), inMonth('2033_01'));
  });

  test('is dropped whole when its last event is old enough, and not a day before', async () => {
    await makePartitions(pool(), at('2028-01-01T00:00:00Z'));
    const [first, last, next] = [
      await happen('2028-01-01T00:00:00Z'),
      await happen('2028-01-31T23:59:59Z'),
      await happen('2028-02-01T00:00:00Z'),
    ];
    const dropped: string[] = [];
    const drop = (cutoff: string) =>
      dropPartitions(pool(), at(cutoff), (table) => dropped.push(table));
    await drop('2028-01-31T23:59:59Z');
    assert.equal(await placesOf(first), inMonth('2028_01'));
    await drop('2028-02-01T00:00:00Z');
    assert.deepEqual(
      [await placesOf(first), await placesOf(last), await placesOf(next)],
      ['', '', inMonth('2028_02')],
    );
    assert.deepEqual(dropped.filter((table) => table === 'event').length >= 1, true);
  });

  test('is kept while one of its events is not relayed or a delivery is on its way', async () => {
    await makePartitions(pool(), at('2034-01-01T00:00:00Z'));
    const unrelayed = await happen('2034-01-10T00:00:00Z', { relayed: false });
    const pending = await happen('2034-02-10T00:00:00Z', { status: 'pending' });
    await keep(at('2034-12-01T00:00:00Z'));
    assert.equal(await placesOf(unrelayed), 'event_2034_01');
    assert.equal(await placesOf(pending), 'webhook_delivery_2034_02 webhook_attempt_2034_02');
    await pool().query('update event set sequence = 0 where id = $1', [unrelayed]);
    await pool().query(`update webhook_delivery set status = 'failed' where event_id = $1`, [
      pending,
    ]);
    // What is not counted yet is needed, too.
    await countedUntil(-1);
    await keep(at('2034-12-01T00:00:00Z'));
    assert.equal(await placesOf(unrelayed), 'event_2034_01');
    await countedUntil(Number.MAX_SAFE_INTEGER);
    await keep(at('2034-12-01T00:00:00Z'));
    assert.deepEqual([await placesOf(unrelayed), await placesOf(pending)], ['', '']);
  });
});

test('what is old in a default partition goes in batches: not what is on its way, nor what a test clock still lives by', async () => {
  const old = await happen('2020-01-01T00:00:00Z');
  const pending = await happen('2020-01-02T00:00:00Z', { status: 'pending' });
  const unrelayed = await happen('2020-01-03T00:00:00Z', { relayed: false });
  const clocked = randomUUID();
  await pool().query(
    'insert into test_clock (merchant_id, shop_id, clock_at, set_at, frozen, created_at) values ($1, $2, now(), now(), true, now())',
    [key.merchantId, clocked],
  );
  const lived = await happen('2020-01-04T00:00:00Z', { shopId: clocked });
  await keep(Temporal.Now.instant());
  assert.deepEqual(
    [
      await placesOf(old),
      await placesOf(pending),
      await placesOf(unrelayed),
      await placesOf(lived),
    ],
    [
      '',
      'webhook_delivery_default webhook_attempt_default',
      'event_default',
      'event_default webhook_delivery_default webhook_attempt_default',
    ],
  );
});

describe('the log of requests', () => {
  const days = async (): Promise<string> =>
    (
      await pool().query<{ days: string }>(
        `select string_agg(right(relname, 2), ' ' order by relname) as days from pg_class where relname ~ '^api_request_2031_05_[0-9]{2}$'`,
      )
    ).rows[0]?.days ?? '';
  const note = (moment: string) => ({
    merchantId: key.merchantId,
    shopId: key.shopId,
    mode: 'test' as const,
    requestId: moment,
    at: at(moment),
    method: 'POST',
    path: '/v1/public/payments',
    status: 400,
    keyPrefix: 'sk_test_aaaaaa',
    durationMs: 1,
  });
  const kept = async (): Promise<readonly string[]> =>
    (
      await pool().query<{ id: string }>(
        'select request_id as id from api_request order by created_at',
      )
    ).rows.map(({ id }) => id);

  test('has a partition for each day, which is dropped when its last request is seven days old', async () => {
    const store = openRequestStore(pool());
    await store([note('2031-05-01T12:00:00Z'), note('2031-05-02T12:00:00Z')]);
    await keepRequests(pool(), at('2031-05-09T11:00:00Z'));
    assert.deepEqual(await kept(), ['2031-05-02T12:00:00Z']);
    assert.equal(await days(), '09 10 11');
    await store([note('2031-05-09T00:00:00Z'), note('2031-05-10T00:00:00Z')]);
    await keepRequests(pool(), at('2031-05-17T00:00:00Z'));
    assert.equal(await days(), '10 11 17 18 19');
    assert.deepEqual(await kept(), ['2031-05-10T00:00:00Z']);
  });

  test('keeps the newest requests of a merchant, and as many as its bound', async () => {
    const store = openRequestStore(pool(), 3);
    const moments = Array.from({ length: 1_000 }, (_, place) =>
      at('2031-05-18T00:00:00Z').add({ seconds: place }).toString(),
    );
    await store(moments.map(note));
    assert.deepEqual(await kept(), moments.slice(-3));
  });
});

test('every partition is planned for its largest merchant, whenever it was made', async () => {
  await keep(at('2041-01-01T00:00:00Z'));
  const { rows } = await pool().query<{ name: string; isSet: boolean }>(
    `select relname as name, attoptions is not null as "isSet" from pg_attribute join pg_class on pg_class.oid = attrelid
      where relnamespace = 'partitions'::regnamespace and relkind = 'r' and attname = 'merchant_id'`,
  );
  assert.ok(rows.some(({ name }) => name === 'event_2041_02'));
  assert.deepEqual(
    rows.filter(({ isSet }) => !isSet),
    [],
  );
});
