import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { seal, unseal } from '../../subgraphs/platform/access/keys.ts';
import {
  afterAttempt,
  shownSecret,
  sign,
  signStandard,
  webhookRetryDelays_ms,
} from '../../subgraphs/merchants/webhooks/rules.ts';

const secret = 'whs_7d0a';
const body = '{"id":"evt_1","data":{"description":"Оплата 100 ₽"}}';
const at = Temporal.Instant.from('2026-05-06T10:00:00.900Z');
const hmac = (text: string): string => createHmac('sha256', secret).update(text).digest('hex');

describe('signatures', () => {
  test('v2 has the body under v1 and the timestamp with the body under v2', () => {
    const t = 1_778_061_600;
    assert.deepEqual(sign({ current: secret, previous: null }, body, at, 'v2'), {
      'X-PSP-Signature': `t=${t},v1=${hmac(body)},v2=${hmac(`${t}.${body}`)}`,
      'X-PSP-Timestamp': String(t),
    });
  });

  test('v2 is what anybody computes with openssl', () => {
    // printf '%s' '1778061600.{}' | openssl dgst -sha256 -hmac whs_7d0a, and the same for '{}'
    const signature = sign({ current: secret, previous: null }, '{}', at, 'v2')['X-PSP-Signature'];
    assert.equal(
      signature,
      `t=1778061600,v1=6dda846503ae2da8a8aa13f7b0a9c65f187fdc4eb5dcbe817ba093c766a63047,v2=b24406b3b65a8067cdb0ab42f2982445af149102084ad3aa17acf4c6be8b9930`,
    );
  });

  test('legacy is the body alone, without a timestamp', () => {
    assert.deepEqual(sign({ current: secret, previous: null }, body, at, 'legacy'), {
      'X-PSP-Signature': `sha256=${hmac(body)}`,
    });
  });

  test("stripe has the timestamp with the body under v1, as Stripe's verifier wants it", () => {
    const { 'X-PSP-Signature': signature } = sign(
      { current: secret, previous: null },
      body,
      at,
      'stripe',
    );
    const [t, v1, v2] = signature.split(',').map((part) => part.split('=')[1]);
    assert.equal(v1, hmac(`${t}.${body}`));
    assert.equal(v2, v1);
  });

  test('while a rotation overlaps, the old secret signs behind the new one; the legacy header has room for the new one alone', () => {
    const secrets = { current: 'whs_new', previous: secret };
    const [alone, old] = [
      sign({ current: 'whs_new', previous: null }, body, at, 'v2'),
      sign({ current: secret, previous: null }, body, at, 'v2'),
    ];
    const signatures = old['X-PSP-Signature'].slice(old['X-PSP-Signature'].indexOf(','));
    assert.equal(
      sign(secrets, body, at, 'v2')['X-PSP-Signature'],
      `${alone['X-PSP-Signature']}${signatures}`,
    );
    assert.deepEqual(
      sign(secrets, body, at, 'legacy'),
      sign({ current: 'whs_new', previous: null }, body, at, 'legacy'),
    );
  });
});

describe('the signature of Standard Webhooks', () => {
  test('is what openssl computes with the whole whs_ text, which whsec_ has in base64', () => {
    // printf '%s' 'evt_1.1778061600.{}' | openssl dgst -sha256 -hmac whs_7d0a -binary | base64
    assert.deepEqual(signStandard({ current: secret, previous: null }, 'evt_1', '{}', at), {
      'webhook-id': 'evt_1',
      'webhook-timestamp': '1778061600',
      'webhook-signature': 'v1,523mAw38K/5nHixi/xxJj9Y/1j8It+emmj5zh871TOM=',
    });
    assert.deepEqual(shownSecret(secret), { secret, standardSecret: 'whsec_d2hzXzdkMGE=' });
  });

  test('has the old secret behind the new one while a rotation overlaps', () => {
    const by = (current: string) =>
      signStandard({ current, previous: null }, 'evt_1', body, at)['webhook-signature'];
    assert.equal(
      signStandard({ current: 'whs_new', previous: secret }, 'evt_1', body, at)[
        'webhook-signature'
      ],
      `${by('whs_new')} ${by(secret)}`,
    );
  });
});

describe('after an attempt', () => {
  test('any 2xx is a delivery, and nothing else is', () => {
    for (const status of [200, 201, 204, 299])
      assert.equal(afterAttempt(status, 1, at, 0).status, 'delivered');
    for (const status of [199, 300, 302, 304, 400, 404, 410, 429, 500, 503])
      assert.equal(afterAttempt(status, 1, at, 0).status, 'pending');
    assert.equal(afterAttempt(null, 1, at, 0).status, 'pending');
  });

  test('the eight retries wait as documented, and then it stops', () => {
    const waits = Array.from({ length: 9 }, (_, index) => {
      const next = afterAttempt(500, index + 1, at, 0);
      return next.status === 'pending'
        ? at.until(next.nextAttemptAt).total('seconds')
        : next.status;
    });
    assert.deepEqual(waits, [10, 60, 300, 1_800, 7_200, 21_600, 86_400, 172_800, 'failed']);
  });

  test('the ninth attempt may still succeed', () => {
    assert.equal(afterAttempt(200, 9, at, 0).status, 'delivered');
  });

  test('jitter only ever adds, and a little', () => {
    for (const [index, delay_ms] of webhookRetryDelays_ms.entries()) {
      const next = afterAttempt(500, index + 1, at, 1);
      assert.ok(next.status === 'pending');
      assert.equal(at.until(next.nextAttemptAt).total('milliseconds'), delay_ms + delay_ms / 10);
    }
  });

  test('what can never be sent is not tried again', () => {
    assert.equal(afterAttempt('pointless', 1, at, 0).status, 'failed');
  });
});

describe('sealed secrets', () => {
  const key = randomBytes(32);

  test('are read back, and look different each time', () => {
    const sealed = seal(key, secret);
    assert.equal(unseal(key, sealed), secret);
    assert.notEqual(seal(key, secret), sealed);
    assert.ok(!sealed.includes(secret));
  });

  test('are refused when they were changed or the key is another', () => {
    const sealed = seal(key, secret);
    const last = sealed.at(-2) === 'A' ? 'B' : 'A';
    assert.throws(() => unseal(key, `${sealed.slice(0, -2)}${last}${sealed.slice(-1)}`));
    assert.throws(() => unseal(randomBytes(32), sealed), /sealed with the key/);
    assert.throws(() => unseal(key, 'whs_7d0a'), /not a sealed text/);
  });
});
