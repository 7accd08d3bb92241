import { after, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { GraphQLError } from 'graphql';
import { refusalCodes, refuse, type RefusalCode } from '../../subgraphs/rules/refusal.ts';
import { payoutScopes } from '../../subgraphs/platform/access/access.ts';
import { openSmallEdge, payment } from './small-edge.ts';

/** The table of docs/contract.md#errors, by hand. */
const statuses: Record<RefusalCode, number> = {
  bad_request: 400,
  signature_required: 400,
  invalid_signature: 400,
  unauthorized: 401,
  live_not_enabled: 403,
  ip_not_allowed: 403,
  scope_required: 403,
  aml_blocked: 403,
  forbidden_purpose: 403,
  not_found: 404,
  not_pending: 409,
  idempotent_conflict: 409,
  idempotent_in_progress: 409,
  payment_not_authorized: 409,
  payment_not_succeeded: 409,
  already_refunded: 409,
  token_not_active: 409,
  receipt_not_expected: 409,
  amount_exceeds_remainder: 422,
  capture_declined: 422,
  insufficient_balance: 422,
  route_not_configured: 422,
  method_unsupported: 422,
  router_error: 502,
};

/** What the graph answers next. */
let next: () => unknown = () => null;
/** What the operation was last asked with. */
let asked: Asked = {};
interface Asked {
  readonly input?: Readonly<Record<string, unknown>>;
  readonly idempotency?: { readonly key: string; readonly fingerprint: string } | null;
}
const answer = (args: object): unknown => {
  asked = args;
  return next();
};

const edge = await openSmallEdge({
  'Query.payment': answer,
  'Query.payments': answer,
  'Mutation.paymentCreate': answer,
  'Mutation.paymentCancel': answer,
  'Mutation.payoutCreate': answer,
  'Mutation.payoutBatchCreate': answer,
});
after(() => edge.close());

const call = async (
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
) => {
  const response = await fetch(`${edge.url}/v1/public${path}`, {
    method,
    headers: {
      authorization: 'Bearer test',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text.startsWith('{') ? JSON.parse(text) : null,
  };
};

const created = (idempotent: boolean) => ({
  __typename: 'PaymentCreated',
  payment,
  paymentUrl: payment.paymentUrl,
  mode: 'test',
  idempotent,
  simulator: 'succeeded',
});

describe('a refusal becomes its status and the documented envelope', () => {
  for (const code of refusalCodes) {
    test(`${code} is ${statuses[code]}, from a mutation’s union and from a query’s error alike`, async () => {
      next = () => refuse(code, 'because of the test');
      const fromMutation = await call('POST', '/payments', { amount: 1 });
      next = () => {
        throw new GraphQLError('because of the test', { extensions: { code } });
      };
      const fromQuery = await call('GET', '/payments');
      for (const { status, body } of [fromMutation, fromQuery]) {
        assert.equal(status, statuses[code]);
        assert.deepEqual(body, { error: { code, message: 'because of the test' } });
      }
    });
  }

  test('a call that should be repeated says when', async () => {
    next = () => refuse('idempotent_in_progress', 'still running');
    assert.match(
      (await call('POST', '/payments', { amount: 1 })).headers.get('retry-after') ?? '',
      /^[1-9]\d*$/,
    );
  });

  test('a part of the service that does not answer is 503 unavailable with Retry-After', async () => {
    next = () => {
      throw new GraphQLError('a part of the service did not answer', {
        extensions: { code: 'unavailable' },
      });
    };
    const { status, headers, body } = await call('GET', '/payments');
    assert.deepEqual(
      [status, body.error.code, headers.has('retry-after')],
      [503, 'unavailable', true],
    );
  });

  test('an unexpected error is 500 internal_error and says nothing of itself', async () => {
    next = () => {
      throw new Error('connection to 10.1.2.3 with password hunter2 failed');
    };
    for (const answered of [
      await call('GET', '/payments'),
      await call('POST', '/payments', { amount: 1 }),
    ]) {
      assert.equal(answered.status, 500);
      assert.equal(answered.body.error.code, 'internal_error');
      assert.doesNotMatch(answered.text, /hunter2|10\.1\.2\.3|at /);
    }
  });

  test('nothing at an id is 404 not_found', async () => {
    next = () => null;
    const { status, body } = await call('GET', `/payments/${payment.id}`);
    assert.deepEqual([status, body.error.code], [404, 'not_found']);
  });
});

describe('a creation', () => {
  test('is 201, and 200 with idempotent and Idempotent-Replayed when it is replayed', async () => {
    next = () => created(false);
    const first = await call('POST', '/payments', { amount: 1 }, { 'idempotency-key': 'k' });
    assert.deepEqual(
      [first.status, first.body.idempotent, first.headers.get('idempotent-replayed')],
      [201, false, null],
    );
    next = () => created(true);
    const again = await call('POST', '/payments', { amount: 1 }, { 'idempotency-key': 'k' });
    assert.deepEqual(
      [again.status, again.body.idempotent, again.headers.get('idempotent-replayed')],
      [200, true, 'true'],
    );
  });

  test('reaches the graph with the contract’s defaults and camelCase names', async () => {
    next = () => created(false);
    await call('POST', '/payments', {
      amount: 9_007_199_254_740_991,
      order_id: 'A',
      metadata: { a_b: 'c' },
    });
    const { input, idempotency } = asked;
    assert.equal(input?.['amount'], 9_007_199_254_740_991n);
    assert.deepEqual(
      { ...input, amount: 0 },
      {
        amount: 0,
        currency: 'RUB',
        method: 'any',
        onDecline: 'return',
        capture: 'automatic',
        orderId: 'A',
        ttlMinutes: 60,
        metadata: { a_b: 'c' },
      },
    );
    assert.equal(idempotency ?? null, null);
  });

  const fingerprintOf = async (text: string, path = '/payments'): Promise<string> => {
    next = () => (path === '/payments' ? created(false) : refuse('not_found', ''));
    const headers = {
      authorization: 'Bearer test',
      'content-type': 'application/json',
      'idempotency-key': 'k',
    };
    await (
      await fetch(`${edge.url}/v1/public${path}`, { method: 'POST', headers, body: text })
    ).text();
    const print = asked.idempotency?.fingerprint ?? '';
    assert.match(print, /^[0-9a-f]{64}$/);
    return print;
  };

  test('has a fingerprint of what the body means, not of how it is laid out', async () => {
    const one = await fingerprintOf('{"amount":1,"metadata":{"a":"1","b":"2"}}');
    assert.equal(
      await fingerprintOf(' { "metadata": {"b":"\\u0032", "a":"1"},\n "amount": 1 }'),
      one,
    );
    assert.notEqual(await fingerprintOf('{"amount":1,"metadata":{"a":"1","b":"3"}}'), one);
  });

  test('has another fingerprint on another route', async () => {
    const sbp = '{"amount":1,"phone":"+79161234567","bank_id":"100000000111"}';
    assert.notEqual(await fingerprintOf(sbp, '/payouts'), await fingerprintOf('{"amount":1}'));
  });

  for (const key of ['', 'x'.repeat(65), 'é', 'tab\there']) {
    test(`refuses the idempotency key ${JSON.stringify(key)}`, async () => {
      const { status, body } = await call(
        'POST',
        '/payments',
        { amount: 1 },
        { 'idempotency-key': key },
      );
      assert.deepEqual([status, body.error.code], [400, 'bad_request']);
      assert.match(
        body.error.message,
        /^Idempotency-Key: expected 1 to 64 printable ASCII characters/,
      );
    });
  }

  test('takes the longest key that is allowed', async () => {
    next = () => created(false);
    assert.equal(
      (await call('POST', '/payments', { amount: 1 }, { 'idempotency-key': 'x'.repeat(64) }))
        .status,
      201,
    );
    assert.equal(asked.idempotency?.key.length, 64);
  });
});

describe('checks come in the order of the contract', () => {
  const bearer = (name: string) => ({ authorization: `Bearer ${name}` });
  test('the key before the body', async () =>
    assert.equal((await call('POST', '/payments', { amount: 'x' }, bearer('nobody'))).status, 401));

  test('live mode before the scope and the body', async () => {
    const { status, body } = await call('POST', '/payouts', { amount: 'x' }, bearer('live'));
    assert.deepEqual([status, body.error.code], [403, 'live_not_enabled']);
  });

  test('the scope before the body and the query', async () => {
    for (const answered of [
      await call('POST', '/payouts', { amount: 'x' }, bearer('bare')),
      await call('GET', '/payments?limit=x', undefined, bearer('bare')),
    ]) {
      assert.deepEqual([answered.status, answered.body.error.code], [403, 'scope_required']);
    }
  });

  test('the scope of a payout’s method before the rest of its body', async () => {
    const refusedCard = await call(
      'POST',
      '/payouts',
      { amount: 'x', method: 'payouts_card' },
      bearer('sbp'),
    );
    assert.deepEqual(
      [refusedCard.status, refusedCard.body.error.message],
      [403, 'the key lacks the scope api:payouts:card'],
    );
    // Of a key that has none of these scopes, too.
    for (const [body, lack] of [
      [{ amount: 'x' }, 'lacks the scope api:payouts:sbp'],
      [{ method: 'payouts_card' }, 'lacks the scope api:payouts:card'],
      [{ method: 'x' }, `needs one of the scopes ${Object.values(payoutScopes).join(', ')}`],
    ] as const)
      assert.equal(
        (await call('POST', '/payouts', body, bearer('bare'))).body.error.message,
        `the key ${lack}`,
      );
    const batch = await call(
      'POST',
      '/payouts/batch',
      { method: 'payouts_account', items: [] },
      bearer('sbp'),
    );
    assert.deepEqual([batch.status, batch.body.error.code], [403, 'scope_required']);
    assert.equal((await call('POST', '/payouts', { amount: 'x' }, bearer('sbp'))).status, 400);
  });

  test('the body before the operation', async () => {
    next = () => assert.fail('the operation ran');
    assert.equal((await call('POST', '/payments', { amount: 'x' })).status, 400);
  });
});
