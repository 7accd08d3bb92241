import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import {
  isLoopback,
  networkOf,
  openAddressOf,
  widerNetworkOf,
  openAddressList,
  readAddressEntry,
} from '../../subgraphs/platform/access/caller-address.ts';

describe('an entry of an address list', () => {
  const rows: readonly (readonly [entry: string, read: string | null])[] = [
    ['192.0.2.1', '192.0.2.1'],
    [' 192.0.2.1 ', '192.0.2.1'],
    ['192.0.2.0/24', '192.0.2.0/24'],
    ['192.0.2.1/32', '192.0.2.1'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
    ['2001:db8::/32', '2001:db8::/32'],
    ['2001:db8::1/128', '2001:db8::1'],
    ['::/0', '::/0'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:C000:0201', '192.0.2.1'],
    ['::ffff:192.0.2.0/120', '192.0.2.0/24'],
    ['::ffff:192.0.2.0/95', null],
    ['', null],
    ['shop.example', null],
    ['192.0.2', null],
    ['192.0.2.256', null],
    ['192.0.2.01', null],
    ['0x7f.0.0.1', null],
    ['192.0.2.1/33', null],
    ['192.0.2.1/', null],
    ['192.0.2.1/08', null],
    ['192.0.2.1/-1', null],
    ['192.0.2.1/24/24', null],
    ['192.0.2.1:443', null],
    ['[2001:db8::1]', null],
    ['2001:db8::/129', null],
    ['fe80::1%eth0', null],
    ['192.0.2.1, 192.0.2.2', null],
  ];
  for (const [entry, read] of rows)
    test(`${JSON.stringify(entry)} is ${read ?? 'refused'}`, () =>
      assert.equal(readAddressEntry(entry), read));
});

describe('an address list', () => {
  const has = openAddressList(['192.0.2.1', '198.51.100.0/24', '2001:db8::/32']);
  const rows: readonly (readonly [address: string, held: boolean])[] = [
    ['192.0.2.1', true],
    ['192.0.2.2', false],
    ['198.51.100.0', true],
    ['198.51.100.255', true],
    ['198.51.101.0', false],
    ['::ffff:192.0.2.1', true],
    ['::ffff:c633:6407', true],
    ['::ffff:192.0.2.2', false],
    ['2001:db8:ffff::1', true],
    ['2001:0DB8::1', true],
    ['2001:db9::1', false],
    ['::192.0.2.1', false],
    ['', false],
    ['unknown', false],
  ];
  for (const [address, held] of rows)
    test(`${address || 'nothing'} is ${held ? 'in' : 'not in'} it`, () =>
      assert.equal(has(address), held));

  test('without entries holds nothing', () =>
    assert.equal(openAddressList([])('192.0.2.1'), false));
  test('of a block of everything holds one kind of addresses', () => {
    assert.equal(openAddressList(['0.0.0.0/0'])('2001:db8::1'), false);
    assert.equal(openAddressList(['::/0'])('192.0.2.1'), false);
  });
});

describe('the caller’s address', () => {
  /** A request over a socket from `from`, with the header sent as often as it is given. */
  const requestFrom = (from: string, forwarded: readonly string[]): IncomingMessage => {
    const socket = new Socket();
    Object.defineProperty(socket, 'remoteAddress', { value: from });
    const request = new IncomingMessage(socket);
    request.rawHeaders = forwarded.flatMap((value) => ['X-Forwarded-For', value]);
    return request;
  };
  const proxies = ['10.0.0.0/8', '2001:db8::1'];
  const rows: readonly (readonly [
    received: string,
    trusted: readonly string[],
    from: string,
    forwarded: readonly string[],
    caller: string,
  ])[] = [
    ['is the socket’s when no proxy is trusted', [], '10.0.0.1', ['203.0.113.7'], '10.0.0.1'],
    [
      'is the socket’s when that is no trusted proxy',
      proxies,
      '203.0.113.9',
      ['10.0.0.1, 203.0.113.7'],
      '203.0.113.9',
    ],
    ['is the socket’s without the header', proxies, '10.0.0.1', [], '10.0.0.1'],
    ['is the hop that the proxy names', proxies, '10.0.0.1', ['203.0.113.7'], '203.0.113.7'],
    [
      'is the last hop: the others are what the caller says',
      proxies,
      '10.0.0.1',
      ['198.51.100.1, 10.0.0.9, 203.0.113.7'],
      '203.0.113.7',
    ],
    [
      'passes over trusted hops',
      proxies,
      '10.0.0.1',
      ['198.51.100.1, 203.0.113.7, 10.0.0.3,10.0.0.2'],
      '203.0.113.7',
    ],
    [
      'is the first hop when all are trusted',
      proxies,
      '10.0.0.1',
      ['10.0.0.3, 10.0.0.2'],
      '10.0.0.3',
    ],
    [
      'is read over headers sent several times',
      proxies,
      '10.0.0.1',
      ['203.0.113.7', '10.0.0.2'],
      '203.0.113.7',
    ],
    [
      'is found over an IPv4 proxy in IPv6 notation',
      proxies,
      '::ffff:10.0.0.1',
      ['::ffff:203.0.113.7'],
      '203.0.113.7',
    ],
    ['is found over an IPv6 proxy', proxies, '2001:db8::1', ['2001:DB8::2'], '2001:db8::2'],
    ['stands without a port', proxies, '10.0.0.1', ['203.0.113.7:4711'], '203.0.113.7'],
    ['stands without brackets', proxies, '10.0.0.1', ['[2001:db8::2]:4711'], '2001:db8::2'],
    [
      'is not passed over when it is no address',
      proxies,
      '10.0.0.1',
      ['203.0.113.7, unknown'],
      'unknown',
    ],
    ['of a socket that has gone is nothing', proxies, '', ['203.0.113.7'], ''],
  ];
  for (const [received, trusted, from, forwarded, caller] of rows) {
    test(received, () =>
      assert.equal(openAddressOf(trusted)(requestFrom(from, forwarded)), caller),
    );
  }
});

test('callers are counted by IPv4 address and by /64', () => {
  assert.equal(networkOf('192.0.2.1'), '192.0.2.1');
  assert.equal(networkOf('2001:db8::1'), '2001:db8:0:0::/64');
  assert.equal(networkOf('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64');
  assert.equal(networkOf('::1'), '0:0:0:0::/64');
  assert.equal(networkOf('2001:db8:1:2::'), '2001:db8:1:2::/64');
  assert.equal(networkOf('unknown'), 'unknown');
});

test('callers of a network are counted by /24 and by /48', () => {
  assert.equal(widerNetworkOf('192.0.2.1'), '192.0.2.0/24');
  assert.equal(widerNetworkOf('::ffff:192.0.2.1'), '192.0.2.0/24');
  assert.equal(widerNetworkOf('2001:db8:1:2:3:4:5:6'), '2001:db8:1::/48');
  assert.equal(widerNetworkOf('2001:db8::1'), '2001:db8:0::/48');
  assert.equal(widerNetworkOf('unknown'), 'unknown');
  assert.deepEqual(['127.0.0.1', '127.8.9.10', '::1', '192.0.2.1', 'unknown'].map(isLoopback), [
    true,
    true,
    true,
    false,
    false,
  ]);
});
