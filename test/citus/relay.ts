/**
 * The relay on sharded tables, whose processes are killed again and again while they number: each
 * event gets one number and its delivery once, and a reader of a merchant's numbers never sees
 * a smaller one appear.
 */
import assert from 'node:assert/strict';
import { fork, type ChildProcess } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRelay } from '../../subgraphs/platform/events/relay.ts';
import {
  migrateTemplate,
  openMigratedDatabase,
  type MigratedDatabase,
} from '../support/migrated.ts';
import { log, writeEvent } from '../webhooks/harness.ts';
import { ask, distribute, startCitus, type Servers } from './servers.ts';
import { eventually } from '../support/eventually.ts';

const kills = 15;
const merchants = 8;
const eventsAtOnce = 5;
/** Several statements of the relay: what is killed has numbered some events and numbers others. */
const life_ms = 1_500;

let servers: Servers;
let migrated: MigratedDatabase;
before(async () => {
  servers = await startCitus(process.env['CITUS_BIN'] ?? '');
  await migrateTemplate(servers.url);
  await distribute(servers.url);
  migrated = await openMigratedDatabase(servers.url);
});
after(async () => {
  await migrated?.close();
  await servers?.stop();
});

/** Starts a relay and kills it at a random moment behind a numbering; gives its last message. */
const relayAndDie = async (): Promise<string> => {
  const relay: ChildProcess = fork(new URL('relay-process.ts', import.meta.url), [servers.url]);
  let message = '';
  relay.on('message', (word: string) => (message = word));
  await once(relay, 'message');
  await sleep(randomInt(life_ms));
  const ended = once(relay, 'exit');
  relay.kill('SIGKILL');
  await ended;
  return message;
};

test('a relay that is killed while it numbers loses no event and doubles none', async (t) => {
  const { pool } = migrated.database;
  const shops = await Promise.all(Array.from({ length: merchants }, () => migrated.merchant()));
  const over = new AbortController();
  let written = 0;
  const write = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const url = `https://shop.example/${randomUUID()}`;
      const writing = shops.flatMap((shop) =>
        Array.from({ length: eventsAtOnce }, () =>
          writeEvent(pool, { ...shop, secret: '' }, { url }),
        ),
      );
      written += (await Promise.all(writing)).length;
    }
  };
  const watch = async (merchantId: string): Promise<void> => {
    for (let known = new Set<string>(); !over.signal.aborted;) {
      const { rows } = await pool.query<{ sequence: string }>(
        'select sequence::text from event where merchant_id = $1 and sequence is not null',
        [merchantId],
      );
      const newest = [...known].reduce(
        (most, each) => (BigInt(each) > most ? BigInt(each) : most),
        0n,
      );
      const late = rows.filter(
        ({ sequence }) => !known.has(sequence) && BigInt(sequence) <= newest,
      );
      assert.deepEqual(late, [], `behind ${newest}`);
      known = new Set(rows.map(({ sequence }) => sequence));
    }
  };
  const beside = Promise.all([write(), ...shops.map(({ merchantId }) => watch(merchantId))]);
  let within = 0;
  for (let killed = 0; killed < kills; killed += 1)
    if ((await relayAndDie()) === 'numbering') within += 1;
  over.abort();
  await beside;
  assert.ok(within > 0, 'none was killed while it numbered');

  const bus = { publish: async () => {}, subscribe: () => () => {} };
  const heir = startRelay({ pool, bus, log, wake: async () => {} });
  const unnumbered = async (): Promise<boolean> =>
    (await pool.query('select 1 from event where sequence is null limit 1')).rows.length > 0;
  await eventually(async () => !(await unnumbered()), 'the last number');
  await heir.stop();
  const count = async (text: string): Promise<number> =>
    (await pool.query<{ count: number }>(`select count(${text}`)).rows[0]?.count ?? 0;
  assert.deepEqual(
    {
      events: await count('*)::int from event'),
      numbers: await count('distinct sequence)::int from event'),
      deliveries: await count('*)::int from webhook_delivery'),
      delivered: await count('distinct event_id)::int from webhook_delivery'),
    },
    { events: written, numbers: written, deliveries: written, delivered: written },
  );
  t.diagnostic(`${written} events, ${kills} kills, ${within} of them while events were numbered`);
});

test('a relay numbers nothing while the commit of an earlier numbering is in doubt', async () => {
  const { pool } = migrated.database;
  const shardOf = async (merchantId: string): Promise<{ id: string; port: number }> => {
    const { rows } = await pool.query(
      `select shardid as id, nodeport as port from citus_shards where table_name = 'event'::regclass
        and shardid = get_shard_id_for_distribution_column('event', $1::uuid)`,
      [merchantId],
    );
    return rows[0];
  };
  const numberOf = async (eventId: string): Promise<bigint | null> => {
    const text = 'select sequence from event where id = $1';
    const { rows } = await pool.query<{ sequence: string | null }>(text, [eventId]);
    const sequence = rows[0]?.sequence ?? null;
    return sequence === null ? null : BigInt(sequence);
  };
  const doubtful = await migrated.merchant();
  const shard = await shardOf(doubtful.merchantId);
  let other = await migrated.merchant();
  while ((await shardOf(other.merchantId)).id === shard.id) other = await migrated.merchant();

  // An event that was written earlier and is committed later: it is the first to be numbered.
  const writing = await pool.connect();
  await writing.query('begin');
  const late = await writeEvent(writing, { ...other, secret: '' });
  const numbered = await writeEvent(pool, { ...doubtful, secret: '' });
  const { rows } = await pool.query<{ next: string }>(
    `select nextval('event_sequence_seq')::text as next`,
  );
  const number = BigInt(rows[0]?.next ?? 0);
  const worker = Object.assign(new URL(servers.url), { port: String(shard.port) }).href;
  await ask(
    worker,
    'begin',
    `update event_${shard.id} set sequence = ${number} where id = '${numbered.eventId}'`,
    `prepare transaction 'earlier relay'`,
  );
  await writing.query('commit');
  writing.release();

  const bus = { publish: async () => {}, subscribe: () => () => {} };
  const relay = startRelay({ pool, bus, log, wake: async () => {} });
  const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%event_${shard.id}%'`;
  await eventually(async () => {
    assert.equal(await numberOf(late.eventId), null, 'it has a number before the smaller one');
    const [sessions] = await ask(worker, waiting);
    return sessions?.rows.length === 1;
  }, 'a relay that waits');
  await ask(worker, `commit prepared 'earlier relay'`);
  await eventually(async () => (await numberOf(late.eventId)) !== null, 'its number');
  await relay.stop();
  assert.equal(await numberOf(numbered.eventId), number);
  assert.ok(((await numberOf(late.eventId)) ?? 0n) > number);
});
