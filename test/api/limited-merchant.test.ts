import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { failedAuthentication } from '../../gateway/callers/admit-caller.ts';
import { send, type Received } from '../support/cabinet.ts';
import { eventually } from '../support/eventually.ts';
import { askGraph, makeMerchant, setRate } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { operatorToken } from '../support/service.ts';

/** What an answer says of the limit. */
const rateOf = ({ headers }: { readonly headers: Headers }): readonly number[] =>
  ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'].map((name) => {
    const value = headers.get(name) ?? '';
    assert.match(value, /^\d+$/, name);
    return Number(value);
  });

const retryAfter_s = (headers: Headers): number => {
  const value = headers.get('retry-after') ?? '';
  assert.match(value, /^[1-9]\d*$/);
  return Number(value);
};

const graphAs = (
  service: ServiceInUse,
  bearer: string,
  query = '{ rates { method } }',
): Promise<Response> =>
  fetch(`${service.graph}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}` },
    body: JSON.stringify({ query }),
  });

const codeOf = async (response: Response): Promise<unknown> => {
  const { errors } = (await response.json()) as {
    errors?: readonly { extensions: { code: string } }[];
  };
  return errors?.[0]?.extensions.code;
};

describe('a merchant of one process', () => {
  let service: ServiceInUse;
  before(async () => void (service = await openPlainService()));
  after(() => service.stop());

  test('is answered 429 when its burst is used up, is told when to come back, and is answered then', async () => {
    const merchant = await makeMerchant(service, { perSecond: 1, burst: 4 });
    for (let left = 3; left >= 0; left -= 1) {
      const answer = await merchant.call('GET', '/balance');
      assert.equal(answer.status, 200);
      const [limit = 0, remaining = 0, reset_s = 0] = rateOf(answer);
      assert.equal(limit, 4);
      assert(remaining >= left && remaining <= 3, `${remaining} are left`);
      assert(reset_s >= 1 && reset_s <= 4, `full in ${reset_s} s`);
    }
    // All at once: a token comes each second.
    const answer = await eventually(async () => {
      const answers = Array.from({ length: 20 }, () => merchant.call('GET', '/balance'));
      return (await Promise.all(answers)).find(({ status }) => status !== 200);
    }, 'a refusal');
    assert.deepEqual([answer.status, answer.body.error.code], [429, 'rate_limited']);
    assert.deepEqual(rateOf(answer).slice(0, 2), [4, 0]);
    await sleep(retryAfter_s(answer.headers) * 1_000);
    assert.equal((await merchant.call('GET', '/balance')).status, 200);
  });

  test('is limited over all its keys, on the graph too, and no other merchant with it', async () => {
    const [merchant, other] = [
      await makeMerchant(service, { perSecond: 1, burst: 60 }),
      await makeMerchant(service),
    ];
    const variables = { m: merchant.id, s: merchant.shopId };
    const issue =
      'mutation ($m: ID!, $s: ID!) { apiKeyIssue(merchantId: $m, shopId: $s, mode: test) { ... on ApiKeyIssued { secret } } }';
    const second: string = (await askGraph(service, issue, variables)).apiKeyIssue.secret;
    const began_ms = performance.now();
    for (let called = 0; called < 30; called += 1)
      assert.equal((await merchant.call('GET', '/balance')).status, 200);
    const [, left = 0] = rateOf(await graphAs(service, second));
    const gained = Math.ceil((performance.now() - began_ms) / 1_000);
    assert(left <= 60 - 31 + gained, `${left} are left`);
    const refused = await eventually(async () => {
      const answers = Array.from({ length: 80 }, () => graphAs(service, second));
      return (await Promise.all(answers)).find(({ status }) => status !== 200);
    }, 'a refusal');
    assert.deepEqual([refused.status, await codeOf(refused)], [429, 'rate_limited']);
    assert(retryAfter_s(refused.headers) >= 1);
    assert.deepEqual(rateOf(refused).slice(0, 2), [60, 0]);
    assert.equal((await other.call('GET', '/balance')).status, 200);
  });

  test('has 100 at once and 50 a second unless an operator says otherwise, which holds from the next call on', async () => {
    const merchant = await makeMerchant(service, null);
    assert.equal(rateOf(await merchant.call('GET', '/balance'))[0], 100);
    await setRate(service, merchant.id, { perSecond: 7, burst: 9 });
    assert.equal(rateOf(await merchant.call('GET', '/balance'))[0], 9);
    const { merchant: received } = await askGraph(
      service,
      'query ($m: ID!) { merchant(id: $m) { rateLimit { perSecond burst } } }',
      { m: merchant.id },
    );
    assert.deepEqual(received.rateLimit, { perSecond: 7, burst: 9 });
    await setRate(service, merchant.id, null);
    assert.equal(rateOf(await merchant.call('GET', '/balance'))[0], 100);
  });

  test('cannot be given half a limit, none at all, or one without end', async () => {
    const merchant = await makeMerchant(service);
    for (const [perSecond, burst] of [
      [1, null],
      [null, 1],
      [0, 1],
      [1, 0],
      [10_001, 1],
      [1, 100_001],
    ] as const) {
      const set = `mutation ($m: ID!, $p: Int, $b: Int) { merchantRateLimitSet(merchantId: $m, perSecond: $p, burst: $b) { ... on Refused { code } } }`;
      const { merchantRateLimitSet: refused } = await askGraph(service, set, {
        m: merchant.id,
        p: perSecond,
        b: burst,
      });
      assert.equal(refused.code, 'bad_request', `${perSecond} ${burst}`);
    }
    assert.equal(
      await codeOf(
        await graphAs(
          service,
          merchant.key,
          `mutation { merchantRateLimitSet(merchantId: "${merchant.id}") { __typename } }`,
        ),
      ),
      'scope_required',
    );
  });

  test('is told of its limit in answers of every kind', async () => {
    const { call } = await makeMerchant(service);
    const answers = await Promise.all([
      call('GET', '/payments'),
      call('POST', '/payments', { amount: 1 }),
      call('POST', '/payments', { amount: 0 }),
      call('GET', '/payments/none'),
      call('GET', '/balance?x=1'),
      call('GET', '/ledger?format=csv'),
    ]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 201, 400, 404, 400, 200],
    );
    for (const answer of answers) assert.equal(rateOf(answer)[0], 100_000);
  });

  test('is answered what is left to its address where its own limit is not known yet', async () => {
    const { key } = await makeMerchant(service);
    const ask = (
      path: string,
      method = 'GET',
      headers: Record<string, string> = { authorization: `Bearer ${key}` },
      body?: string,
    ): Promise<Response> =>
      fetch(service.rest + path, { method, headers, ...(body === undefined ? {} : { body }) });
    const answers = [
      await ask('/v1/public/nothing'),
      await ask('/v1/public/payments/%zz'),
      await ask('/v1/public/payments', 'PUT'),
      await ask('/v1/public/balance', 'GET', {
        authorization: `Bearer ${key}`,
        'x-psp-signature': 'sha256=0',
      }),
      await ask(
        '/v1/public/payments',
        'POST',
        { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ' '.repeat(300_000),
      ),
    ];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [404, 404, 405, 400, 413],
    );
    for (const answer of answers) assert.equal(rateOf(answer)[0], failedAuthentication.burst);
    const [first, second] = [
      await ask('/v1/public/balance', 'GET', {}),
      await ask('/v1/public/balance', 'GET', {}),
    ];
    for (const { status } of [first, second]) assert.equal(status, 401);
    for (const answer of [first, second]) {
      const [limit = 0, remaining = limit, reset_s = 0] = rateOf(answer);
      assert(
        limit === failedAuthentication.burst && remaining < limit && reset_s >= 1,
        `${remaining} of ${limit} are left, all in ${reset_s} s`,
      );
    }
  });
});

describe('an address that fails to authenticate', () => {
  let service: ServiceInUse;
  before(async () => void (service = await openPlainService()));
  after(() => service.stop());
  // An address of its own, since others call from the usual one.
  const from = '127.0.0.77';
  const callAs = (key: string): Promise<Received> =>
    send({ url: `${service.rest}/v1/public/balance`, key, from });
  const graphFrom = (key: string, query: string): Promise<Received> =>
    send({
      url: `${service.graph}/graphql`,
      method: 'POST',
      key,
      from,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
  const guess = (index: number): string => `sk_test_guess0_${String(index).padStart(16, '0')}`;

  /**
   * Fails as often as it takes, whatever is forgiven meanwhile; gives the first 429 and how many
   * were answered 401.
   */
  const untilRefused = async (
    fail: (index: number) => Promise<Received>,
  ): Promise<{ refused: Received; before: number }> => {
    let before = 0;
    let guesses = 0;
    const refused = await eventually(async () => {
      const answers = await Promise.all(Array.from({ length: 50 }, () => fail(guesses++)));
      assert(answers.every(({ status }) => status === 401 || status === 429));
      before += answers.filter(({ status }) => status === 401).length;
      return answers.find(({ status }) => status === 429);
    }, 'a refusal');
    return { refused, before };
  };

  test('is answered 429 before its key is looked up, for as long as it continues; a key that is known there passes', async () => {
    const known = await makeMerchant(service);
    assert.equal((await callAs(known.key)).status, 200);
    const fresh = await makeMerchant(service);
    const { refused, before } = await untilRefused((index) => callAs(guess(index)));
    assert(before >= failedAuthentication.burst, `${before} were looked up`);
    assert.deepEqual([refused.code, retryAfter_s(refused.headers)], ['rate_limited', 1]);
    assert.deepEqual(rateOf(refused).slice(0, 2), [failedAuthentication.burst, 0]);
    const { refused: onGraph } = await untilRefused((index) =>
      graphFrom(guess(index), '{ rates { method } }'),
    );
    assert.equal(onGraph.code, 'rate_limited');

    assert.equal((await callAs(known.key)).status, 200);
    const { body } = await graphFrom(operatorToken, `{ merchant(id: "${known.id}") { id } }`);
    assert.equal(body.data.merchant.id, known.id);
    await sleep(retryAfter_s(refused.headers) * 1_000);
    assert.equal((await callAs(fresh.key)).status, 200);
  });
});
