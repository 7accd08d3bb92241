import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { createServer as createTlsServer } from 'node:https';
import { createServer, type AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { postWebhook } from '../../subgraphs/merchants/webhooks/post-webhook.ts';
import { checkWebhookUrl, isPublicAddress } from '../../subgraphs/platform/http/webhook-url.ts';
import { openTargets } from '../../subgraphs/merchants/webhooks/webhook-target.ts';
import { patience_ms } from '../support/eventually.ts';
import { startReceiver } from './receiver.ts';
import { makeSelfSigned } from './self-signed.ts';

/**
 * Loopback, private, link-local with metadata services, multicast and reserved addresses in the
 * notations that reach us.
 */
const privateHosts = [
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '127.0.0.1.',
  '①②⑦.⓪.⓪.①',
  '0',
  '0.0.0.0',
  '10.0.0.1',
  '172.16.5.4',
  '192.168.1.1',
  '100.64.0.1',
  '100.100.100.200',
  '169.254.169.254',
  '0xa9fea9fe',
  '192.0.0.192',
  '198.18.0.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  // Metadata and wire servers of clouds, as themselves and within IPv6: mapped, NAT64, 6to4, and
  // the deprecated compatible form.
  '168.63.129.16',
  '0xa83f8110',
  '168.63.33040',
  '[::ffff:168.63.129.16]',
  '[::ffff:a83f:8110]',
  '[::168.63.129.16]',
  '[64:ff9b::168.63.129.16]',
  '[64:ff9b:1::a83f:8110]',
  '[2002:a83f:8110::1]',
  '169.254.0.23',
  '169.254.170.2',
  '[64:ff9b::a9fe:a9fe]',
  '[2002:a9fe:a9fe::]',
  '[::ffff:100.100.100.200]',
  '[64:ff9b::100.100.100.200]',
  '[2002:6464:64c8::]',
  '[::ffff:192.0.0.192]',
  '[2002:c000:c0::]',
  '[fd20:ce::254]',
  '[fd00:42::42]',
  '[fe80::a9fe:a9fe]',
  '[::]',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::127.0.0.1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:a9fe:a9fe]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  '[2001:0:1::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[fe80::1]',
  '[fec0::1]',
  '[ff02::1]',
];

describe('the address of a webhook, when it is given', () => {
  const strict = { privateTargets: false, mode: 'live' } as const;
  const development = { privateTargets: true, mode: 'test' } as const;

  test('may be https on a public host', () => {
    for (const url of [
      'https://shop.example/hook',
      'https://shop.example:8443/',
      'https://8.8.8.8/',
      'https://[2606:4700::1111]/',
    ]) {
      assert.equal(checkWebhookUrl(url, strict), null, url);
      assert.equal(checkWebhookUrl(url, { ...strict, mode: 'test' }), null, url);
    }
  });

  test('may not be http, save in development and never for live', () => {
    for (const url of ['http://shop.example/hook', 'http://127.0.0.1:8080/hook']) {
      const mistake = `must be an https URL, got "${url.slice(0, -'/hook'.length)}"`;
      assert.equal(checkWebhookUrl(url, strict), mistake);
      assert.equal(checkWebhookUrl(url, { ...strict, mode: 'test' }), mistake);
      assert.equal(checkWebhookUrl(url, { ...development, mode: 'live' }), mistake);
      assert.equal(checkWebhookUrl(url, development), null);
    }
  });

  test('may not be private in any notation', () => {
    for (const host of privateHosts)
      assert.match(
        checkWebhookUrl(`https://${host}/hook`, strict) ?? '',
        /^must resolve to a public address, got "/,
        host,
      );
    for (const host of [
      'localhost',
      'LOCALHOST',
      'localhost.',
      'api.localhost',
      'metadata.google.internal',
      'printer.local',
      'receiver',
      'receiver.',
    ])
      assert.equal(
        checkWebhookUrl(`https://${host}/`, strict),
        `must resolve to a public address, got "${host.toLowerCase()}"`,
        host,
      );
  });

  test('may be loopback in development, and no other private address', () => {
    for (const host of [
      '127.0.0.1',
      '127.8.9.10',
      '[::1]',
      '[::ffff:127.0.0.1]',
      'localhost',
      'LOCALHOST.',
      'api.localhost',
      '2130706433',
      'receiver',
    ])
      assert.equal(checkWebhookUrl(`http://${host}:8080/hook`, development), null, host);
    for (const host of [
      '10.0.0.1',
      '192.168.1.1',
      '168.63.129.16',
      '169.254.169.254',
      '[fd00:ec2::254]',
      '224.0.0.1',
      '0.0.0.0',
      'metadata.google.internal',
      'printer.local',
    ])
      assert.match(
        checkWebhookUrl(`http://${host}/hook`, development) ?? '',
        /^must resolve to a public address, got "/,
        host,
      );
  });

  test('must be a URL without a password and of sane length', () => {
    for (const url of [
      '',
      'hook',
      '/hook',
      'https://',
      'https:///shop.example/',
      'https:/shop.example/',
      'https:shop.example/',
    ])
      for (const rules of [strict, development])
        assert.match(checkWebhookUrl(url, rules) ?? '', /^must be an absolute URL such as/, url);
    for (const url of ['ftp://shop.example/', 'file:///etc/passwd', 'javascript:alert(1)'])
      assert.match(checkWebhookUrl(url, strict) ?? '', /^must be an https URL, got "/, url);
    assert.equal(
      checkWebhookUrl('http://4111111111111111.shop.example/', strict),
      'must be an https URL, got a string of 36 characters',
    );
    assert.equal(
      checkWebhookUrl('https://me:pass@shop.example/', strict),
      'must not hold a user name or a password',
    );
    assert.match(
      checkWebhookUrl(`https://shop.example/${'x'.repeat(3_000)}`, strict) ?? '',
      /at most 2048/,
    );
  });
});

test('only public unicast addresses are public', () => {
  for (const address of ['8.8.8.8', '::ffff:8.8.8.8', '2606:4700::1111'])
    assert.equal(isPublicAddress(address), true, address);
  for (const address of ['', 'localhost', '127.0.0.1', '::1', '::ffff:10.0.0.1', 'fe80::1%eth0'])
    assert.equal(isPublicAddress(address), false, address);
});

describe('a connection', () => {
  let turns = 0;
  const zone: Record<string, readonly string[]> = {
    'inside.example': ['127.0.0.1'],
    'mixed.example': ['93.184.216.34', '10.0.0.1'],
    /** Public when it is looked up first, private when it is looked up again, and so on. */
    get 'turning.example'() {
      turns += 1;
      return turns % 2 === 1 ? ['93.184.216.34'] : ['127.0.0.1'];
    },
  };
  let names: Socket;
  let nameServer: string;
  const connections = { count: 0 };
  const listener = createServer((socket) => {
    connections.count += 1;
    socket.destroy();
  });
  let port = 0;

  before(async () => {
    names = await startNameServer(zone);
    nameServer = `127.0.0.1:${names.address().port}`;
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const address = listener.address();
    if (address !== null && typeof address !== 'string') port = address.port;
  });
  after(() => {
    names.close();
    listener.close();
  });

  const post = (url: string) =>
    postWebhook(openTargets({ privateTargets: () => false, nameServers: [nameServer] }), {
      url,
      headers: {},
      body: '{}',
      deadline_ms: patience_ms,
    });

  test('is not opened to a private address in any notation', async () => {
    for (const host of privateHosts) {
      const { status, error, fault } = await post(`https://${host}:${port}/`);
      assert.deepEqual(
        { status, error, fault },
        { status: null, error: 'the address is not public', fault: 'target_forbidden' },
        host,
      );
    }
    assert.equal(connections.count, 0);
  });

  test('is not opened to a name that leads to a private address, even beside a public one', async () => {
    for (const host of ['inside.example', 'mixed.example']) {
      const { status, error } = await post(`https://${host}:${port}/`);
      assert.deepEqual(
        { status, error },
        { status: null, error: 'the name resolves to an address that is not public' },
        host,
      );
    }
    assert.equal((await post(`https://nowhere.example:${port}/`)).error, 'the name has no address');
    assert.equal(connections.count, 0);
  });

  test('is opened to the address that was checked, also when the name changes in between', async () => {
    const received: (string | null)[] = [];
    for (let round = 0; round < 4; round += 1) {
      const asked = turns;
      const targets = openTargets({ privateTargets: () => false, nameServers: [nameServer] });
      const { status, error } = await postWebhook(targets, {
        url: `https://turning.example:${port}/`,
        headers: {},
        body: '{}',
        // The public address has no listener.
        deadline_ms: round % 2 === 0 ? 3_000 : patience_ms,
      });
      await targets.destroy();
      assert.deepEqual(
        [status, turns - asked],
        [null, 1],
        'one lookup for each connection: what was checked is what is connected to',
      );
      received.push(error);
    }
    assert.deepEqual(
      received.map((error) => error === 'the name resolves to an address that is not public'),
      [false, true, false, true],
    );
    assert.equal(connections.count, 0);
  });

  test('is not opened without TLS', async () => {
    assert.equal((await post('http://shop.example/')).error, 'only https is allowed');
  });

  test('names the host in TLS without the dot that may end it', async (context) => {
    const named: string[] = [];
    const server = createTlsServer({
      ...makeSelfSigned('localhost'),
      SNICallback: (name, done) => {
        named.push(name);
        done(null);
      },
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    context.after(() => server.close());
    const address = server.address() as AddressInfo;
    const targets = openTargets({ privateTargets: () => true });
    context.after(() => targets.destroy());
    for (const host of ['localhost', 'localhost.', '127.0.0.1']) {
      const url = `https://${host}:${address.port}/`;
      const answer = { url, headers: {}, body: '{}', deadline_ms: patience_ms };
      assert.match((await postWebhook(targets, answer)).error ?? '', /SELF_SIGNED/, host);
    }
    assert.deepEqual(named, ['localhost', 'localhost']);
  });

  test('is opened to loopback in development, also by name', async (context) => {
    const receiver = await startReceiver(context, (response) => response.end('here'));
    const targets = openTargets({ privateTargets: () => true });
    const url = receiver.url.replace('127.0.0.1', 'localhost');
    const { status, head } = await postWebhook(targets, {
      url,
      headers: {},
      body: '{}',
      deadline_ms: patience_ms,
    });
    assert.deepEqual({ status, head }, { status: 200, head: 'here' });
    const elsewhere = await postWebhook(targets, {
      url: 'http://169.254.169.254/',
      headers: {},
      body: '{}',
      deadline_ms: patience_ms,
    });
    assert.deepEqual([elsewhere.status, elsewhere.error], [null, 'the address is not public']);
    await targets.close();
  });
});

/** A name server on loopback with IPv4 addresses for the names of `zone`, and none for others. */
const startNameServer = async (
  zone: Readonly<Record<string, readonly string[]>>,
): Promise<Socket> => {
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length));
      at += length + 1;
    }
    const asksForA = query.readUInt16BE(at + 1) === 1;
    const addresses = asksForA ? (zone[labels.join('.').toLowerCase()] ?? []) : [];
    const header = Buffer.from([0, 0, 0x81, 0x80, 0, 1, 0, addresses.length, 0, 0, 0, 0]);
    query.copy(header, 0, 0, 2);
    // Name (a pointer to the question's), type A, class IN, not to be remembered, 4 bytes.
    const answers = addresses.map((address) =>
      Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
    );
    socket.send(
      Buffer.concat([header, query.subarray(12, at + 5), ...answers]),
      from.port,
      from.address,
    );
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return socket;
};
