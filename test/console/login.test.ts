/** Logging in at an issuer, over two processes of the service on one database. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { operatorToken, startService, type Service } from '../support/service.ts';
import { startOwn, type ServiceInUse } from '../support/plain-service.ts';
import { askGraph } from '../support/merchant.ts';
import { audience, startIssuer, viewer as aViewer } from '../gateway/issuer.ts';
import { closeCode, openVisitor, watchLive, type Visitor } from './visitor.ts';
import { comesTo } from '../support/eventually.ts';

const secret = 'secret-of-the-console';
const frontend = 'https://front.example';
let issuer: Awaited<ReturnType<typeof startIssuer>>;
let one: ServiceInUse;
let two: Service;
before(async () => {
  issuer = await startIssuer({ after: () => {} });
  const settings = {
    SECRET_KEY: randomBytes(32).toString('base64'),
    OIDC_ISSUER: issuer.issuer,
    OIDC_AUDIENCE: audience,
    OIDC_CLIENT_ID: 'console',
    OIDC_CLIENT_SECRET: secret,
    GRAPHQL_ORIGINS: `${frontend}, https://other.example`,
  };
  one = await startOwn(settings);
  two = await startService('one', { ...settings, DATABASE_URL: one.databaseUrl });
});
after(async () => {
  await two?.stop();
  await one?.stop();
  await issuer.stop();
});

const claims = (more: object) => ({ sub: 'person-1', aud: audience, ...more });
const admin = claims({ roles: ['admin'], platform: true });

/** Goes to the issuer and comes back; gives the last answer, and the address that it is from. */
const logIn = async (visitor: Visitor): Promise<{ answer: Response; url: string }> => {
  const begun = await visitor.call('GET', '/console/login', undefined, { origin: '' });
  assert.equal(begun.status, 303);
  const there = await fetch(begun.headers.get('location') ?? '', { redirect: 'manual' });
  const { pathname, search } = new URL(there.headers.get('location') ?? '');
  const url = `${pathname}${search}`;
  return { url, answer: await visitor.call('GET', url, undefined, { origin: '' }) };
};

const personOf = async (visitor: Visitor): Promise<unknown> => {
  const { subject, role, merchant_id }: any = await (
    await visitor.call('GET', '/console/session')
  ).json();
  return [subject, role, merchant_id];
};

describe('a login at the issuer', () => {
  test('makes a session with the role and the reach of the access token, else of the ID token', async () => {
    const { merchantCreate } = await askGraph(
      { graph: one.graph },
      'mutation { merchantCreate(name: "Of the login") { id } }',
      {},
      operatorToken,
    );
    for (const rolesIn of ['access', 'id'] as const) {
      for (const [given, expected] of [
        [admin, ['person-1', 'admin', null]],
        [
          claims({ roles: ['viewer'], merchant_id: merchantCreate.id }),
          ['person-1', 'viewer', merchantCreate.id],
        ],
      ] as const) {
        await issuer.login(given, rolesIn, secret);
        const visitor = openVisitor(one.rest);
        const { answer } = await logIn(visitor);
        assert.deepEqual([answer.status, answer.headers.get('location')], [303, '/console/']);
        assert.deepEqual(await personOf(visitor), expected);
        assert.match(
          visitor.cookies(),
          /^console=[\w-]{43}$/,
          'what the login waited with is gone',
        );
      }
    }
  });

  test('counts in the browser that began it, and there once', async () => {
    await issuer.login(admin, 'access', secret);
    const visitor = openVisitor(one.rest);
    const { url } = await logIn(visitor);
    // Going back leads to the console, where a stranger is told to begin a login.
    const back = await visitor.call('GET', url, undefined, { origin: '' });
    assert.deepEqual([back.status, back.headers.get('location')], [303, '/console/']);
    const stranger = openVisitor(one.rest);
    assert.equal((await stranger.call('GET', url, undefined, { origin: '' })).status, 400);
    await visitor.call('DELETE', '/console/session');
    assert.equal((await visitor.call('GET', url, undefined, { origin: '' })).status, 400);
    // Another login's answer in the browser of a person who has begun one: the state differs.
    const victim = openVisitor(one.rest);
    await victim.call('GET', '/console/login', undefined, { origin: '' });
    assert.equal((await victim.call('GET', url, undefined, { origin: '' })).status, 400);
    assert.equal((await victim.call('GET', '/console/session')).status, 401);
  });

  test('asks the issuer once, however often its browser comes back', async () => {
    const visitor = openVisitor(one.rest);
    const begun = await visitor.call('GET', '/console/login', undefined, { origin: '' });
    const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state');
    const { tokens } = await issuer.count();
    const comeBack = async (): Promise<number> => {
      const same = openVisitor(one.rest);
      same.become(visitor.cookies());
      const path = `/console/login/return?code=made-up&state=${state}`;
      return (await same.call('GET', path, undefined, { origin: '' })).status;
    };
    const statuses = await Promise.all(Array.from({ length: 12 }, comeBack));
    assert.deepEqual(new Set(statuses), new Set([400, 502]));
    assert.equal(statuses.filter((status) => status === 502).length, 1);
    assert.equal((await issuer.count()).tokens - tokens, 1);
  });

  test('does not disturb another one in the same browser, and of those that were left five wait', async () => {
    await issuer.login(admin, 'access', secret);
    const visitor = openVisitor(one.rest);
    const begin = async (): Promise<string> => {
      const begun = await visitor.call('GET', '/console/login', undefined, { origin: '' });
      const there = await fetch(begun.headers.get('location') ?? '', { redirect: 'manual' });
      const { pathname, search } = new URL(there.headers.get('location') ?? '');
      return `${pathname}${search}`;
    };
    const [first, second] = [await begin(), await begin()];
    for (const url of [first, second]) {
      const { status } = await visitor.call('GET', url, undefined, { origin: '' });
      assert.equal(status, 303);
      assert.deepEqual(await personOf(visitor), ['person-1', 'admin', null]);
    }
    await visitor.call('DELETE', '/console/session');
    const left: string[] = [];
    for (let tab = 0; tab < 7; tab += 1) left.push(await begin());
    assert.equal(visitor.cookies().split('; ').length, 5);
    const statuses: number[] = [];
    for (const url of [left[1] ?? '', left[2] ?? '', left[6] ?? ''])
      statuses.push((await visitor.call('GET', url, undefined, { origin: '' })).status);
    assert.deepEqual(statuses, [400, 303, 303]);
  });

  test('that is cancelled at the issuer is no fault, and nothing is asked', async () => {
    const visitor = openVisitor(one.rest);
    const begun = await visitor.call('GET', '/console/login', undefined, { origin: '' });
    const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state');
    const { tokens } = await issuer.count();
    const path = `/console/login/return?error=access_denied&state=${state}`;
    const english = { origin: '', 'accept-language': 'en' };
    const answer = await visitor.call('GET', path, undefined, english);
    assert.equal(answer.status, 200);
    assert.match(await answer.text(), /The login was cancelled/);
    assert.equal(visitor.cookies(), '', 'nothing waits any more');
    assert.equal((await issuer.count()).tokens, tokens);
  });

  test('is refused without a role, and without a merchant or the platform', async () => {
    for (const given of [claims({ platform: true }), claims({ roles: ['admin'] })]) {
      await issuer.login(given, 'id', secret);
      const visitor = openVisitor(one.rest);
      const { answer } = await logIn(visitor);
      assert.equal(answer.status, 403);
      assert.equal(answer.headers.getSetCookie().join().includes('console=ey'), false);
      assert.equal((await visitor.call('GET', '/console/session')).status, 401);
    }
  });

  test('has no one-time links beside it', async () => {
    const headers = { authorization: `Bearer ${operatorToken}` };
    const visitor = openVisitor(one.rest);
    assert.equal((await visitor.call('POST', '/console/links', undefined, headers)).status, 404);
    assert.equal(await visitor.enter(`#${'a'.repeat(43)}`), 401);
  });
});

describe('two processes', () => {
  test('know the same sessions, and forget one within a second of its end, its sockets too', async (t) => {
    await issuer.login(admin, 'access', secret);
    const here = openVisitor(one.rest);
    await logIn(here);
    const there = openVisitor(two.rest);
    there.become(here.cookies());
    assert.deepEqual(await personOf(there), ['person-1', 'admin', null]);
    assert.ok((await there.ask('Merchants', { first: 1 })).data);
    const client = there.socket();
    t.after(() => client.dispose());
    const { over: closed } = await watchLive(client);
    assert.equal((await here.call('DELETE', '/console/session')).status, 204);
    await comesTo(401, async () => (await there.call('GET', '/console/session')).status);
    assert.equal(await closeCode(closed), 4403);
  });
});

describe('GRAPHQL_ORIGINS', () => {
  const preflight = (origin: string) =>
    fetch(`${one.graph}/graphql`, { method: 'OPTIONS', headers: { origin } });

  test('lets the pages that it names call with a bearer, over HTTP and over sockets', async (t) => {
    const asked = await preflight(frontend);
    assert.deepEqual(
      [asked.status, asked.headers.get('access-control-allow-origin')],
      [204, frontend],
    );
    assert.match(asked.headers.get('access-control-allow-headers') ?? '', /authorization/);
    assert.equal(asked.headers.get('access-control-allow-credentials'), null);
    const answer = await fetch(`${one.graph}/graphql`, {
      method: 'POST',
      headers: {
        origin: frontend,
        'content-type': 'application/json',
        authorization: `Bearer ${operatorToken}`,
      },
      body: JSON.stringify({ query: '{ merchants(first: 1) { nodes { id } } }' }),
    });
    assert.equal(answer.headers.get('access-control-allow-origin'), frontend);
    assert.ok(((await answer.json()) as any).data);
    // A session is for our own pages alone.
    await issuer.login(admin, 'access', secret);
    const visitor = openVisitor(one.rest);
    await logIn(visitor);
    assert.equal((await visitor.ask('Merchants', {}, { origin: frontend })).status, 403);
    const client = visitor.socket(frontend);
    t.after(() => client.dispose());
    const { over: closed } = await watchLive(client);
    assert.equal(await closeCode(closed), 4403);
  });

  test('lets no others', async () => {
    const answer = await preflight('https://evil.example');
    assert.equal(answer.headers.get('access-control-allow-origin'), null);
    assert.match(answer.headers.get('vary') ?? '', /origin/);
  });
});

describe("another person's session", () => {
  const sessionsQuery = '{ personSessions { id subject role merchantId } }';
  const end = `mutation ($id: ID!) { personSessionEnd(id: $id) {
    __typename ... on PersonSession { subject } ... on Refused { code } } }`;

  test('is seen and ended by an administrator within reach, in every process within a second, and audited', async (t) => {
    const { merchantCreate } = await askGraph(
      { graph: one.graph },
      'mutation { merchantCreate(name: "Of the sessions") { id } }',
      {},
      operatorToken,
    );
    const logInAs = async (person: object): Promise<Visitor> => {
      await issuer.login(claims(person), 'access', secret);
      const visitor = openVisitor(one.rest);
      await logIn(visitor);
      return visitor;
    };
    const invited = await askGraph(
      { graph: one.graph },
      'mutation { personInvite(email: "olga@example.com", role: viewer) { ... on Refused { code message } } }',
      {},
      operatorToken,
    );
    assert.equal(invited.personInvite.code, 'bad_request');
    assert.match(invited.personInvite.message, /people come from http/);
    const lost = await logInAs({ sub: 'lost-laptop', roles: ['finance'], platform: true });
    await logInAs({ sub: 'of-the-merchant', roles: ['viewer'], merchant_id: merchantCreate.id });
    const ask = async (query: string, variables: object, token: object): Promise<any> =>
      askGraph(
        { graph: one.graph },
        query,
        { ...variables },
        await issuer.sign({ ...aViewer(), platform: false, ...token }),
      );
    const ofMerchant = { sub: 'boss', roles: ['admin'], merchant_id: merchantCreate.id };
    const ofPlatform = { sub: 'the-admin', roles: ['admin'], platform: true };
    const subjects = (answer: any): string[] =>
      answer.personSessions.map(({ subject }: any) => subject);
    assert.deepEqual(subjects(await ask(sessionsQuery, {}, ofMerchant)), ['of-the-merchant']);
    const { personSessions } = await ask(sessionsQuery, {}, ofPlatform);
    const { id } = personSessions.find(({ subject }: any) => subject === 'lost-laptop');
    await assert.rejects(ask(sessionsQuery, {}, { ...ofPlatform, roles: ['finance'] }), /role/);
    assert.equal((await ask(end, { id }, ofMerchant)).personSessionEnd.code, 'not_found');

    const there = openVisitor(two.rest);
    there.become(lost.cookies());
    const client = there.socket();
    t.after(() => client.dispose());
    const { over } = await watchLive(client);
    assert.deepEqual((await ask(end, { id }, ofPlatform)).personSessionEnd, {
      __typename: 'PersonSession',
      subject: 'lost-laptop',
    });
    await comesTo(401, async () => (await there.call('GET', '/console/session')).status);
    assert.equal(await closeCode(over), 4403);
    assert.equal((await ask(end, { id }, ofPlatform)).personSessionEnd.code, 'not_found');
    const { auditLog } = await ask(
      '{ auditLog(first: 1, action: "console_session.end") { nodes { actor subjectId before } } }',
      {},
      ofPlatform,
    );
    assert.deepEqual(auditLog.nodes, [
      { actor: 'the-admin', subjectId: id, before: { subject: 'lost-laptop', role: 'finance' } },
    ]);
  });
});
