/** What goes wrong slowly raises an alert and takes it back, and alerts leave the console. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { SMTPServer } from 'smtp-server';
import { raiseAlert } from '../../subgraphs/platform/alerts/alerts.ts';
import { channelJobs } from '../../subgraphs/merchants/alerts/send-alerts.ts';
import { watchAll } from '../../subgraphs/merchants/alerts/watch.ts';
import { makeFixture, openCabinet, writeFailed, type Cabinet } from '../cabinet/cabinet.ts';
import { expectedSignature } from '../support/merchant.ts';

let cabinet: Cabinet;
before(async () => void (cabinet = await openCabinet()));
after(() => cabinet.close());

const now = (): Temporal.Instant => Temporal.Now.instant();
const query = async (text: string, values: unknown[]): Promise<any[]> =>
  (await cabinet.harness.pool.query(text, values)).rows;
const watch = (): Promise<number> => watchAll({ database: cabinet.harness.database, now });

/** The unresolved alerts of these kinds: their subjects by kind. */
const open = async (): Promise<Record<string, string>> => {
  const { alerts } = await cabinet.ask(
    '{ alerts(first: 100, resolved: false) { nodes { kind subjectId place } } }',
  );
  return Object.fromEntries(alerts.nodes.map((one: any) => [one.kind, one.subjectId]));
};

const countHour = (merchantId: string, hoursAgo: number, paid: number, failed: number) =>
  query(
    `insert into hourly_total select (jsonb_populate_record(null::hourly_total, zeros || jsonb_build_object('merchant_id', $1::uuid,
        'shop_id', '00000000-0000-0000-0000-000000000000', 'mode', 'live', 'currency', 'RUB', 'kind', 'payment',
        'hour', date_trunc('hour', now()) - make_interval(hours => $2), 'method', 'cards', 'bank', 'b', 'failure_code', '',
        'count_succeeded', $3::int, 'count_failed', $4::int))).*
      from (select jsonb_object_agg(column_name, 0) as zeros from information_schema.columns where table_name = 'hourly_total' and table_schema = 'public') as columns`,
    [merchantId, hoursAgo, paid, failed],
  );

test('a bank, a share of successes, an endpoint, a payout and a key raise alerts until they are well again', async () => {
  const { merchantId, shopId, endpointId, keyId } = await makeFixture(cabinet);
  assert.equal(await watch(), 0);
  await query(
    `insert into bank_health (at, connector, mode, operation, method, process, calls, failures, durations_ms, flushed_at)
      values (now(), 'somebank', 'live', 'payment', 'sbp', 'p', 30, 10, '{}', now())`,
    [],
  );
  await countHour(merchantId, 10, 90, 10);
  await countHour(merchantId, 0, 10, 20);
  const { deliveryId } = await writeFailed(cabinet, { merchantId, shopId, endpointId });
  await query(
    `update webhook_delivery set created_at = now() - interval '30 hours' where id = $1`,
    [deliveryId],
  );
  const payoutId = randomUUID();
  await query(
    `insert into payout (merchant_id, id, shop_id, terminal_id, mode, amount, currency, method, status, created_at, fee)
      values ($1, $2, $3, $3, 'live', 100, 'RUB', 'payouts_sbp', 'pending', now() - interval '4 hours', 0)`,
    [merchantId, payoutId, shopId],
  );
  await query(
    `update api_key set expires_at = now() + interval '3 days', last_used_at = now() where merchant_id = $1 and id = $2`,
    [merchantId, keyId],
  );
  const found = await Promise.all([watch(), watch()]);
  assert.equal(
    found.reduce((sum, count) => sum + count, 0),
    5,
    'each once, however often it is looked at',
  );
  assert.deepEqual(await open(), {
    bank_degraded: 'somebank/live',
    success_falls: 'payments/live',
    endpoint_fails: endpointId,
    payout_stuck: payoutId,
    key_expires: keyId,
  });

  await query('delete from bank_health where connector = $1', ['somebank']);
  await countHour(merchantId, 1, 900, 0);
  await query(
    `update webhook_delivery set status = 'delivered', delivered_at = now() where id = $1`,
    [deliveryId],
  );
  await query(
    `update payout set status = 'succeeded', completed_at = now() where merchant_id = $1 and id = $2`,
    [merchantId, payoutId],
  );
  await query('update api_key set expires_at = null where merchant_id = $1 and id = $2', [
    merchantId,
    keyId,
  ]);
  assert.equal(await watch(), 0);
  assert.deepEqual(await open(), {});
});

test('a merchant with very many stuck payouts hides those of no other, and its alerts stay', async () => {
  const [many, one] = [await makeFixture(cabinet), await makeFixture(cabinet)];
  const stick = ({ merchantId, shopId }: typeof many, count: number, mode: string) =>
    query(
      `insert into payout (merchant_id, id, shop_id, terminal_id, mode, amount, currency, method, status, created_at, fee)
        select $1, gen_random_uuid(), $2, $2, $4, 100, 'RUB', 'payouts_sbp', 'pending', now() - interval '5 hours', 0 from generate_series(1, $3::int)`,
      [merchantId, shopId, count, mode],
    );
  await stick(many, 300, 'live');
  await stick(one, 1, 'live');
  await stick(one, 3, 'test');
  const countOf = async ({ merchantId }: typeof many): Promise<number> => {
    const alerts = `select 1 from alert where merchant_id = $1 and kind = 'payout_stuck' and resolved_at is null`;
    return (await query(alerts, [merchantId])).length;
  };
  for (let times = 0; times < 2; times += 1) {
    await watch();
    assert.deepEqual([await countOf(many), await countOf(one)], [5, 1]);
  }
  for (const { merchantId } of [many, one])
    await query('delete from payout where merchant_id = $1', [merchantId]);
  await watch();
  assert.deepEqual([await countOf(many), await countOf(one)], [0, 0]);
});

test('an alert is posted and mailed once each, with the way to what it is about', async () => {
  const { pool } = cabinet.harness;
  await query('update alert set posted_at = now(), mailed_at = now()', []);
  const posted: { headers: any; body: string }[] = [];
  let status = 500;
  const receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => void (body += part.toString()));
    request.on('end', () => {
      posted.push({ headers: request.headers, body });
      response.writeHead(status).end();
    });
  }).listen(0, '127.0.0.1');
  const mails: string[] = [];
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, _, done) => {
      let text = '';
      stream.on('data', (part: Buffer) => void (text += part.toString()));
      stream.on('end', () => {
        mails.push(text);
        done();
      });
    },
  });
  await new Promise<void>((resolve) => void smtp.listen(0, '127.0.0.1', resolve));
  const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;
  const secret = 'alerts-secret';
  const jobs = channelJobs({
    database: cabinet.harness.database,
    now,
    publicUrl: 'https://pay.example',
    channels: {
      webhook: { url: `http://127.0.0.1:${portOf(receiver)}/alerts`, secret },
      mail: {
        smtpUrl: `smtp://127.0.0.1:${portOf(smtp.server)}`,
        from: 'alerts@pay.example',
        to: 'duty@pay.example',
      },
    },
  });
  const runAll = async () => {
    const outcomes = await Promise.allSettled(jobs.map((job) => job.run(null)));
    return outcomes.map((one) => {
      if (one.status === 'rejected') throw one.reason;
      return one.value;
    });
  };
  const { merchantId } = await makeFixture(cabinet, undefined, 'Tea room');
  const subjectId = randomUUID();
  await raiseAlert(pool, {
    kind: 'payout_stuck',
    merchantId,
    shopId: null,
    mode: 'live',
    subjectId,
    detail: 'the payout has had no result for 3 hours',
    fields: {},
    at: now(),
  });
  try {
    await assert.rejects(runAll(), /the alert webhook answered 500/, 'the queue logs it');
    status = 200;
    for (let times = 0; times < 2; times += 1)
      assert.deepEqual(
        (await runAll()).map(({ outcome }) => outcome),
        ['done', 'done'],
      );
    const url = `https://pay.example/console/payouts?mode=live&merchant=${merchantId}&open=${merchantId}%2F${subjectId}`;
    assert.equal(posted.length, 2, 'once refused, once taken');
    const [, taken] = posted;
    assert.ok(taken);
    const notice = JSON.parse(taken.body);
    assert.deepEqual(
      [notice.kind, notice.severity, notice.merchant_name, notice.url],
      ['payout_stuck', 'critical', 'Tea room', url],
    );
    assert.equal(
      taken.headers['x-psp-signature'],
      expectedSignature(secret, taken.body, String(taken.headers['x-psp-timestamp'])),
    );
    assert.equal(mails.length, 1);
    assert.match(mails[0] ?? '', /Subject: \[critical\] payout_stuck: Tea room, live/);
    assert.match(mails[0] ?? '', /To: duty@pay\.example/);
    assert.ok((mails[0] ?? '').replaceAll('=\r\n', '').replaceAll('=3D', '=').includes(url));
  } finally {
    receiver.close();
    smtp.close();
  }
});
