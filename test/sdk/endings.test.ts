/** How `psp` ends: stopped, without room for its output, called wrongly, or with a lost log. */
import { after, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { version } from '../../sdk/src/index.ts';
import { openPsp, program, type Psp } from './run-psp.ts';
import { eventually } from '../support/eventually.ts';

/** A service of which no more is there than what answers. */
const openStub = async (answer: (request: IncomingMessage, response: ServerResponse) => void) => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    answer(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${port}`, asked };
};

const pspOf = (variables: Readonly<Record<string, string>>): Psp => {
  const psp = openPsp({ PSP_API_KEY: 'sk_test_000000_x', ...variables });
  after(psp.remove);
  return psp;
};

/** What a running program has printed so far, and its code once it has ended. */
const watch = (child: ChildProcess) => {
  after(() => child.kill('SIGKILL'));
  const printed = { out: '', err: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (printed.out += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (printed.err += text));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { printed, ended };
};

describe('psp that is stopped while a call is under way', async () => {
  const silent = await openStub(() => {});
  const psp = pspOf({ PSP_URL: silent.url });
  const stop = async (...args: readonly string[]) => {
    const before = silent.asked.length;
    const child = psp.start(...args);
    const { printed, ended } = watch(child);
    await eventually(() => silent.asked.length > before, 'the call');
    child.kill('SIGINT');
    return { code: await ended, err: printed.err };
  };
  const uuid = '[0-9a-f-]{36}';

  test('ends at once with 130', async () => {
    for (const line of ['balance', 'doctor', 'payments get x', 'ledger export', 'events tail'])
      assert.deepEqual(await stop(...line.split(' ')), { code: 130, err: 'psp: stopped\n' }, line);
  });

  test('names the key of a call that may have been carried out', async () => {
    const created = await stop('payments', 'create', '--amount', '100');
    assert.equal(created.code, 130);
    assert.match(created.err, new RegExp(`repeat it with --idempotency-key ${uuid}\n$`));
    const own = await stop('links', 'create', '--idempotency-key', 'order-1');
    assert.match(own.err, /repeat it with --idempotency-key order-1\n$/);
    const triggered = await stop('trigger', 'payment.expired');
    assert.equal(triggered.code, 130);
    assert.match(triggered.err, new RegExp(`its key is ${uuid}\n$`));
  });
});

test('psp without room for its output says so and fails', async () => {
  const csv = `id\n${'x'.repeat(100_000)}\n`;
  const service = await openStub((_, response) => void response.end(csv));
  const { env } = pspOf({ PSP_URL: service.url });
  for (const line of ['--help', 'ledger export', 'config --json']) {
    const full = openSync('/dev/full', 'w');
    const args = [program, ...line.split(' ')];
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', full, 'pipe'] });
    const { printed, ended } = watch(child);
    assert.equal(await ended, 1, line);
    assert.match(printed.err, /cannot write: ENOSPC/, line);
  }
});

test('psp without an answer ends with 3, whatever it asks', async () => {
  const nowhere = 'http://127.0.0.1:1';
  const lost = { code: 3, out: '', err: `psp: nothing answers at ${nowhere}\n` };
  const psp = pspOf({ PSP_URL: nowhere, PSP_OPERATOR_TOKEN: 'x' });
  for (const page of ['pay/x', 'pay/l/x'])
    assert.deepEqual(await psp.run(['pay', `${nowhere}/${page}`]), lost, page);
  // The log answers, and the graph does not.
  const event = { id: 'evt_1', event: 'payment.failed', data: { id: 'p', merchant_id: 'm' } };
  const service = await openStub((request, response) => {
    if (request.url === '/graphql') request.socket.destroy();
    else response.end(JSON.stringify(event));
  });
  const half = pspOf({ PSP_URL: service.url, PSP_OPERATOR_TOKEN: 'x' });
  const err = `psp: nothing answers at ${service.url}\n`;
  assert.deepEqual(await half.run(['events', 'resend', 'evt_1']), { ...lost, err });
});

describe('psp that is called wrongly', async () => {
  const service = await openStub((_, response) => void response.writeHead(500).end());
  const psp = pspOf({ PSP_URL: service.url });

  test('says which variable is wrong', async () => {
    const key = await pspOf({ PSP_API_KEY: 'sk_other_1' }).run(['balance']);
    assert.deepEqual([key.code, key.err.includes('PSP_API_KEY: expected sk_test_')], [4, true]);
    for (const PSP_URL of ['localhost:4000', 'nothing', 'http://h/?q']) {
      const { code, err } = await pspOf({ PSP_URL }).run(['balance']);
      assert.deepEqual([code, err.includes('PSP_URL: expected http(s)://host')], [2, true]);
    }
    assert.equal((await pspOf({ PSP_URL: 'nothing' }).run(['completion', 'bash'])).code, 0);
  });

  test('asks nothing of the service', async () => {
    for (const args of [
      ['events', 'tail', '--events', 'payment.paid'],
      ['listen', '--forward-to', '9000', '--events', 'payment.succeeded,other'],
      ['payments', 'create', '--amount', '100', '--idempotency-key', 'заказ-1'],
      ['payments', 'create', '--amount', '100', '--idempotency-key', 'a\nb'],
      ['payments', 'refund', 'x', '--amount', '0'],
      ['payments', 'capture', 'x', '--amount', '0'],
      ['payments', 'get', ''],
      ['logs', ''],
    ])
      assert.equal((await psp.run(args)).code, 2, args.join(' '));
    assert.deepEqual(service.asked, []);
  });

  test('has help of every word, and a version', async () => {
    for (const args of [['-h'], ['help'], ['--help'], []])
      assert.match((await psp.run(args)).out, /psp listen/);
    for (const args of [['-v'], ['--version']])
      assert.equal((await psp.run(args)).out.trim(), version);
    for (const help of ['--help', '-h']) {
      const { code, out } = await psp.run(['payments', help]);
      assert.deepEqual(
        [code, /psp payments refund/.test(out), /links/.test(out)],
        [0, true, false],
      );
      assert.match((await psp.run(['payments', 'get', help])).out, /^psp payments get <id>/);
    }
    const { code, err } = await psp.run(['payments']);
    assert.deepEqual([code, err.includes('psp payments create')], [2, true]);
    assert.match((await psp.run(['trigger', '-h'])).out, /test clock on by a day/);
  });

  test('says what a line lacks, what it has too much, and what may have been meant', async () => {
    const said = async (line: string) => {
      const { code, err } = await psp.run(line.split(' '));
      return [code, err.trim()];
    };
    const see = (name: string) => `see psp ${name} --help`;
    assert.deepEqual(await said('payouts create --amount 5 --phone +79161234567'), [
      2,
      `psp: --bank-id is missing: 12 digits, the recipient's bank as psp banks lists it; ${see('payouts create')}`,
    ]);
    assert.deepEqual(await said('payments create 100'), [
      2,
      `psp: psp payments create does not take "100"; ${see('payments create')}`,
    ]);
    assert.deepEqual(await said('payments get '), [
      2,
      `psp: psp payments get <id>: it is empty; ${see('payments get')}`,
    ]);
    assert.deepEqual(await said('payments refund x --amount 0'), [
      2,
      'psp: --amount: expected 1 or more, or no --amount',
    ]);
    assert.deepEqual(await said('banks --limit 3'), [
      2,
      `psp: Unknown option '--limit'; ${see('banks')}`,
    ]);
    assert.deepEqual(await said('tokns list'), [
      2,
      'psp: there is no command tokns list; did you mean psp tokens create, psp tokens list, psp tokens charge, psp tokens cancel?',
    ]);
    assert.deepEqual(await said('--json-'), [2, 'psp: a command is missing; see psp --help']);
    const helps = await Promise.all(
      ['help payouts', 'payouts --help', 'help payouts create', 'payouts create --help'].map(
        async (line) => (await psp.run(line.split(' '))).out,
      ),
    );
    assert.deepEqual([helps[0], helps[2]], [helps[1], helps[3]]);
    assert.match(helps[3] ?? '', /--phone <phone> .*; required$/m);
  });

  test('shows no secret but the one that it is asked for', async () => {
    const { out } = await psp.run(['listen', '--print-secret']);
    assert.match(out, /^whs_\w{32}\n$/);
    assert.equal((await psp.run(['listen', '--print-secret'])).out, out);
    const { listen_secret: shown } = (await psp.json('config'))[0];
    assert.equal(shown, 'whs_...');
  });
});

describe('psp that follows the log', () => {
  const event = { id: 'evt_10', event: 'payment.succeeded', created_at: '2020-01-01T00:00:00Z' };
  const page = (items: readonly object[], last_id: string | null): string =>
    JSON.stringify({ items, has_more: false, last_id });
  const refusal = (code: string) => JSON.stringify({ error: { code, message: `it is ${code}` } });

  /** Answers what is next in its turn, the last of it again and again. */
  const openLog = async (...answers: readonly (readonly [status: number, body: string])[]) => {
    const left = [...answers];
    return openStub((request, response) => {
      const [status, body] = (left.length > 1 ? left.shift() : left[0]) ?? [0, ''];
      if (status === 0) request.socket.destroy();
      else response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    });
  };

  test('begins behind the newest event, waits for what passes, and ends with a refusal', async () => {
    const log = await openLog(
      [200, page([], 'evt_9')],
      [200, page([], 'evt_9')],
      [503, refusal('unavailable')],
      [429, refusal('rate_limited')],
      [0, ''],
      [200, page([{ ...event, data: { id: 'p1' } }], 'evt_10')],
      [401, refusal('unauthorized')],
    );
    const { out, err, code } = await pspOf({ PSP_URL: log.url }).run(['events', 'tail', '--json']);
    assert.equal(code, 1);
    assert.equal(JSON.parse(out).id, 'evt_10');
    assert.match(err, /cannot be read: it is unavailable; trying again\nthe log is read again\n/);
    assert.match(err, /"code":"unauthorized"/);
    const [newest = '', ...others] = log.asked;
    assert.match(newest, /subject_id=00000000-/);
    const behind = others.map((url) => new URL(url, log.url).searchParams.get('after'));
    assert.deepEqual(behind, [...Array.from({ length: 5 }, () => 'evt_9'), 'evt_10']);
    assert.ok(
      log.asked.every((url) => url.startsWith('/v1/public/event-log?')),
      String(log.asked),
    );
  });

  test('begins with the first event of a log that is empty', async () => {
    const log = await openLog(
      [200, page([], null)],
      [200, page([], null)],
      [200, page([{ ...event, data: { id: 'p1' } }], 'evt_10')],
      [401, refusal('unauthorized')],
    );
    const { out } = await pspOf({ PSP_URL: log.url }).run(['events', 'tail', '--json']);
    assert.equal(JSON.parse(out).id, 'evt_10');
    assert.ok(!log.asked.some((url) => url.includes('from=')), String(log.asked));
  });
});
