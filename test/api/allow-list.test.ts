import { after, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { send, setAllowList, type Sending } from '../support/cabinet.ts';
import { askGraph, makeMerchant, type Merchant } from '../support/merchant.ts';
import { startService } from '../support/service.ts';
import { comesTo } from '../support/eventually.ts';

/**
 * The service listens on IPv6 too, so that IPv4 callers come as `::ffff:127.0.0.1`; one address of
 * loopback is a trusted proxy.
 */
const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
);
const service = await startService('one', {
  ...(hasIpv6 && { HOST: '::' }),
  PUBLIC_URL: 'https://pay.example',
  WEBHOOK_PRIVATE_TARGETS: 'development',
  TRUSTED_PROXIES: '127.0.0.9, 127.0.1.0/24',
});
after(() => service.stop());

const banks = `${service.rest}/v1/public/banks/sbp`;
const here = '127.0.0.1';
const elsewhere = '127.0.0.2';
const proxy = '127.0.0.9';

/** A merchant whose shop has this allow-list, and the way to call from an address. */
const openShop = async (entries: readonly string[]) => {
  const merchant = await makeMerchant(service);
  const set = await setAllowList(service, merchant, entries);
  assert.equal(set.__typename, 'Shop', JSON.stringify(set));
  const call = async (
    from: string,
    sending: Sending & { readonly url?: string } = {},
  ): Promise<string> => {
    const { status, code } = await send({ url: banks, key: merchant.key, from, ...sending });
    return `${status} ${code}`.trim();
  };
  return { merchant, call };
};

const notAllowed = '403 ip_not_allowed';

describe('a shop’s keys work from the addresses of its allow-list alone', () => {
  const rows: readonly (readonly [entries: readonly string[], from: string, expected: string])[] = [
    [[], here, '200'],
    [[], elsewhere, '200'],
    [[here], here, '200'],
    [[here], elsewhere, notAllowed],
    [['192.0.2.1', '2001:db8::1', here], here, '200'],
    [['127.0.0.0/31'], here, '200'],
    [['127.0.0.0/31'], elsewhere, notAllowed],
    [['::ffff:127.0.0.1'], here, '200'],
    [['::ffff:127.0.0.0/127'], elsewhere, notAllowed],
    [['2001:db8::/32'], here, notAllowed],
    [['::/0'], here, notAllowed],
    [['0.0.0.0/0'], elsewhere, '200'],
  ];
  for (const [entries, from, expected] of rows) {
    test(`${entries.join(', ') || 'an empty list'}: ${from} gets ${expected}`, async () =>
      assert.equal(await (await openShop(entries)).call(from), expected));
  }

  const ipv6 = `http://[::1]:${new URL(service.rest).port}/v1/public/banks/sbp`;
  for (const [entries, expected] of [
    [['::1'], '200'],
    [['0:0:0:0:0:0:0:1/128'], '200'],
    [['::/127'], '200'],
    [[here, '2001:db8::/32'], notAllowed],
    [['0.0.0.0/0'], notAllowed],
  ] as const) {
    test(`${entries.join(', ')}: ::1 gets ${expected}`, async (t) => {
      if (!hasIpv6) return t.skip('this machine has no IPv6');
      const { merchant } = await openShop(entries);
      const { status, code } = await send({ url: ipv6, key: merchant.key });
      assert.equal(`${status} ${code}`.trim(), expected);
    });
  }
});

describe('X-Forwarded-For', async () => {
  const { call } = await openShop(['203.0.113.7']);
  const from = (address: string, forwarded: string | readonly string[]) =>
    call(address, { headers: { 'x-forwarded-for': forwarded } });

  test('of a caller that is no trusted proxy gains nothing', async () => {
    assert.equal(await from(here, '203.0.113.7'), notAllowed);
    assert.equal(await from(elsewhere, ['203.0.113.7', proxy]), notAllowed);
  });

  test('of a trusted proxy names the caller', async () => {
    assert.equal(await from(proxy, '203.0.113.7'), '200');
    assert.equal(await from(proxy, '::ffff:203.0.113.7'), '200');
    assert.equal(await from(proxy, '203.0.113.8'), notAllowed);
    assert.equal(await call(proxy), notAllowed);
  });

  test('is believed no further than the trusted proxies reach', async () => {
    assert.equal(await from(proxy, '203.0.113.7, 198.51.100.1'), notAllowed);
    assert.equal(await from(proxy, ['203.0.113.7', '198.51.100.1']), notAllowed);
    assert.equal(await from(proxy, '198.51.100.1, 203.0.113.7, 127.0.1.5'), '200');
    assert.equal(await from(proxy, '203.0.113.7, nonsense'), notAllowed);
  });

  test('other headers that name callers are not read', async () => {
    for (const name of [
      'x-real-ip',
      'forwarded',
      'x-client-ip',
      'cf-connecting-ip',
      'true-client-ip',
    ]) {
      assert.equal(await call(proxy, { headers: { [name]: '203.0.113.7' } }), notAllowed, name);
    }
  });
});

describe('the list in the cabinet', () => {
  const mistakes: readonly (readonly [entries: readonly string[], message: RegExp])[] = [
    [
      ['shop.example'],
      /^entries\[0\]: expected an IPv4 or IPv6 address, or a block of them such as 192\.0\.2\.0\/24 or 2001:db8::\/32, got "shop\.example"$/,
    ],
    [['127.0.0.1', '10.0.0.0/33'], /^entries\[1\]: expected an IPv4 .*, got "10\.0\.0\.0\/33"$/],
    [['10.0.0.1:443'], /^entries\[0\]/],
    [[''], /^entries\[0\]: .*, got ""$/],
    [
      Array.from({ length: 201 }, (_, i) => `10.0.0.${i}`),
      /^entries: expected at most 200, got 201$/,
    ],
  ];
  for (const [entries, message] of mistakes) {
    test(`refuses ${entries.slice(0, 2).join(', ') || 'an empty entry'}${entries.length > 2 ? ' and so on' : ''}`, async () => {
      const { merchant, call } = await openShop([elsewhere]);
      const refused = await setAllowList(service, merchant, entries);
      assert.equal(refused.code, 'bad_request');
      assert.match(refused.message, message);
      assert.equal(await call(elsewhere), '200', 'the list was changed all the same');
    });
  }

  test('is kept in one notation, each entry once, and is there to read for operators alone', async () => {
    const { merchant } = await openShop([]);
    const entries = ['192.0.2.1', ' 192.0.2.1/32', '::ffff:192.0.2.1', '2001:DB8::0/32'];
    assert.deepEqual((await setAllowList(service, merchant, entries)).allowList, [
      '192.0.2.1',
      '2001:db8::/32',
    ]);
    const read = (bearer?: string) =>
      askGraph(
        service,
        'query ($m: ID!) { merchant(id: $m) { shops { allowList } } }',
        { m: merchant.id },
        bearer,
      );
    assert.deepEqual((await read()).merchant.shops, [
      { allowList: ['192.0.2.1', '2001:db8::/32'] },
    ]);
    await setAllowList(service, merchant, []);
    await assert.rejects(read(merchant.key), /scope_required/);
  });

  test('holds at once when it is changed, and lets everybody in when it is emptied', async () => {
    const { merchant, call } = await openShop([here]);
    assert.deepEqual([await call(here), await call(elsewhere)], ['200', notAllowed]);
    await setAllowList(service, merchant, [elsewhere]);
    const seen = async (): Promise<string[]> => [await call(here), await call(elsewhere)];
    await comesTo([notAllowed, '200'], seen);
    await setAllowList(service, merchant, []);
    await comesTo(['200', '200'], seen);
  });

  test('of another merchant’s shop, or of none, is not found', async () => {
    const { merchant } = await openShop([]);
    const other = await makeMerchant(service);
    for (const shop of [
      { id: merchant.id, shopId: other.shopId },
      { id: merchant.id, shopId: 'none' },
    ]) {
      assert.equal((await setAllowList(service, shop, [])).code, 'not_found');
    }
  });
});

describe('the graph', () => {
  const ask = async (merchant: Merchant, from: string): Promise<string> => {
    const headers = { 'content-type': 'application/json' };
    const body = '{"query":"{ sbpBanks { name } }"}';
    const { status, code } = await send({
      url: `${service.graph}/graphql`,
      key: merchant.key,
      method: 'POST',
      from,
      headers,
      body,
    });
    return `${status} ${code}`.trim();
  };
  /** How a socket from an address ends: with a result, or with the code that closed it. */
  const socket = async (merchant: Merchant, localAddress: string): Promise<unknown> => {
    const From = class extends WebSocket {
      constructor(url: string, protocol: string) {
        super(url, protocol, { localAddress });
      }
    };
    const client = createClient({
      url: `${service.graph.replace('http', 'ws')}/graphql`,
      webSocketImpl: From,
      retryAttempts: 0,
      connectionParams: { authorization: `Bearer ${merchant.key}` },
    });
    const answer = client.iterate({ query: '{ __typename }' }).next();
    const ended = await answer.then(
      ({ value }) => value?.data,
      (error: unknown) =>
        typeof error === 'object' && error !== null && 'code' in error ? error.code : error,
    );
    await client.dispose();
    return ended;
  };

  test('is for the same addresses, over HTTP and over sockets', async () => {
    const { merchant } = await openShop([here]);
    assert.deepEqual(
      [await ask(merchant, here), await ask(merchant, elsewhere)],
      ['200', notAllowed],
    );
    assert.deepEqual(
      [await socket(merchant, here), await socket(merchant, elsewhere)],
      [{ __typename: 'Query' }, 4403],
    );
  });
});

test('an installation that others reach refuses webhooks to loopback', async () => {
  const merchant = await makeMerchant(service);
  await assert.rejects(merchant.endpoint('http://127.0.0.1:9/hook'), /must be an https URL/);
});

test('an open stream ends when its address leaves the list', async () => {
  const { merchant } = await openShop([here]);
  const response = await fetch(`${service.rest}/v1/public/events`, {
    headers: { authorization: `Bearer ${merchant.key}` },
  });
  const reader =
    response.body?.pipeThrough(new TextDecoderStream()).getReader() ?? assert.fail('no stream');
  assert.match((await reader.read()).value ?? '', /^: connected/);
  await setAllowList(service, merchant, [elsewhere]);
  assert.match((await reader.read()).value ?? '', /^: revoked/);
  await reader.cancel();
});
