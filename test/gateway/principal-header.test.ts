import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { SignJWT, UnsecuredJWT } from 'jose';
import {
  principalReader,
  principalSigner,
  type PrincipalKeys,
  type Principal,
} from '../../subgraphs/platform/access/principal.ts';

const secret = randomBytes(32);
const serviceSecret = randomBytes(32);
const service = {
  own: async () => ({ id: 'one', key: serviceSecret }),
  find: async (id: string) => (id === 'one' ? serviceSecret : null),
};
/** Of a process that works on the record, and of one of the edge. */
const keys: PrincipalKeys = { shared: secret, service };
const edgeKeys: PrincipalKeys = { shared: secret, service: null };
const start_ms = Date.parse('2026-05-06T10:00:00Z');

const everyone: readonly Principal[] = [
  {
    kind: 'key',
    keyId: 'k',
    merchantId: 'm',
    shopId: 's',
    mode: 'live',
    scopes: ['api:payouts:sbp'],
  },
  {
    kind: 'key',
    keyId: 'k',
    merchantId: 'm',
    shopId: 's',
    mode: 'live',
    scopes: ['api:payouts:sbp'],
    receiptsRequired: true,
  },
  { kind: 'operator', subject: 'o', role: 'support', merchantId: null },
  { kind: 'operator', subject: 'o', role: 'viewer', merchantId: 'm' },
  { kind: 'buyer', merchantId: 'm', paymentId: 'p' },
  { kind: 'edge', name: 'gateway' },
  { kind: 'service', name: 'worker' },
];
const [someone] = everyone;
assert(someone);

describe('the principal header', () => {
  for (const principal of everyone) {
    test(`brings ${principal.kind} ${JSON.stringify(principal)} across`, async () => {
      const read = principalReader(keys);
      const header = await principalSigner(keys)(principal);
      assert.deepEqual([await read(header), await read(header)], [principal, principal]);
    });
  }

  test('is used again for half of its life, then made anew, and refused after its minute, cached or not', async () => {
    let now_ms = start_ms;
    const sign = principalSigner(keys, () => now_ms);
    const read = principalReader(keys, () => now_ms);
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
    assert.equal(await principalReader(keys, () => now_ms)(first), null);
    assert.deepEqual(await read(second), someone);
  });

  test('is made once for all who ask at one moment, and anew when it could not be made', async () => {
    const sign = principalSigner(keys);
    assert.equal(sign(someone), sign(someone), 'the same promise');
    let asked = 0;
    const own = async () => {
      asked += 1;
      if (asked === 1) throw new Error('the database is away');
      return service.own();
    };
    const worker: Principal = { kind: 'service', name: 'worker' };
    const signLater = principalSigner({ shared: secret, service: { ...service, own } });
    const [first, second] = await Promise.allSettled([signLater(worker), signLater(worker)]);
    assert.deepEqual([first.status, second.status, asked], ['rejected', 'rejected', 1]);
    assert.deepEqual(await principalReader(keys)(await signLater(worker)), worker);
  });

  test('of one principal is not that of another', async () => {
    const sign = principalSigner(keys);
    const headers = await Promise.all(everyone.map(sign));
    assert.equal(new Set(headers).size, everyone.length);
  });

  test('of a service cannot be made by a process of the edge, nor by anybody with its secret', async () => {
    const worker: Principal = { kind: 'service', name: 'worker' };
    await assert.rejects(principalSigner(edgeKeys)(worker), /does not speak as a service/);
    const read = principalReader(keys);
    assert.equal(await read(await sealed({ principal: worker })), null);
    for (const kid of ['service.one', 'service.two', 'service.']) {
      const forged = new SignJWT({ principal: worker })
        .setProtectedHeader({ alg: 'HS256', kid })
        .setAudience('payment-service/subgraph');
      assert.equal(
        await read(
          await forged.setIssuedAt().setExpirationTime('1 minute').sign(createSecretKey(secret)),
        ),
        null,
        kid,
      );
    }
    assert.equal(
      await principalReader(edgeKeys)(await principalSigner(keys)(worker)),
      null,
      'the edge reads no service',
    );
  });

  test("signed with the service's key speaks as a service alone", async () => {
    const forged = new SignJWT({ principal: someone })
      .setProtectedHeader({ alg: 'HS256', kid: 'service.one' })
      .setAudience('payment-service/subgraph');
    const header = await forged
      .setIssuedAt()
      .setExpirationTime('1 minute')
      .sign(createSecretKey(serviceSecret));
    assert.equal(await principalReader(keys)(header), null);
  });

  test('of the next and of the former secret is read beside the current one while the secret is changed', async () => {
    const [former, next] = [randomBytes(32), randomBytes(32)];
    const read = principalReader({ shared: [secret, former, next], service: null });
    for (const shared of [secret, former, next])
      assert.deepEqual(
        await read(await principalSigner({ shared, service: null })(someone)),
        someone,
      );
    assert.equal(
      await read(await principalSigner({ shared: randomBytes(32), service: null })(someone)),
      null,
    );
  });

  const sealed = (
    payload: Record<string, unknown>,
    audience = 'payment-service/subgraph',
    key = secret,
  ): Promise<string> =>
    new SignJWT(payload)
      .setProtectedHeader({ alg: 'HS256' })
      .setAudience(audience)
      .setIssuedAt()
      .setExpirationTime('1 minute')
      .sign(createSecretKey(key));

  const foreign: readonly (readonly [string, () => unknown])[] = [
    ['missing', () => undefined],
    [
      'sent twice',
      async () => [await sealed({ principal: someone }), await sealed({ principal: someone })],
    ],
    ['no token', () => 'service'],
    ['signed with another key', () => sealed({ principal: someone }, undefined, randomBytes(32))],
    ['made for something else', () => sealed({ principal: someone }, 'payment-service/page')],
    [
      'unsigned',
      () =>
        new UnsecuredJWT({ principal: someone })
          .setAudience('payment-service/subgraph')
          .setExpirationTime('1 minute')
          .encode(),
    ],
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
      () =>
        new SignJWT({ principal: someone })
          .setProtectedHeader({ alg: 'HS256' })
          .setAudience('payment-service/subgraph')
          .sign(createSecretKey(secret)),
    ],
    ['of no principal', () => sealed({ principal: { kind: 'root' } })],
    [
      'of a key with a scope that does not exist',
      () => sealed({ principal: { ...someone, scopes: ['everything'] } }),
    ],
    [
      'of an operator without a role',
      () => sealed({ principal: { kind: 'operator', subject: 'o', merchantId: null } }),
    ],
  ];
  for (const [what, header] of foreign) {
    test(`${what} is no header`, async () =>
      assert.equal(await principalReader(keys)(await header()), null));
  }
});
