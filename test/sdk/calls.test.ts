/** Calls of the SDK on the service: retries, limits, signatures, lists, files, the stream. */
import { after, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import {
  ApiError,
  ConnectionError,
  decimalOf,
  formatMoney,
  openPaymentClient,
  parseMoney,
  StreamEnded,
  type StreamEvent,
} from '../../sdk/src/index.ts';
import { requireSignature, revokeKey, rotateSigningSecret, issueKey } from '../support/cabinet.ts';
import { makeMerchant, setRate } from '../support/merchant.ts';
import { openPlainService } from '../support/plain-service.ts';
import { openCuttingProxy } from './cutting-proxy.ts';
import { eventually } from '../support/eventually.ts';

const service = await openPlainService();
after(() => service.stop());

const clientOf = (apiKey: string, rest: object = {}) =>
  openPaymentClient({ apiKey, baseUrl: service.rest, ...rest });

const rejected = async (call: Promise<unknown>): Promise<any> =>
  call.then(
    () => assert.fail('it was not refused'),
    (error: unknown) => error,
  );

describe('a call', () => {
  test('has one key for all its attempts, its own or the given one', async (t) => {
    const merchant = await makeMerchant(service);
    const keys: unknown[] = [];
    const proxy = await openCuttingProxy(service.rest, (index, { headers }) => {
      keys.push(headers['idempotency-key']);
      return index % 3 === 2 ? 'passed' : 'cut after';
    });
    t.after(proxy.close);
    const client = clientOf(merchant.key, { baseUrl: proxy.url });
    const created = await client.payments.create({ amount: 100 });
    assert.equal(created.idempotent, true);
    await client.links.create({ amount: 100 }, { idempotencyKey: 'mine' });
    const [first, ...rest] = keys.slice(0, 3);
    assert.match(String(first), /^[0-9a-f-]{36}$/);
    assert.deepEqual(rest, [first, first]);
    assert.deepEqual(keys.slice(3), ['mine', 'mine', 'mine']);
  });

  test('cancels a payment although the answer of the first attempt was lost', async (t) => {
    const merchant = await makeMerchant(service);
    const proxy = await openCuttingProxy(service.rest, (index) =>
      index % 3 === 0 ? 'cut after' : 'passed',
    );
    t.after(proxy.close);
    const client = clientOf(merchant.key, { baseUrl: proxy.url });
    const { body } = await merchant.call('POST', '/payments', { amount: 100 });
    assert.deepEqual(await client.payments.cancel(body.payment.id), { status: 'cancelled' });
    assert.equal(proxy.fates['cut after'], 1);
    // Nothing was lost here: another terminal has cancelled it.
    const late = await rejected(clientOf(merchant.key).payments.cancel(body.payment.id));
    assert.deepEqual([late.code, late.attempts], ['not_pending', 1]);
  });

  test('says where, how often and under which key it was sent when no answer comes', async (t) => {
    const { key } = await makeMerchant(service);
    const proxy = await openCuttingProxy(service.rest, () => 'cut before');
    t.after(proxy.close);
    const client = clientOf(key, { baseUrl: proxy.url, retries_max: 2 });
    const error = await rejected(client.payments.create({ amount: 1 }, { idempotencyKey: 'k' }));
    assert.ok(error instanceof ConnectionError);
    assert.deepEqual([error.attempts, error.idempotencyKey], [3, 'k']);
    assert.ok(error.message.includes(new URL(proxy.url).origin), error.message);
  });

  test('waits as long as a 429 asks for, and is then carried out', async () => {
    const merchant = await makeMerchant(service);
    await setRate(service, merchant.id, { perSecond: 5, burst: 5 });
    const client = clientOf(merchant.key);
    const made = await Promise.all(
      Array.from({ length: 15 }, () => client.payments.create({ amount: 100 })),
    );
    assert.equal(new Set(made.map(({ payment }) => payment.id)).size, 15);
    const impatient = clientOf(merchant.key, { retries_max: 0 });
    const refused = await eventually(async () => {
      const asked = Array.from({ length: 15 }, () => impatient.balance.get());
      const refusals = await Promise.allSettled(asked);
      return refusals.find((one) => one.status === 'rejected')?.reason;
    }, 'a refusal');
    assert.ok(refused instanceof ApiError);
    assert.deepEqual([refused.code, refused.status], ['rate_limited', 429]);
    assert.ok((refused.retryAfter_s ?? 0) >= 1);
  });

  test('that is refused is not sent again, and says why', async () => {
    const client = clientOf((await makeMerchant(service)).key);
    const to = { phone: '+79161234567', bank_id: '100000000111' };
    const error = await rejected(client.payouts.create({ amount: 100, ...to }));
    assert.ok(error instanceof ApiError);
    assert.deepEqual([error.code, error.attempts], ['insufficient_balance', 1]);
    assert.match(error.requestId ?? '', /\S/);
    const wrong = await rejected(client.payments.create({ amount: 0, ttl_minutes: 0 }));
    assert.ok(wrong instanceof ApiError);
    assert.deepEqual(
      wrong.fields.map(({ path }) => path),
      ['amount', 'ttl_minutes'],
    );
    const idempotencyKey = randomUUID();
    await client.payments.create({ amount: 1 }, { idempotencyKey });
    const used = await rejected(client.payments.create({ amount: 2 }, { idempotencyKey }));
    assert.ok(used instanceof ApiError);
    assert.match(used.firstRequest?.request_id ?? '', /\S/);
    const unknown = await rejected(clientOf('sk_test_aaaaaa_nothing').balance.get());
    assert.equal(unknown.code, 'unauthorized');
  });

  test('ends when its time is over or its caller has enough', async () => {
    const server = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const silent = openPaymentClient({
      apiKey: 'sk_test_000000_x',
      baseUrl: `http://127.0.0.1:${port}`,
      timeout_ms: 50,
      retries_max: 1,
    });
    const late = await rejected(silent.balance.get());
    assert.ok(late instanceof ConnectionError);
    assert.match(late.message, /within 50 ms/);
    const signal = AbortSignal.timeout(100);
    const stopped = await rejected(
      silent.balance.get({ signal, timeout_ms: 10_000, retries_max: 9 }),
    );
    assert.equal(stopped.name, 'TimeoutError');
    server.close().unref();
  });

  test('is signed as a whole where the shop demands that', async () => {
    const merchant = await makeMerchant(service);
    const signingSecret = await rotateSigningSecret(service, merchant);
    await requireSignature(service, merchant, true, true);
    const client = clientOf(merchant.key, { signingSecret });
    const { payment } = await client.payments.create({ amount: 100, description: 'чай' });
    assert.equal((await client.payments.cancel(payment.id)).status, 'cancelled');
    const listed = client.payments.list({ status: ['cancelled', 'pending'], from: '2020-01-01' });
    assert.equal((await listed.first(1))[0]?.id, payment.id);
    const unsigned = await rejected(clientOf(merchant.key).balance.get());
    assert.equal(unsigned.code, 'signature_required');
    const wrong = await rejected(clientOf(merchant.key, { signingSecret: 'thm_x' }).balance.get());
    assert.equal(wrong.code, 'invalid_signature');
  });
});

test('a stream that is cut off before its first event continues from where it began', async () => {
  const asked: unknown[] = [];
  const stopping = new AbortController();
  const cut: typeof fetch = async (_, { headers } = {}) => {
    asked.push(new Headers(headers).get('last-event-id'));
    if (asked.length === 2) stopping.abort();
    return new Response(': connected\nid: 7\n');
  };
  const client = clientOf('sk_test_aaaaaa_x', { fetch: cut });
  for await (const event of client.events.stream({ signal: stopping.signal }))
    assert.fail(event.id);
  assert.deepEqual(asked, [null, '7']);
});

describe('a list', () => {
  test('is read page by page, each row once, and no page more than is wanted', async () => {
    const merchant = await makeMerchant(service);
    let calls = 0;
    const counted: typeof fetch = (...given) => (calls++, fetch(...given));
    const client = clientOf(merchant.key, { fetch: counted });
    const made: string[] = [];
    for (let index = 0; index < 7; index++)
      made.push((await client.payments.create({ amount: 100 + index })).payment.id);
    calls = 0;
    const seen: string[] = [];
    for await (const { id } of client.payments.list({ limit: 3 })) seen.push(id);
    assert.deepEqual([seen, calls], [made.toReversed(), 3]);
    calls = 0;
    assert.equal((await client.payments.list({ limit: 3 }).first(4)).length, 4);
    assert.equal(calls, 2);
    for (const id of made) await client.payments.cancel(id);
    const events = client.eventLog.list({ limit: 2, event: ['payment.cancelled'] });
    const logged = await eventually(async () => {
      const found = await events.first(7);
      return found.length === 7 && found;
    }, 'the events');
    assert.deepEqual(
      logged.map(({ data }) => data['id']),
      made,
    );
  });

  test('of the ledger comes as a file, too', async () => {
    const client = clientOf((await makeMerchant(service)).key);
    const csv = await client.ledger.csv({ from: '2026-01-01' });
    assert.match(await text(csv), /^id,type,amount,currency,/);
  });
});

/** A way to the service that can be cut. */
const openWire = async () => {
  const { port } = new URL(service.rest);
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(port), '127.0.0.1');
    for (const socket of [near, far]) open.add(socket.on('error', () => {}));
    near.pipe(far).pipe(near);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  const cut = (): void => open.forEach((socket) => socket.destroy());
  return { url: `http://127.0.0.1:${address.port}`, cut, close: () => (cut(), server.close()) };
};

describe('the stream', () => {
  test('continues behind the last event where its connection was cut', async (t) => {
    const merchant = await makeMerchant(service);
    const wire = await openWire();
    t.after(wire.close);
    const direct = clientOf(merchant.key);
    const stopping = new AbortController();
    let connections = 0;
    const seen: StreamEvent[] = [];
    const reading = (async () => {
      const stream = clientOf(merchant.key, { baseUrl: wire.url }).events.stream({
        signal: stopping.signal,
        onConnect: () => connections++,
      });
      for await (const event of stream) seen.push(event);
    })();
    await eventually(() => connections === 1, 'the connection');
    const made: string[] = [];
    for (let index = 0; index < 9; index++) {
      made.push((await direct.payments.create({ amount: 100 })).payment.id);
      if (index % 3 !== 0) continue;
      await eventually(() => seen.length === made.length, 'the event');
      wire.cut();
    }
    await eventually(() => seen.length === 9, 'the events');
    stopping.abort();
    await reading;
    assert.ok(connections > 2, `${connections} connections`);
    assert.deepEqual(
      seen.map(({ kind, payload }) => [kind, 'id' in payload && payload.id]),
      made.map((id) => ['payment.created', id]),
    );
    assert.equal(new Set(seen.map(({ id }) => id)).size, 9);
  });

  test('ends with a reason when another one replaces it, and when its key is revoked', async () => {
    const merchant = await makeMerchant(service);
    const { id, secret } = await issueKey(service, merchant);
    const client = clientOf(secret);
    const read = (): { readonly ended: Promise<any>; readonly open: Promise<void> } => {
      const { promise: open, resolve } = Promise.withResolvers<void>();
      const stream = client.events.stream({ onConnect: resolve });
      return { open, ended: rejected(stream.next()) };
    };
    const first = read();
    await first.open;
    const second = read();
    const replaced = await first.ended;
    assert.ok(replaced instanceof StreamEnded);
    assert.equal(replaced.reason, 'replaced');
    await second.open;
    await revokeKey(service, merchant, id);
    assert.ok(['revoked', undefined].includes((await second.ended).reason));
  });
});

test('money is written and read exactly', () => {
  assert.equal(decimalOf(14_990, 'RUB'), '149.90');
  assert.equal(decimalOf(-5n, 'USD'), '-0.05');
  assert.equal(decimalOf(9_007_199_254_740_991, 'RUB'), '90071992547409.91');
  assert.equal(decimalOf(500, 'JPY'), '500');
  assert.equal(formatMoney(9_007_199_254_740_991, 'USD', 'en'), '$90,071,992,547,409.91');
  assert.equal(parseMoney('149,9', 'RUB'), 14_990);
  assert.equal(parseMoney('500', 'JPY'), 500);
  for (const wrong of ['', '1.999', '-1', '1e3', '1 000', '90071992547409.92'])
    assert.throws(() => parseMoney(wrong, 'RUB'), RangeError, wrong);
});
