import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { SignJWT, UnsecuredJWT } from 'jose';
import { principalReader, principalSigner } from '../../subgraphs/kernel/service/principal-header.ts';
import type { Principal } from '../../subgraphs/kernel/service/principal.ts';

const secret = randomBytes(32);
const start_ms = Date.parse('2026-05-06T10:00:00Z');

const everyone: readonly Principal[] = [
  { kind: 'key', keyId: 'k', merchantId: 'm', shopId: 's', mode: 'live', scopes: ['api:payouts:sbp'] },
  { kind: 'operator', subject: 'o', role: 'support', merchantId: null },
  { kind: 'operator', subject: 'o', role: 'viewer', merchantId: 'm' },
  { kind: 'buyer', merchantId: 'm', paymentId: 'p' },
  { kind: 'service', name: 'worker' },
];
const [someone] = everyone;
assert(someone);

describe('the principal header', () => {
  for (const principal of everyone) {
    test(`brings ${principal.kind} ${JSON.stringify(principal)} across`, async () => {
      const read = principalReader(secret);
      const header = await principalSigner(secret)(principal);
      assert.deepEqual([await read(header), await read(header)], [principal, principal]);
    });
  }

  test('is used again for half of its life, then made anew, and refused after its minute, cached or not', async () => {
    let now_ms = start_ms;
    const sign = principalSigner(secret, () => now_ms);
    const read = principalReader(secret, () => now_ms);
    const first = await sign(someone);
    assert.deepEqual(await read(first), someone);
    now_ms = start_ms + 29_000;
    assert.equal(await sign(someone), first);
    now_ms = start_ms + 31_000;
    const second = await sign(someone);
    assert.notEqual(second, first);
    now_ms = start_ms + 59_000;
    assert.deepEqual(await read(first), someone);
    now_ms = start_ms + 61_000;
    assert.equal(await read(first), null);
    assert.equal(await principalReader(secret, () => now_ms)(first), null);
    assert.deepEqual(await read(second), someone);
  });

  test('of one principal is not that of another', async () => {
    const sign = principalSigner(secret);
    const headers = await Promise.all(everyone.map(sign));
    assert.equal(new Set(headers).size, everyone.length);
  });

  const sealed = (payload: Record<string, unknown>, audience = 'payment-service/subgraph', key = secret): Promise<string> =>
    new SignJWT(payload).setProtectedHeader({ alg: 'HS256' }).setAudience(audience).setIssuedAt().setExpirationTime('1 minute').sign(createSecretKey(key));

  const foreign: readonly (readonly [string, () => unknown])[] = [
    ['missing', () => undefined],
    ['sent twice', async () => [await sealed({ principal: someone }), await sealed({ principal: someone })]],
    ['no token', () => 'service'],
    ['signed with another key', () => sealed({ principal: someone }, undefined, randomBytes(32))],
    ['made for something else', () => sealed({ principal: someone }, 'payment-service/page')],
    ['unsigned', () => new UnsecuredJWT({ principal: someone }).setAudience('payment-service/subgraph').setExpirationTime('1 minute').encode()],
    [
      'changed on the way',
      async () =>
        (await sealed({ principal: someone })).replace(
          /\.[^.]+\./,
          `.${Buffer.from('{"principal":{"kind":"service","name":"x"},"exp":99999999999}').toString('base64url')}.`,
        ),
    ],
    [
      'without an end',
      () => new SignJWT({ principal: someone }).setProtectedHeader({ alg: 'HS256' }).setAudience('payment-service/subgraph').sign(createSecretKey(secret)),
    ],
    ['of no principal', () => sealed({ principal: { kind: 'root' } })],
    ['of a key with a scope that does not exist', () => sealed({ principal: { ...someone, scopes: ['everything'] } })],
    ['of an operator without a role', () => sealed({ principal: { kind: 'operator', subject: 'o', merchantId: null } })],
  ];
  for (const [what, header] of foreign) {
    test(`${what} is no header`, async () => assert.equal(await principalReader(secret)(await header()), null));
  }
});
