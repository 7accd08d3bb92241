/** The console's session: who gets one, what it may do, what other pages may not, how it ends. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import pg from 'pg';
import { operationsVersion } from '../../schema/generated/console.ts';
import { makeMerchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { closeCode, makeLink, openVisitor, watchLive, type Visitor } from './visitor.ts';
import { comesTo } from '../support/eventually.ts';

let service: ServiceInUse;
let database: pg.Client;
before(async () => {
  service = await openPlainService();
  database = new pg.Client({ connectionString: service.databaseUrl });
  await database.connect();
});
after(async () => {
  await database.end();
  await service.stop();
});

/** A browser with an administrator's session. */
const entered = async (): Promise<Visitor> => {
  const visitor = openVisitor(service.rest);
  assert.equal(await visitor.enter(await makeLink(service.rest)), 201);
  return visitor;
};

/** What the database keeps of a secret. */
const digestOf = (secret = ''): string => createHash('sha256').update(secret).digest('hex');

const statusOf = async (answer: Promise<Response>): Promise<number> => (await answer).status;
const codes = (answer: any): unknown[] => answer.errors?.map((error: any) => error.extensions.code);

describe('a one-time link', () => {
  test("makes an administrator's session, which the cookie alone carries", async () => {
    const visitor = await entered();
    const answer = await visitor.call('GET', '/console/session');
    const session: any = await answer.json();
    assert.deepEqual(
      [session.subject, session.role, session.merchant_id],
      ['console-link', 'admin', null],
    );
    assert.match(visitor.cookies(), /^console=[\w-]{43}$/);
    const { data } = await visitor.ask('Merchants', { first: 1 });
    assert.equal(data.merchants.nodes.length <= 1, true);
  });

  test('sets a cookie that scripts and other sites do not get', async () => {
    const [, secret] = (await makeLink(service.rest)).split('#');
    const answer = await openVisitor(service.rest).call('POST', '/console/session', {
      link: secret,
    });
    assert.match(
      answer.headers.getSetCookie().join(),
      /^console=[\w-]{43}; Path=\/; Max-Age=43\d{3}; HttpOnly; SameSite=Lax$/,
    );
  });

  test('is good once, also for two at the same moment', async () => {
    const link = await makeLink(service.rest);
    const statuses = await Promise.all(
      Array.from({ length: 6 }, () => openVisitor(service.rest).enter(link)),
    );
    assert.deepEqual(
      statuses.toSorted((a, b) => a - b),
      [201, 401, 401, 401, 401, 401],
    );
    assert.equal(await openVisitor(service.rest).enter(link), 401);
  });

  test('is over after ten minutes', async () => {
    const link = await makeLink(service.rest);
    const { rowCount } = await database.query(
      `update console_link set expires_at = now() where digest = $1`,
      [digestOf(link.split('#')[1])],
    );
    assert.equal(rowCount, 1);
    assert.equal(await openVisitor(service.rest).enter(link), 401);
  });

  test('is made for the administrator of the platform alone', async () => {
    const merchant = await makeMerchant(service);
    for (const [bearer, status] of [
      [merchant.key, 403],
      ['no token', 401],
    ] as const) {
      const headers = { authorization: `Bearer ${bearer}` };
      assert.equal(
        await statusOf(
          openVisitor(service.rest).call('POST', '/console/links', undefined, headers),
        ),
        status,
      );
    }
    // A session makes no session.
    const visitor = await entered();
    assert.equal(await statusOf(visitor.call('POST', '/console/links')), 401);
  });

  test('is kept as a digest, and so is the session', async () => {
    const visitor = await entered();
    const [, secret = ''] = visitor.cookies().split('=');
    const { rows } = await database.query(
      `select to_jsonb(s)::text as text from console_session s union all select to_jsonb(l)::text from console_link l`,
    );
    assert.ok(rows.length > 1);
    assert.equal(rows.filter(({ text }) => text.includes(secret)).length, 0);
  });

  test('leaves the login in the audit log', async () => {
    const visitor = await entered();
    const [, secret] = visitor.cookies().split('=');
    const { rows } = await database.query(
      `select actor, entry.role, after from audit_entry entry join console_session session on subject_id = session.id::text
        where action = 'console_session.open' and digest = $1`,
      [digestOf(secret)],
    );
    assert.deepEqual(rows, [{ actor: 'console-link', role: 'admin', after: { by: 'link' } }]);
  });
});

describe('a session', () => {
  test('is never the one that a browser had before: fixation', async () => {
    const attacker = await entered();
    const victim = openVisitor(service.rest);
    victim.become(attacker.cookies());
    // A link that was only opened ends no session, and is not used up.
    const sent = { link: 'a'.repeat(43) };
    const asked = await victim.call('POST', '/console/session', sent);
    const { error, session }: any = await asked.json();
    assert.deepEqual(
      [asked.status, error.code, session.subject],
      [409, 'session_exists', 'console-link'],
    );
    assert.equal(await statusOf(attacker.call('GET', '/console/session')), 200);
    assert.equal(await victim.enter(await makeLink(service.rest)), 201);
    assert.notEqual(victim.cookies(), attacker.cookies());
    // The one from before has ended.
    assert.equal(await statusOf(attacker.call('GET', '/console/session')), 401);
    const chosen = openVisitor(service.rest);
    chosen.become(`console=${'a'.repeat(43)}`);
    assert.equal(await statusOf(chosen.call('GET', '/console/session')), 401);
  });

  test('is refused from a foreign page, and without the header', async () => {
    const visitor = await entered();
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: '' },
      { 'x-console': '' },
    ]) {
      const answer = await visitor.ask('Merchants', {}, headers);
      assert.deepEqual([answer.status, codes(answer)], [403, ['scope_required']]);
      for (const [method, body] of [
        ['POST', { link: 'a'.repeat(43) }],
        ['DELETE', undefined],
      ] as const)
        assert.equal(await statusOf(visitor.call(method, '/console/session', body, headers)), 403);
    }
    assert.equal(await statusOf(visitor.call('GET', '/console/session')), 200);
  });

  test("is no bearer: the REST API and the console's links do not take it", async () => {
    const visitor = await entered();
    assert.equal(await statusOf(visitor.call('GET', '/v1/public/balance')), 401);
  });

  test('runs the operations of the console alone, of its own version', async () => {
    const visitor = await entered();
    const own = await visitor.ask('Merchants', { first: 1 }, {}, '{ __schema { types { name } } }');
    assert.deepEqual(Object.keys(own.data), ['merchants']);
    const foreign = await visitor.ask(
      'Foreign',
      {},
      {},
      'query Foreign { merchants { nodes { id } } }',
    );
    assert.deepEqual(codes(foreign), ['bad_request']);
    assert.deepEqual(codes(await visitor.ask('toString')), ['bad_request']);
    const outdated = await visitor.call('POST', '/graphql', {
      operationName: 'Merchants',
      extensions: { console: 'of yesterday' },
    });
    assert.deepEqual(codes(await outdated.json()), ['console_outdated']);
    const byGet = await visitor.call('GET', '/graphql?query={merchants{nodes{id}}}');
    assert.deepEqual(codes(await byGet.json()), ['bad_request']);
    assert.notEqual(operationsVersion, '');
  });

  test('ends an hour after its last request, and twelve after its login', async () => {
    const visitor = await entered();
    const [, secret = ''] = visitor.cookies().split('=');
    const { rows } = await database.query(
      `update console_session set seen_at = now() - interval '61 minutes' where digest = $1
        returning extract(epoch from ends_at - created_at)::int as life_s`,
      [digestOf(secret)],
    );
    assert.deepEqual(rows, [{ life_s: 43_200 }]);
    const other = openVisitor(service.rest);
    other.become(visitor.cookies());
    assert.equal(await statusOf(other.call('GET', '/console/session')), 401);
  });

  test('is over at once in its process when its person logs out, sockets included', async () => {
    const visitor = await entered();
    const thief = openVisitor(service.rest);
    thief.become(visitor.cookies());
    const client = thief.socket();
    const { over } = await watchLive(client);
    assert.equal(await statusOf(visitor.call('DELETE', '/console/session')), 204);
    assert.equal(visitor.cookies(), '');
    await comesTo(401, () => statusOf(thief.call('GET', '/console/session')));
    assert.equal(await closeCode(over), 4403);
    assert.deepEqual(codes(await thief.ask('Merchants')), ['unauthorized']);
  });
});

describe('a socket', () => {
  test('is opened with the cookie by a page of ours alone', async (t) => {
    const visitor = await entered();
    for (const [origin, code] of [
      ['https://evil.example', 'WebSocket was closed'],
      [null, 4403],
    ] as const) {
      const client = visitor.socket(origin);
      t.after(() => client.dispose());
      const { over } = await watchLive(client);
      const seen = await closeCode(over);
      if (typeof code === 'number') assert.equal(seen, code);
      else assert.notEqual(seen, 4403);
    }
    const own = visitor.socket();
    t.after(() => own.dispose());
    const { over } = await watchLive(own);
    assert.equal(await Promise.race([over, Promise.resolve('open')]), 'open');
  });

  test('runs the operations of the console alone', async (t) => {
    const client = (await entered()).socket();
    t.after(() => client.dispose());
    const results = client.iterate({ query: '{ merchants { nodes { id } } }' });
    const first = await results.next().catch((error: unknown) => error);
    assert.match(JSON.stringify(first), /console_outdated/);
  });
});

describe('pages elsewhere', () => {
  test('may not call the graph, unless GRAPHQL_ORIGINS names them', async () => {
    const answer = await fetch(`${service.graph}/graphql`, {
      method: 'OPTIONS',
      headers: { origin: 'https://front.example', 'access-control-request-method': 'POST' },
    });
    assert.equal(answer.headers.get('access-control-allow-origin'), null);
  });
});
