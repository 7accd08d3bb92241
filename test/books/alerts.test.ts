import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { buildSchema, parse } from 'graphql';
import { alertsWaiting_max, withHints } from '../../gateway/live/hints.ts';
import type { LiveSubscriptions } from '../../gateway/live/subscriptions.ts';
import {
  countAlerts,
  raiseAlert,
  type RaisedAlert,
} from '../../subgraphs/platform/alerts/alerts.ts';
import { publishAlerts } from '../../subgraphs/platform/alerts/jobs.ts';
import { inTransaction } from '../../subgraphs/platform/database/statement.ts';
import type { Bus, PublishedAlert } from '../../subgraphs/platform/bus/bus.ts';
import { readMessage } from '../../subgraphs/platform/bus/bus.ts';
import { scopes, type Principal } from '../../subgraphs/platform/access/principal.ts';
import { cabinetUser, openCabinet, operator, type Cabinet } from '../cabinet/cabinet.ts';

let cabinet: Cabinet;
before(async () => void (cabinet = await openCabinet()));
after(() => cabinet.close());

const at = Temporal.Instant.from('2026-11-21T10:00:00Z');
const anAlert = (given: Partial<RaisedAlert> = {}): RaisedAlert => ({
  kind: 'late_success',
  merchantId: randomUUID(),
  shopId: null,
  mode: 'test',
  subjectId: randomUUID(),
  detail: 'Paid after it had expired',
  fields: {},
  at,
  ...given,
});
const listed = async (filter = ''): Promise<any[]> =>
  (
    await cabinet.ask(
      `{ alerts(first: 200${filter}) { nodes { id kind merchantId subjectId detail resolvedAt resolvedBy note } } }`,
    )
  ).alerts.nodes;
const resolve = async ({
  id,
  merchantId,
}: {
  id: string;
  merchantId: string | null;
}): Promise<any> => {
  const mutation = `mutation ($m: ID, $id: ID!) { alertResolve(merchantId: $m, id: $id, note: "Seen") { __typename ... on Refused { code } ... on Alert { note } } }`;
  return (await cabinet.ask(mutation, { m: merchantId, id })).alertResolve;
};
const about = async (alert: RaisedAlert): Promise<any> =>
  (await listed()).find(({ subjectId }) => subjectId === alert.subjectId);

test('an alert is raised once however often and at however many places at once it is, and counts until it is resolved', async () => {
  const { pool, database } = cabinet.harness;
  const alert = anAlert();
  const fresh = await Promise.all(Array.from({ length: 10 }, () => raiseAlert(pool, alert)));
  assert.equal(fresh.filter(Boolean).length, 1);
  assert.equal((await countAlerts(database)).get('late_success'), 1);
  assert.deepEqual(await resolve(await about(alert)), { __typename: 'Alert', note: 'Seen' });
  assert.deepEqual(await resolve(await about(alert)), {
    __typename: 'Refused',
    code: 'bad_request',
  });
  assert.equal((await about(alert)).resolvedBy, 'person-1');
  assert.equal((await countAlerts(database)).get('late_success'), 0);
  assert.equal(await raiseAlert(pool, alert), false, 'a fact stays resolved');
});

test('an empty note is refused by its name, of an alert as of a difference', async () => {
  for (const mutation of ['alertResolve', 'reconciliationDifferenceResolve']) {
    const id = randomUUID();
    const asked = `mutation { asked: ${mutation}(id: "${id}", note: " ") { ... on Refused { code fields { path } } } }`;
    assert.deepEqual((await cabinet.ask(asked)).asked, {
      code: 'bad_request',
      fields: [{ path: 'note' }],
    });
  }
});

test('an alert is given to people of the platform alone, and lists are narrowed by mode, severity and assignee', async () => {
  const { pool } = cabinet.harness;
  const mine = anAlert({ kind: 'books_differ', mode: 'live' });
  const others = [anAlert({ kind: 'books_differ', mode: 'test' }), anAlert({ mode: 'live' })];
  for (const alert of [mine, ...others]) await raiseAlert(pool, alert);
  const session = `insert into console_session (digest, id, subject, role, merchant_id, created_at, seen_at, ends_at)
    values ($1, gen_random_uuid(), $1, 'viewer', $2, now(), now(), now())`;
  await pool.query(session, ['colleague', null]);
  await pool.query(session, ['cabinet user', randomUUID()]);
  const assign = async (assignee: string | null): Promise<any> => {
    const { id, merchantId } = await about(mine);
    const mutation = `mutation ($m: ID, $id: ID!, $to: String) { alertAssign(merchantId: $m, id: $id, assignee: $to) {
      __typename ... on Refused { code } ... on Alert { assignee severity } } }`;
    return (await cabinet.ask(mutation, { m: merchantId, id, to: assignee })).alertAssign;
  };
  assert.deepEqual(await cabinet.ask('{ alertAssignees }'), {
    alertAssignees: ['person-1', 'colleague'],
  });
  for (const nobody of ['cabinet user', 'a stranger'])
    assert.equal((await assign(nobody)).code, 'bad_request');
  for (const person of ['person-1', null, 'colleague'])
    assert.deepEqual(await assign(person), {
      __typename: 'Alert',
      assignee: person,
      severity: 'critical',
    });
  const subjects = async (filter: string): Promise<string[]> =>
    (await listed(filter)).map(({ subjectId }) => subjectId);
  assert.deepEqual(await subjects(', assignee: "colleague"'), [mine.subjectId]);
  const critical = await subjects(', severity: critical, mode: live');
  assert.ok(critical.includes(mine.subjectId));
  for (const { subjectId } of others) assert.ok(!critical.includes(subjectId));
  assert.deepEqual(await subjects(', severity: warning, kind: books_differ'), []);
  await resolve(await about(mine));
  assert.equal((await assign('person-1')).code, 'bad_request');
});

test('a state that is found again after it was resolved is raised again', async () => {
  const alert = anAlert({ kind: 'books_differ', merchantId: null });
  await raiseAlert(cabinet.harness.pool, alert);
  await resolve(await about(alert));
  assert.equal(
    await raiseAlert(cabinet.harness.pool, { ...alert, detail: 'It differs again' }),
    true,
  );
  const again = await about(alert);
  assert.deepEqual(
    [again.merchantId, again.detail, again.resolvedAt, again.note],
    [null, 'It differs again', null, null],
  );
});

test('an alert of a transaction that fails was never raised', async () => {
  const alert = anAlert();
  const failing = inTransaction(cabinet.harness.pool, async (client) => {
    await raiseAlert(client, alert);
    throw new Error('no');
  });
  await assert.rejects(failing, /no/);
  assert.equal(await about(alert), undefined);
});

test('alerts are listed by kind, by merchant and by whether they are resolved, and not to cabinet users', async () => {
  const alert = anAlert({ kind: 'bank_echo_differs' });
  await raiseAlert(cabinet.harness.pool, alert);
  assert.equal((await listed(', kind: bank_echo_differs, resolved: false')).length, 1);
  assert.equal((await listed(', kind: bank_echo_differs, resolved: true')).length, 0);
  assert.equal((await listed(`, merchantId: "${alert.merchantId}"`)).length, 1);
  const { errors } = await cabinet.run(
    '{ alerts { nodes { id } } }',
    {},
    cabinetUser(alert.merchantId ?? ''),
  );
  assert.equal(errors?.[0]?.extensions['code'], 'forbidden');
});

describe('the subscription alertRaised', () => {
  type Received = (alerts: readonly PublishedAlert[]) => void;
  /** A bus whose messages become text on the way, as between processes. */
  const openBus = () => {
    const listeners = new Set<Received>();
    const subscribe: Bus['subscribe'] = (topic, listener) => {
      assert.equal(topic, 'alerts');
      listeners.add(listener as Received);
      return () => void listeners.delete(listener as Received);
    };
    const publish: Bus['publish'] = async (_, message) => {
      for (const listener of listeners) listener(readMessage('alerts', JSON.stringify(message)));
    };
    return { listeners, subscribe, publish };
  };
  const schema =
    buildSchema(`type Query { a: Int } type Alert { id: ID! kind: String! merchantId: ID detail: String! note: String }
    type Subscription { alertRaised: Alert! events: Int }`);
  const others: LiveSubscriptions = { subscribe: () => [] };
  const subscribe = (bus: Pick<Bus, 'subscribe'>, principal: Principal) =>
    withHints(others, { supergraph: { apiSchema: schema }, bus }).subscribe(
      {
        document: parse('subscription { received: alertRaised { kind merchantId detail note } }'),
        variables: {},
      },
      { principal, requestId: 'r', isInLane: true },
    );

  test('notifies operators of each alert once, as they select it', async () => {
    const bus = openBus();
    const results = subscribe(bus, operator('viewer'));
    assert.ok('next' in results);
    const parts = { pool: cabinet.harness.pool, bus, now: () => at };
    while ((await publishAlerts(parts)) > 0);
    await results.return?.();
    const next = subscribe(bus, operator('viewer'));
    assert.ok('next' in next);
    await raiseAlert(
      cabinet.harness.pool,
      anAlert({ kind: 'books_differ', merchantId: null, detail: 'The balance differs' }),
    );
    const waiting = next.next();
    assert.deepEqual([await publishAlerts(parts), await publishAlerts(parts)], [1, 0]);
    const { value } = await waiting;
    assert.deepEqual(JSON.parse(JSON.stringify(value?.data)), {
      received: {
        kind: 'books_differ',
        merchantId: null,
        detail: 'The balance differs',
        note: null,
      },
    });
    await next.return?.();
    assert.equal(bus.listeners.size, 0);
    assert.equal((await next.next()).done, true);
  });

  test('is refused to keys and cabinet users', () => {
    const bus = openBus();
    const key: Principal = {
      kind: 'key',
      keyId: 'k',
      merchantId: 'm',
      shopId: 's',
      mode: 'live',
      scopes,
    };
    const codes = [key, cabinetUser('m')].map((principal) => {
      const refused = subscribe(bus, principal);
      return 'next' in refused ? 'let in' : refused[0]?.extensions['code'];
    });
    assert.deepEqual(codes, ['scope_required', 'forbidden']);
    assert.equal(bus.listeners.size, 0);
  });

  test('keeps so many for a slow console, and says how many it lost', async () => {
    const bus = openBus();
    const results = subscribe(bus, operator('viewer'));
    assert.ok('next' in results);
    const { merchantId, shopId, mode, kind, subjectId, detail, fields } = anAlert();
    const received: PublishedAlert = {
      id: randomUUID(),
      merchantId,
      shopId,
      mode,
      kind,
      subjectId,
      detail,
      fields,
      raisedAt: '2026-11-21T10:00:00.000Z',
    };
    await bus.publish(
      'alerts',
      Array.from({ length: alertsWaiting_max + 3 }, () => received),
    );
    assert.deepEqual((await results.next()).value?.extensions, { missed: 3 });
    assert.equal((await results.next()).value?.extensions, undefined);
    await results.return?.();
  });
});
