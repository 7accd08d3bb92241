/**
 * The subscription `listsChanged`, over sockets of one process while another one makes the changes:
 * who learns of what, how soon, and how seldom.
 */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import type { Client } from 'graphql-ws';
import { createClient } from 'graphql-ws';
import { parse } from 'graphql';
import type pg from 'pg';
import { WebSocket } from 'ws';
import { withHints } from '../../gateway/live/hints.ts';
import { readApiSchema } from '../../schema/generated-files.ts';
import { operationsVersion } from '../../schema/generated/console.ts';
import { freePort } from '../support/free-port.ts';
import type { ChangedList } from '../../subgraphs/platform/bus/bus.ts';
import { raiseAlert } from '../../subgraphs/platform/alerts/alerts.ts';
import { makeSession } from '../console/console-window.ts';
import { openVisitor } from '../console/visitor.ts';
import { openPool, startTestDatabase, type TestDatabase } from '../support/database.ts';
import { askGraph, makeMerchant, openReceiver, type Merchant } from '../support/merchant.ts';
import {
  ensureMigrated,
  spawnProcess,
  stopProcess,
  untilReady,
  type ServiceProcess,
} from '../support/service.ts';
import { eventually } from '../support/eventually.ts';
import { localBus } from './small-graph.ts';

let database: TestDatabase;
let pool: pg.Pool;
/** Where people watch, and where things happen. */
let watched: ServiceProcess;
let acting: ServiceProcess;
const graph = () => ({ rest: acting.url, graph: acting.url });

before(async () => {
  database = await startTestDatabase({ migrated: true });
  await ensureMigrated(database.url);
  pool = openPool(database.url);
  const environment = {
    DATABASE_URL: database.url,
    SECRET_KEY: randomBytes(32).toString('base64'),
    WEBHOOK_PRIVATE_TARGETS: 'allow',
  };
  const ports = await Promise.all([freePort(), freePort()]);
  const started = ports.map((port) => spawnProcess('all', port, environment));
  await Promise.all(started.map(untilReady));
  [watched, acting] = started as [ServiceProcess, ServiceProcess];
});
after(async () => {
  for (const process of [watched, acting]) if (process) await stopProcess(process);
  await pool?.end();
  await database?.stop();
});

interface Word {
  readonly lists: readonly string[];
}

/** What a person is notified of, from when the subscription stands. */
const watch = async (
  role: 'viewer' | 'admin',
  merchantId: string | null,
  narrowedTo: string | null = null,
) => {
  const visitor = openVisitor(watched.url);
  visitor.become(`console=${await makeSession({ databaseUrl: database.url }, role, merchantId)}`);
  const client = visitor.socket();
  const words: Word[] = [];
  const errors: unknown[] = [];
  client.subscribe<{ listsChanged: { lists: string[] } }>(
    {
      operationName: 'ListsChanged',
      query: '',
      variables: { merchantId: narrowedTo },
      extensions: { console: operationsVersion },
    },
    {
      next: ({ data }) => data && words.push({ lists: data.listsChanged.lists }),
      error: (error) => errors.push(error),
      complete: () => {},
    },
  );
  // An operation of the same socket that is answered came behind the subscription.
  await asked(client);
  return {
    words,
    errors,
    lists: () => new Set(words.flatMap(({ lists }) => lists)),
    forget: () => void words.splice(0),
    end: () => client.dispose(),
  };
};

const asked = (client: Client): Promise<void> =>
  new Promise((resolve, reject) => {
    client.subscribe(
      { operationName: 'Viewer', query: '', extensions: { console: operationsVersion } },
      { next: () => {}, error: reject, complete: resolve },
    );
  });

const propose = async ({ id, shopId }: Merchant): Promise<string> => {
  const { draft } = await askGraph(
    graph(),
    `mutation ($m: ID!, $s: ID!) { draft: payoutDraftCreate(merchantId: $m, shopId: $s, mode: test, reason: "Rent",
      input: { amount: 5000, phone: "+79161234567", bankId: "100000000111", fullName: "Petrov I." }) {
        __typename ... on PayoutDraftCreated { draft { id } } } }`,
    { m: id, s: shopId },
  );
  return draft.draft.id;
};

const rename = (merchant: Merchant, name: string): Promise<any> =>
  askGraph(
    graph(),
    `mutation ($m: ID!, $s: ID!, $name: String!) { renamed: shopRename(merchantId: $m, shopId: $s, name: $name) { __typename } }`,
    { m: merchant.id, s: merchant.shopId, name },
  );

type Watcher = Awaited<ReturnType<typeof watch>>;

/** What was changed before has come when what is changed now has; they forget all of it. */
const settle = async (merchant: Merchant, ...watchers: readonly Watcher[]): Promise<void> => {
  await propose(merchant);
  for (const { lists } of watchers)
    await eventually(() => lists().has('payout_drafts'), 'what was changed last');
  for (const { forget } of watchers) forget();
};

describe('listsChanged', () => {
  test('comes to the owners of the list, and to no others', async () => {
    const [mine, other] = [await makeMerchant(graph()), await makeMerchant(graph())];
    const platform = await watch('viewer', null);
    const narrowed = await watch('viewer', null, other.id);
    const cabinet = await watch('viewer', mine.id);
    const stranger = await watch('admin', other.id);
    const all = [platform, narrowed, cabinet, stranger];
    await settle(mine, platform, cabinet);
    await settle(other, platform, narrowed, stranger);
    await propose(mine);
    await eventually(() => cabinet.lists().has('payout_drafts'), 'the word of the draft');
    await eventually(() => platform.lists().has('payout_drafts'), 'the same for the platform');
    for (const { words } of [cabinet, platform])
      assert.deepEqual(words[0]?.lists.toSorted(), ['audit_log', 'payout_drafts']);
    // A later change of their own comes, and it alone.
    await rename(other, 'Other');
    for (const { lists } of [narrowed, stranger]) {
      await eventually(() => lists().size > 0, 'the word of the name');
      assert.deepEqual([...lists()], ['audit_log']);
    }

    // Alerts are the platform's: the merchant whom one is about does not learn of it.
    for (const { forget } of all) forget();
    const about = { merchantId: mine.id, shopId: mine.shopId, mode: 'live' as const };
    const subjectId = randomUUID();
    await raiseAlert(pool, {
      ...about,
      kind: 'late_success',
      subjectId,
      detail: 'paid late',
      fields: {},
      at: Temporal.Now.instant(),
    });
    const { alerts } = await askGraph(
      graph(),
      `{ alerts(merchantId: "${mine.id}") { nodes { id } } }`,
    );
    await askGraph(
      graph(),
      `mutation ($m: ID!, $id: ID!) { alertResolve(merchantId: $m, id: $id, note: "seen") { __typename } }`,
      { m: mine.id, id: alerts.nodes[0].id },
    );
    await eventually(() => platform.lists().has('alerts'), 'the word of the alert');
    for (const merchant of [mine, other]) await propose(merchant);
    for (const { lists } of [cabinet, narrowed, stranger]) {
      await eventually(() => lists().has('payout_drafts'), 'the word of the next draft');
      assert.deepEqual([...lists()].toSorted(), ['audit_log', 'payout_drafts']);
    }
    for (const { errors, end } of all) {
      assert.deepEqual(errors, []);
      await end();
    }
  });

  test('comes of attempts of webhooks, and of those that have failed for good', async () => {
    const merchant = await makeMerchant(graph());
    const receiver = await openReceiver(() => 500);
    await merchant.endpoint(receiver.url);
    const cabinet = await watch('viewer', merchant.id);
    await merchant.call('POST', '/payments', { amount: 1_000, order_id: 'o', method: 'cards' });
    const paid = await askGraph(
      graph(),
      `{ payments(merchantId: "${merchant.id}", includeTest: true, first: 1) { nodes { id } } }`,
    );
    await merchant.call('POST', `/payments/${paid.payments.nodes[0].id}/cancel`);
    await receiver.until(() => true);
    await eventually(() => cabinet.lists().has('webhook_deliveries'), 'the word of the attempt');
    assert.equal(cabinet.lists().has('webhook_failures'), false, 'it is tried again');
    await pool.query('update webhook_endpoint set active = false where merchant_id = $1', [
      merchant.id,
    ]);
    await pool.query('update webhook_delivery set due_at = now() where merchant_id = $1', [
      merchant.id,
    ]);
    await eventually(() => cabinet.lists().has('webhook_failures'), 'the word of the failure');
    await cabinet.end();
    await receiver.close();
  });

  test('comes once a second at most, and last of all after the last change', async () => {
    const bus = localBus();
    const { subscribe } = withHints(
      { subscribe: () => assert.fail('it is no other subscription') },
      { supergraph: { apiSchema: readApiSchema() }, bus },
    );
    const results = subscribe(
      { document: parse('subscription { listsChanged { lists } }'), variables: {} },
      {
        principal: { kind: 'operator', subject: 'o', role: 'viewer', merchantId: null },
        requestId: 'r',
        isInLane: true,
      },
    );
    assert('next' in results);
    const began_ms = performance.now();
    const words: string[] = [];
    const tooSoon: number[] = [];
    const listen = async (): Promise<void> => {
      for await (const { data } of results) {
        const least_ms = words.push(JSON.stringify(data)) * 1_000 - 1_000;
        const after_ms = performance.now() - began_ms;
        // A timer may be a few milliseconds early.
        if (after_ms < least_ms - 10) tooSoon.push(after_ms);
      }
    };
    const listening = listen();
    const change = (list: ChangedList): Promise<void> =>
      bus.publish('lists', [{ list, merchantId: 'm' }]);
    await eventually(async () => {
      await change('audit_log');
      return words.length === 3;
    }, 'three words');
    await change('payout_drafts');
    await eventually(() => words.at(-1)?.includes('payout_drafts'), 'the word of the last change');
    await results.return?.();
    await listening;
    assert.deepEqual(tooSoon, []);
  });

  test('does not come of what was refused', async () => {
    const merchant = await makeMerchant(graph());
    const id = await propose(merchant);
    const cabinet = await watch('viewer', merchant.id);
    await settle(merchant, cabinet);
    const refused = await rename(merchant, '');
    assert.equal(refused.renamed.__typename, 'Refused');
    const { rejected } = await askGraph(
      graph(),
      `mutation ($m: ID!, $id: ID!) { rejected: payoutDraftReject(merchantId: $m, id: $id, reason: "no") { __typename } }`,
      { m: merchant.id, id },
    );
    assert.equal(rejected.__typename, 'PayoutDraftRejected');
    await eventually(() => cabinet.lists().has('payout_drafts'), 'the word of the rejection');
    assert.equal(cabinet.words.length, 1, 'the refusal has none');
    await cabinet.end();
  });

  test('is for people: a key is refused, and so is a merchant who is not the own', async () => {
    const [mine, other] = [await makeMerchant(graph()), await makeMerchant(graph())];
    const narrowed = await watch('admin', mine.id, other.id);
    await eventually(() => narrowed.errors.length > 0, 'the refusal');
    assert.match(JSON.stringify(narrowed.errors), /not_found/);
    await narrowed.end();
    const client = createClient({
      url: `${watched.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { authorization: `Bearer ${mine.key}` },
      retryAttempts: 0,
    });
    const refusal = await new Promise((resolve) => {
      client.subscribe(
        { query: 'subscription { listsChanged { lists } }' },
        { next: resolve, error: resolve, complete: () => resolve('complete') },
      );
    });
    assert.match(JSON.stringify(refusal), /scope_required/);
    await client.dispose();
  });
});
