import { describe, test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { SignJWT, UnsecuredJWT, type JWTPayload } from 'jose';
import { eventually } from '../support/eventually.ts';
import { callerName, openNamedQuota } from '../../gateway/callers/limits.ts';
import { personRateLimit } from '../../gateway/callers/admit-caller.ts';
import { readOidcToken } from '../../gateway/callers/oidc.ts';
import { ConfigError, type OidcConfig } from '../../subgraphs/platform/config/config.ts';
import { readConfig } from '../../subgraphs/read-config.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import { audience, now_s, startIssuer, viewer } from './issuer.ts';
import { post } from './ask-graph.ts';
import { bearer, closingOf, letIn } from './raw-socket.ts';
import { serveGraph, stoppedClock } from './serve-graph.ts';

const merchantId = '0b8e1c4e-52a5-4f6e-9d4a-9a7f5b6f4c10';

const open = async (t: TestContext, given: Partial<OidcConfig> = {}, cooldown_ms = 600_000) => {
  const issuer = await startIssuer(t);
  const config: OidcConfig = {
    issuer: issuer.issuer,
    audience,
    jwksUrl: null,
    rolesClaim: 'roles',
    merchantClaim: 'merchant_id',
    platformClaim: 'platform',
    ...given,
  };
  const read = readOidcToken(config, { cooldown_ms, deadline_ms: 60_000 });
  /**
   * What becomes of a token: the principal in words, the code of the refusal, or `not its form`.
   */
  const answered = async (token: string): Promise<string> => {
    const answer = await read(token);
    if (answer === null) return 'not its form';
    if (isRefusal(answer)) return answer.code;
    const { principal } = answer;
    assert(principal.kind === 'operator');
    return [
      principal.subject,
      principal.role,
      ...(principal.merchantId === null ? [] : [principal.merchantId]),
    ].join(' ');
  };
  return {
    issuer,
    config,
    read,
    answered,
    answerOf: async (claims: JWTPayload, alg?: string) => answered(await issuer.sign(claims, alg)),
  };
};

describe('a token of the issuer', () => {
  test('speaks for a person with the highest of its roles, signed by any algorithm of the list', async (t) => {
    const { issuer, answerOf } = await open(t);
    for (const alg of ['RS256', 'PS256', 'ES256', 'EdDSA'])
      assert.equal(await answerOf(viewer(), alg), 'person-1 viewer', alg);
    assert.equal(
      await answerOf({ ...viewer(), roles: ['offline_access', 'viewer', 'finance', 'support'] }),
      'person-1 finance',
    );
    assert.equal(await answerOf({ ...viewer(), roles: 'support admin' }), 'person-1 admin');
    assert.equal(await answerOf({ ...viewer(), aud: ['other', audience] }), 'person-1 viewer');
    assert.deepEqual(await issuer.count(), { discovery: 1, keys: 1, tokens: 0 });
  });

  test('is narrowed to the merchant that it names, and refused when that cannot be read', async (t) => {
    const { answerOf } = await open(t);
    assert.equal(
      await answerOf({ ...viewer(), merchant_id: merchantId }),
      `person-1 viewer ${merchantId}`,
    );
    for (const merchant_id of [null, '', 'all', [merchantId], { id: merchantId }, 0, false]) {
      assert.equal(
        await answerOf({ ...viewer(), merchant_id }),
        'unauthorized',
        JSON.stringify(merchant_id),
      );
    }
  });

  test('sees all merchants only when it says so, and nothing when it says neither that nor a merchant', async (t) => {
    const { issuer, read, answerOf } = await open(t);
    const { platform: _, ...claims } = viewer();
    assert.equal(await answerOf({ ...claims, platform: true }), 'person-1 viewer');
    assert.equal(await answerOf({ ...claims, platform: 'true' }), 'person-1 viewer');
    for (const platform of [
      undefined,
      null,
      false,
      'false',
      '',
      'yes',
      1,
      [true],
      { true: true },
    ]) {
      assert.equal(
        await answerOf({ ...claims, roles: ['admin'], platform }),
        'scope_required',
        JSON.stringify(platform),
      );
    }
    assert.equal(
      await answerOf({ ...claims, merchant_id: merchantId }),
      `person-1 viewer ${merchantId}`,
    );
    assert.equal(
      await answerOf({ ...claims, merchant_id: merchantId, platform: true }),
      `person-1 viewer ${merchantId}`,
      'the narrower counts',
    );
    const { url } = await serveGraph(t, { otherReaders: [read] });
    const authorization = `Bearer ${await issuer.sign(claims)}`;
    const headers = { 'content-type': 'application/json', authorization };
    const answer = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers,
      body: '{"query":"{ __typename }"}',
    });
    assert.equal(answer.status, 403);
    assert.match(await answer.text(), /The token names neither a merchant nor the platform\./);
  });

  test('names its roles and merchant by the configured claims, by path or by a name with dots', async (t) => {
    const claimNames = {
      rolesClaim: 'realm_access.roles',
      merchantClaim: 'https://pay.example/merchant',
      platformClaim: 'staff.everywhere',
    };
    const { answerOf } = await open(t, claimNames);
    const { roles: _, platform: __, ...claims } = viewer();
    const named = {
      ...claims,
      realm_access: { roles: ['support'] },
      'https://pay.example/merchant': merchantId,
    };
    assert.equal(await answerOf(named), `person-1 support ${merchantId}`);
    assert.equal(
      await answerOf({
        ...claims,
        realm_access: { roles: ['support'] },
        staff: { everywhere: true },
      }),
      'person-1 support',
    );
  });

  test('without a role is good for nothing, and is told so', async (t) => {
    const { answerOf } = await open(t);
    for (const roles of [
      undefined,
      null,
      [],
      ['Admin'],
      'administrator',
      { admin: true },
      [['admin']],
    ]) {
      assert.equal(await answerOf({ ...viewer(), roles }), 'scope_required', JSON.stringify(roles));
    }
  });

  test('is refused when it is out of time, for others, of others, or incomplete; a minute of another clock is forgiven', async (t) => {
    const { answerOf } = await open(t);
    const now = now_s();
    const wrong: readonly JWTPayload[] = [
      { exp: now - 90 },
      { nbf: now + 3_600 },
      { aud: 'another-service' },
      { aud: undefined as never },
      { iss: 'https://issuer.example' },
      { iss: null as never },
      { exp: undefined as never },
      { sub: undefined as never },
      { sub: '' },
    ];
    for (const claims of wrong)
      assert.equal(
        await answerOf({ ...viewer(), ...claims }),
        'unauthorized',
        JSON.stringify(claims),
      );
    const justOver = () => answerOf({ ...viewer(), exp: now_s() - 50, nbf: now_s() + 50 });
    await eventually(async () => (await justOver()) === 'person-1 viewer', 'it is forgiven');
  });

  test('is refused when it is unsigned, signed by a shared secret, by an algorithm that is not of the list, or by a stranger', async (t) => {
    const { issuer, config, answered, answerOf } = await open(t);
    const stranger = await startIssuer(t);
    const claims = { ...viewer(), iss: config.issuer };
    assert.equal(await answered(new UnsecuredJWT(claims).encode()), 'not its form');
    const secret = createHash('sha256').update('known').digest();
    assert.equal(
      await answered(
        await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'RS256-1' }).sign(secret),
      ),
      'unauthorized',
    );
    assert.equal(await answerOf(viewer(), 'RS512'), 'unauthorized');
    assert.deepEqual(await issuer.count(), { discovery: 0, keys: 0, tokens: 0 });
    assert.equal(await answered(await stranger.sign(claims)), 'unauthorized');
    const [header, body, signature] = (await issuer.sign(viewer())).split('.');
    const admin = Buffer.from(JSON.stringify({ ...claims, roles: ['admin'] })).toString(
      'base64url',
    );
    assert.equal(await answered([header, admin, signature].join('.')), 'unauthorized');
    assert.equal(await answered([header, body, signature].join('.')), 'person-1 viewer');
  });
});

describe('the issuer', () => {
  test('may change its keys: the new ones are read when a token names one, the old ones are good no more', async (t) => {
    const { issuer, answered } = await open(t, {}, 0);
    const old = await issuer.sign(viewer());
    assert.equal(await answered(old), 'person-1 viewer');
    await issuer.rotate();
    assert.equal(await answered(await issuer.sign(viewer())), 'person-1 viewer');
    assert.equal(await answered(old), 'unauthorized');
  });

  test('is asked for its keys once, whatever unknown keys tokens name, until the cool-down is over', async (t) => {
    const { issuer, answered } = await open(t);
    const stranger = await startIssuer(t);
    assert.equal(await answered(await issuer.sign(viewer())), 'person-1 viewer');
    await stranger.rotate();
    const forged = await stranger.sign({ ...viewer(), iss: issuer.issuer });
    assert.deepEqual(
      new Set(await Promise.all(Array.from({ length: 20 }, () => answered(forged)))),
      new Set(['unauthorized']),
    );
    assert.deepEqual(await issuer.count(), { discovery: 1, keys: 1, tokens: 0 });
  });

  test('that does not answer makes no caller unauthorized: 503, and good again when it is back', async (t) => {
    const { issuer, read } = await open(t);
    const { url } = await serveGraph(t, { otherReaders: [read] });
    const authorization = `Bearer ${await issuer.sign(viewer())}`;
    const ask = () =>
      fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization },
        body: '{"query":"{ __typename }"}',
      });
    await issuer.break(true);
    const unchecked = await ask();
    assert.equal(unchecked.status, 503);
    assert.equal(unchecked.headers.get('retry-after'), '1');
    await issuer.break(false);
    assert.equal((await ask()).status, 200);
    await issuer.stop();
    assert.equal((await ask()).status, 200, 'the keys are remembered');
  });

  test('that cannot be reached at all makes no caller unauthorized', async (t) => {
    const { issuer, read } = await open(t);
    const token = await issuer.sign(viewer());
    await issuer.stop();
    await assert.rejects(read(token) ?? Promise.resolve());
  });

  test('must name itself in its discovery document; an address of keys that is configured needs none', async (t) => {
    const { issuer, read, config } = await open(t);
    await issuer.name('https://issuer.example');
    const token = await issuer.sign(viewer());
    await assert.rejects(read(token) ?? Promise.resolve(), /belongs to another issuer/);
    const direct = await readOidcToken({ ...config, jwksUrl: `${issuer.issuer}/keys` })(token);
    assert(direct && !isRefusal(direct));
  });
});

test('people of one name at different merchants are not one another', async (t) => {
  const { issuer, read } = await open(t);
  const { url } = await serveGraph(t, { otherReaders: [read], ...stoppedClock });
  const ofOne = await issuer.sign({ ...viewer(), merchant_id: merchantId });
  const ofOther = await issuer.sign({ ...viewer(), merchant_id: merchantId.replace(/^0/, '1') });
  const statusOf = async (token: string): Promise<number> =>
    (await post(url, { query: '{ __typename }' }, bearer(token))).status;
  for (let call = 0; call < personRateLimit.burst; call += 1)
    assert.equal(await statusOf(ofOne), 200);
  assert.equal(await statusOf(ofOne), 429);
  assert.equal(await statusOf(ofOther), 200);
  const quota = openNamedQuota(1);
  const take = (principal: Parameters<typeof callerName>[0]) => quota.take(callerName(principal));
  const [one, other] = [merchantId, null].map(
    (id) => ({ kind: 'operator', subject: 'anna', role: 'viewer', merchantId: id }) as const,
  );
  assert.ok(one && other && take(one) && take(other));
  assert.equal(take(one), null);
});

test('a token that was verified is good at an address that fails too often, one that never came is not', async (t) => {
  const { issuer, read } = await open(t);
  const { url, limiter } = await serveGraph(t, { otherReaders: [read] });
  const [used, fresh] = [await issuer.sign(viewer()), await issuer.sign(viewer())];
  const statusOf = async (token: string): Promise<number> =>
    (await post(url, { query: '{ __typename }' }, bearer(token))).status;
  assert.equal(await statusOf(used), 200);
  const failing = { headers: {}, rawHeaders: [], socket: { remoteAddress: '127.0.0.1' } };
  const fail = (): void => {
    for (let nth = 0; nth < 130; nth += 1) Reflect.apply(limiter.countFailure, limiter, [failing]);
  };
  // It is closed for a second: a busy machine may take longer to ask.
  await eventually(async () => {
    fail();
    return (await statusOf(`${fresh}x`)) === 429;
  }, 'the address is closed to one that never came');
  fail();
  assert.equal(await statusOf(used), 200);
});

describe('a socket of a token', () => {
  test('is closed when the token expires, and not before', async (t) => {
    const { issuer, read } = await open(t);
    const { socketUrl } = await serveGraph(t, { otherReaders: [read] });
    const lasting = await letIn(t, socketUrl, await issuer.sign(viewer()));
    // Five of the forgiven seconds are left: a busy machine may take longer to let it in.
    const { expiring, exp, closing } = await eventually(async () => {
      const exp = now_s() - 55;
      const expiring = await issuer.sign({ ...viewer(), exp });
      const letting = letIn(t, socketUrl, expiring).then((socket) => closingOf(socket));
      return letting.then(
        (closing) => ({ expiring, exp, closing }),
        () => null,
      );
    }, 'it is let in');
    assert.ok(Date.now() >= (exp + 60) * 1_000, 'it was closed before it expired');
    assert.deepEqual(closing, { code: 4403, reason: 'The token has expired.' });
    assert.equal(lasting.readyState, lasting.OPEN);
    const late = await fetch(socketUrl.replace('ws', 'http'), {
      headers: { authorization: bearer(expiring).authorization },
    });
    assert.equal(late.status, 401);
  });
});

describe('the configuration', () => {
  test('names issuer and audience together, and keeps the slash at the end of the issuer', () => {
    const { oidc } = readConfig({
      OIDC_ISSUER: 'https://issuer.example/',
      OIDC_AUDIENCE: audience,
    });
    const expected = {
      issuer: 'https://issuer.example/',
      audience,
      jwksUrl: null,
      rolesClaim: 'roles',
      merchantClaim: 'merchant_id',
      platformClaim: 'platform',
    };
    assert.deepEqual(oidc, expected);
    assert.equal(readConfig({}).oidc, null);
    for (const half of [
      { OIDC_ISSUER: 'https://issuer.example' },
      { OIDC_AUDIENCE: audience },
      { OIDC_ISSUER: 'issuer', OIDC_AUDIENCE: audience },
    ]) {
      assert.throws(() => readConfig(half), ConfigError);
    }
  });
});
