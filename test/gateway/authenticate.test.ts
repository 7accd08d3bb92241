import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { openAuthenticator, type Authenticator } from '../../gateway/callers/authenticate.ts';
import {
  type ApiKeyHolder,
  type Authenticated,
  knownKey_ms,
  openKeyHolders,
  unknownKey_ms,
  emptyBody,
} from '../../gateway/callers/caller.ts';
import { isRefusal, type Refusal } from '../../subgraphs/rules/refusal.ts';
import {
  authenticatorParts,
  bareRequest,
  liveKey,
  openSmallGraph,
  operatorToken,
  otherMerchantKey,
  testKey,
  unprotected,
  Fixture,
} from './small-graph.ts';

const open = async () => {
  const fixture = new Fixture();
  const clock = { ms: 1_000 };
  const authenticator = openAuthenticator({
    supergraph: await openSmallGraph(fixture),
    bus: fixture.bus,
    operatorToken,
    now_ms: () => clock.ms,
    ...authenticatorParts,
  });
  return { fixture, clock, authenticator };
};

const bearer = (key: string): string => `Bearer ${key}`;

const admitted = async (authenticator: Authenticator, key: string): Promise<Authenticated> => {
  const answer = await authenticator.ofHeader(bearer(key), bareRequest);
  if (isRefusal(answer)) return assert.fail(`refused with ${answer.code}`);
  return answer;
};

const refusal = async (
  authenticator: Authenticator,
  header: string | readonly string[] | undefined,
): Promise<Refusal> => {
  const answer = await authenticator.ofHeader(header, bareRequest);
  assert(isRefusal(answer), 'was let in');
  return answer;
};

/** A request without a body, with these signatures. */
const shown = (...signatures: readonly string[]) => ({
  request: bareRequest,
  signatures,
  body: emptyBody,
  arrivedAt_ms: Date.now(),
});

/** Lets what was started go on until it waits. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a merchant key', () => {
  test('speaks for its shop, in its mode, with its scopes', async () => {
    const { authenticator } = await open();
    const { principal, holder } = await admitted(authenticator, testKey);
    assert.equal(principal.kind, 'key');
    assert.deepEqual(
      { ...principal, scopes: 7 },
      { kind: 'key', keyId: 'key-1', merchantId: 'm1', shopId: 's1', mode: 'test', scopes: 7 },
    );
    assert.equal(holder?.liveEnabled, true);
  });

  test('is known although it is a live one and the merchant has no live mode: that is refused after its signature', async () => {
    const { authenticator } = await open();
    const { holder } = await admitted(authenticator, liveKey);
    assert(holder);
    assert.equal(authenticator.checkRequest(holder, shown())?.code, 'live_not_enabled');
    assert.equal(authenticator.checkRequest(holder, shown('sha256='))?.code, 'invalid_signature');
  });

  test('is refused in the same words when it is missing, malformed, unknown, of another scheme or sent twice', async () => {
    const { authenticator } = await open();
    const headers = [
      undefined,
      [],
      '',
      'Bearer',
      'Bearer ',
      testKey,
      `Basic ${testKey}`,
      bearer(`${testKey} ${testKey}`),
      bearer('sk_test_abc12_0123456789abcdef'),
      bearer('sk_prod_abc123_0123456789abcdef'),
      bearer('sk_test_abc123_'),
      bearer('sk_test_abc123_unknown'),
      bearer(`${testKey}\u00e9`),
      bearer('x'.repeat(100_000)),
      [bearer(testKey), bearer(testKey)],
    ];
    const refusals = await Promise.all(headers.map((header) => refusal(authenticator, header)));
    assert.deepEqual(
      new Set(refusals.map(({ code, message }) => `${code}: ${message}`)),
      new Set(['unauthorized: The API key is missing or not valid.']),
    );
  });

  test('is taken whatever the case of the scheme', async () => {
    const { authenticator } = await open();
    assert.equal(
      isRefusal(await authenticator.ofHeader([`bearer  ${testKey}`], bareRequest)),
      false,
    );
  });

  test('is asked about once in 30 seconds', async () => {
    const { fixture, clock, authenticator } = await open();
    await admitted(authenticator, testKey);
    clock.ms += knownKey_ms - 1;
    await admitted(authenticator, testKey);
    assert.equal(fixture.count('apiKeyHolder'), 1);
    clock.ms += 1;
    await admitted(authenticator, testKey);
    assert.equal(fixture.count('apiKeyHolder'), 2);
  });

  test('that expires sooner is asked about then', async () => {
    const { fixture, clock, authenticator } = await open();
    fixture.setKey(testKey, { ...fixture.holderOf(testKey), expiresInMs: 2_000 });
    await admitted(authenticator, testKey);
    clock.ms += 1_999;
    await admitted(authenticator, testKey);
    assert.equal(fixture.count('apiKeyHolder'), 1);
    clock.ms += 1;
    await admitted(authenticator, testKey);
    assert.equal(fixture.count('apiKeyHolder'), 2);
  });

  test('that is unknown is asked about again after a second', async () => {
    const { fixture, clock, authenticator } = await open();
    const key = 'sk_test_new000_0123456789abcdef';
    await refusal(authenticator, bearer(key));
    await refusal(authenticator, bearer(key));
    assert.equal(fixture.count('apiKeyHolder'), 1);
    fixture.setKey(key, {
      keyId: 'key-9',
      merchantId: 'm1',
      shopId: 's1',
      mode: 'test',
      scopes: [],
      liveEnabled: false,
      rateLimit: { perSecond: 50, burst: 100 },
      ...unprotected,
    });
    clock.ms += unknownKey_ms;
    await admitted(authenticator, key);
  });

  test('is asked about once by many at the same time', async () => {
    const { fixture, authenticator } = await open();
    await Promise.all(Array.from({ length: 20 }, () => admitted(authenticator, testKey)));
    assert.equal(fixture.count('apiKeyHolder'), 1);
  });

  test('stops at once when it is revoked, and another merchant is not asked about for that', async () => {
    const { fixture, authenticator } = await open();
    await admitted(authenticator, testKey);
    await admitted(authenticator, otherMerchantKey);
    await fixture.revoke(testKey);
    await refusal(authenticator, bearer(testKey));
    await admitted(authenticator, otherMerchantKey);
    assert.equal(fixture.count('apiKeyHolder'), 3);
  });

  test('whose answer was on its way when it was revoked is neither remembered nor joined', async () => {
    const { bus, holders: known } = new Fixture();
    const [held] = known.values();
    assert(held);
    const answers = [
      Promise.withResolvers<ApiKeyHolder | null>(),
      Promise.withResolvers<ApiKeyHolder | null>(),
    ] as const;
    let asked = 0;
    const ask = (): Promise<ApiKeyHolder | null> => (answers[asked++] ?? answers[1]).promise;
    const holders = openKeyHolders({ find: ask, bus });
    const before = holders.find('digest');
    await settle();
    await bus.publish('keys', { merchantId: held.merchantId });
    const after = holders.find('digest');
    answers[0].resolve(held);
    answers[1].resolve(null);
    assert.deepEqual([await before, await after, await holders.find('digest')], [held, null, null]);
    assert.equal(asked, 2);
  });

  test('whose answer was on its way when another merchant changed is remembered', async () => {
    const { bus, holders: known } = new Fixture();
    const [held] = known.values();
    assert(held);
    const answer = Promise.withResolvers<ApiKeyHolder | null>();
    let asked = 0;
    const ask = (): Promise<ApiKeyHolder | null> => ((asked += 1), answer.promise);
    const holders = openKeyHolders({ find: ask, bus });
    const first = holders.find('digest');
    await settle();
    await bus.publish('keys', { merchantId: 'another' });
    answer.resolve(held);
    assert.deepEqual([await first, await holders.find('digest')], [held, held]);
    assert.equal(asked, 1);
  });

  test('cannot be checked while the merchants subgraph fails, and that is not remembered', async () => {
    const { fixture, authenticator } = await open();
    fixture.obstacles.set('apiKeyHolder', () => Promise.reject(new Error('no database')));
    await assert.rejects(authenticator.ofHeader(bearer(testKey), bareRequest));
    fixture.obstacles.clear();
    await admitted(authenticator, testKey);
  });
});

describe('a watched key', () => {
  test('is renewed with what its shop demands now; of receipts a principal speaks only then', async () => {
    const { fixture, authenticator } = await open();
    const caller = await admitted(authenticator, testKey);
    assert(!('receiptsRequired' in caller.principal));
    const demands: unknown[] = [];
    authenticator.watch(
      { request: bareRequest, authorization: bearer(testKey), signatures: [], arrivedAt_ms: 0 },
      caller,
      ({ code }) => demands.push(code),
      ({ principal }) => demands.push('receiptsRequired' in principal),
    );
    const before = fixture.holderOf(testKey);
    for (const receiptsRequired of [true, false]) {
      fixture.setKey(testKey, { ...before, receiptsRequired });
      await fixture.bus.publish('keys', { merchantId: 'm1' });
      await settle();
    }
    assert.deepEqual(demands, [true, false]);
    await authenticator.close();
  });

  test('is lost once, when it is revoked', async () => {
    const { fixture, authenticator } = await open();
    const { principal } = await admitted(authenticator, testKey);
    const lost: string[] = [];
    authenticator.watch(
      { request: bareRequest, authorization: bearer(testKey), signatures: [], arrivedAt_ms: 0 },
      { principal },
      ({ code }) => lost.push(code),
    );
    await fixture.bus.publish('keys', { merchantId: 'm1' });
    await settle();
    assert.deepEqual(lost, []);
    await fixture.revoke(testKey);
    await fixture.revoke(testKey);
    await settle();
    assert.deepEqual(lost, ['unauthorized']);
  });

  test('is lost within a minute when the message of its revocation was lost', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const { fixture, clock, authenticator } = await open();
    const { principal } = await admitted(authenticator, testKey);
    const lost: string[] = [];
    authenticator.watch(
      { request: bareRequest, authorization: bearer(testKey), signatures: [], arrivedAt_ms: 0 },
      { principal },
      ({ code }) => lost.push(code),
    );
    fixture.holders.clear();
    for (const _ of [1, 2]) {
      clock.ms += knownKey_ms;
      t.mock.timers.tick(knownKey_ms);
      await settle();
    }
    assert.deepEqual(lost, ['unauthorized']);
    await authenticator.close();
  });

  test('is not lost after its watch was ended, nor while its state is unknown', async () => {
    const { fixture, authenticator } = await open();
    const { principal } = await admitted(authenticator, testKey);
    const lost: string[] = [];
    const unwatch = authenticator.watch(
      { request: bareRequest, authorization: bearer(testKey), signatures: [], arrivedAt_ms: 0 },
      { principal },
      ({ code }) => lost.push(code),
    );
    fixture.obstacles.set('apiKeyHolder', () => Promise.reject(new Error('no database')));
    await fixture.bus.publish('keys', { merchantId: 'm1' });
    await settle();
    fixture.obstacles.clear();
    unwatch();
    await fixture.revoke(testKey);
    await settle();
    assert.deepEqual(lost, []);
  });
});

describe("the operator's token", () => {
  test('speaks for an admin of all merchants', async () => {
    const { authenticator } = await open();
    assert.deepEqual(await admitted(authenticator, operatorToken), {
      principal: { kind: 'operator', subject: 'operator-token', role: 'admin', merchantId: null },
    });
  });

  test('is not taken when it differs, or when there is none', async () => {
    const { fixture, authenticator } = await open();
    assert.equal((await refusal(authenticator, bearer(`${operatorToken}x`))).code, 'unauthorized');
    const without = openAuthenticator({
      supergraph: await openSmallGraph(fixture),
      bus: fixture.bus,
      operatorToken: null,
      ...authenticatorParts,
    });
    assert.equal((await refusal(without, bearer(operatorToken))).code, 'unauthorized');
  });
});
