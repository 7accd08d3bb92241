/**
 * Many subscriptions of one caller, each with a selection of its own, with the subgraphs in this
 * process and over HTTP.
 */
import { after, before, describe, test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fastify } from 'fastify';
import { parse } from 'graphql';
import { openAuthenticator } from '../../gateway/callers/authenticate.ts';
import type { BearerReader } from '../../gateway/callers/caller.ts';
import { openAddressOf, openOrigins } from '../../subgraphs/platform/access/caller-address.ts';
import { limitBy, openBucketsInMemory } from '../../gateway/callers/admit-caller.ts';
import { operationsPerSocket_max } from '../../gateway/graphql/graph-protocol.ts';
import { registerGateway } from '../../gateway/graphql/server.ts';
import { openLiveEvents, storedEvents } from '../../gateway/live/events.ts';
import { openLiveSubscriptions } from '../../gateway/live/subscriptions.ts';
import { remoteExecutor } from '../../gateway/remote-subgraph.ts';
import { openSupergraph, type Supergraph } from '../../gateway/supergraph.ts';
import { subgraphNames, type SubgraphName } from '../../schema/sources.ts';
import type { StreamedEvent } from '../../subgraphs/rules/event.ts';
import type { Mode } from '../../subgraphs/rules/mode.ts';
import {
  scopes,
  type KeyPrincipal,
  type Principal,
} from '../../subgraphs/platform/access/principal.ts';
import { serveSubgraph, subgraphPath } from '../../subgraphs/platform/graph/serve-subgraph.ts';
import { connect, listen, readers } from '../gateway/serve-graph.ts';
import { eventually } from '../support/eventually.ts';
import { isLong, size } from '../support/size.ts';
import {
  payments,
  paymentsOfOperators,
  payouts,
  refunds,
  subscriptions,
  type Kind,
} from './event-kinds.ts';
import { log, openGraphHarness } from './harness.ts';
import { plant, type Planted } from './planted-rows.ts';

type Harness = Awaited<ReturnType<typeof openGraphHarness>>;

let harness: Harness;
/** A shop with one row of everything, and with a test clock. */
let shop: Planted;
/** Another shop of the same merchant. */
let neighbour: Planted;
let otherMerchant: Planted;

before(async () => {
  harness = await openGraphHarness();
  const { pool } = harness.database;
  const merchant = randomUUID();
  shop = await plant(pool, 'shop', { merchant, shop: randomUUID() });
  neighbour = await plant(pool, 'neighbour', { merchant, shop: randomUUID() }, ['shop']);
  otherMerchant = await plant(pool, 'other', { merchant: randomUUID(), shop: randomUUID() });
  const placed = 'update event set sequence = 999, position = 999 where merchant_id = $1';
  await pool.query(placed, [merchant]);
  for (const { kind, object, sequence } of [payments, refunds, payouts, subscriptions])
    await pool.query(
      `insert into event select changed.* from event as original, generate_series($4::int8, $4 + 99) as copy(number),
         lateral jsonb_populate_record(original, jsonb_build_object('id', md5('event' || copy.number)::uuid,
           'subject_id', $2::uuid, 'stream_kind', $3::text, 'sequence', copy.number, 'position', copy.number)) as changed
       where original.merchant_id = $1 and original.sequence = 999`,
      [merchant, shop.id(object), kind, sequence],
    );
  const clocks = await pool.query('select from test_clock where merchant_id = $1', [merchant]);
  assert.equal(clocks.rowCount, 1, 'the shop has a test clock');
});
after(() => harness?.close());

const keyOf = (plot: Planted, mode: Mode = 'test'): KeyPrincipal => ({
  kind: 'key',
  keyId: randomUUID(),
  merchantId: plot.id('merchant'),
  shopId: plot.id('shop'),
  mode,
  scopes,
});
const operator = (): Principal => ({
  kind: 'operator',
  subject: randomUUID(),
  role: 'admin',
  merchantId: shop.id('merchant'),
});

const scalars = ['id', 'merchantId', 'status', 'createdAt'];

/** All at once. */
const whole = ({ object, nested }: Kind): string =>
  `${object} { ${[...scalars, ...nested].join(' ')} }`;

/** The long form has as many as one socket may have. */
const selections = size(16, operationsPerSocket_max);

/** Selections, no two of them equal. */
const different = ({ object, nested }: Kind): readonly string[] =>
  Array.from({ length: selections }, (_, index) => {
    const chosen = nested.filter((_field, place) => (index + 1) & (1 << (place % 6)));
    return `${object} { ${scalars[index % scalars.length]} ${chosen.join(' ')} }`;
  });

/** A supergraph over the same subgraphs, reached over HTTP as in another process. */
const overHttp = async (t: TestContext): Promise<Supergraph> => {
  const keys = { shared: randomBytes(32), service: null };
  const app = fastify();
  for (const name of subgraphNames)
    serveSubgraph(app, { name, executor: harness.executors[name], keys, log });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => app.close());
  const reach = (name: SubgraphName) => {
    const executor = remoteExecutor(url + subgraphPath(name), keys, log);
    t.after(() => executor.close());
    return executor;
  };
  const path = join(import.meta.dirname, '../../schema/supergraph.graphql');
  return openSupergraph({
    supergraphSdl: readFileSync(path, 'utf8'),
    executors: {
      payments: reach('payments'),
      payouts: reach('payouts'),
      recurring: reach('recurring'),
      merchants: reach('merchants'),
    },
    log,
  });
};

const inProcess = async (): Promise<Supergraph> => harness.supergraph;

/** Serves the graph's sockets until the test ends; the bearer is the place of a principal. */
const serve = async (t: TestContext, supergraph: Supergraph, callers: readonly Principal[]) => {
  const { bus } = harness;
  const readBearer: BearerReader = (bearer) => {
    const principal = callers[Number(bearer)];
    return principal ? Promise.resolve({ principal }) : null;
  };
  const addressOf = openAddressOf([]);
  const authenticator = openAuthenticator({
    supergraph,
    bus,
    vaultKey: Buffer.alloc(32),
    addressOf,
    log,
    operatorToken: null,
    otherReaders: [readBearer],
  });
  const liveEvents = openLiveEvents({ bus, readEventsAfter: storedEvents(supergraph), log });
  t.after(() => liveEvents.close());
  const liveSubscriptions = openLiveSubscriptions({ supergraph, liveEvents, log });
  const limiter = limitBy(openBucketsInMemory(), addressOf);
  const app = fastify();
  await registerGateway(app, {
    supergraph,
    authenticator,
    limiter,
    liveSubscriptions,
    origins: openOrigins(null, []),
    introspection: true,
    graphiql: false,
    log,
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => app.close());
  return callers.map((_, place) =>
    connect(t, `${url.replace('http', 'ws')}/graphql`, { authorization: `Bearer ${place}` }),
  );
};

const streamed = (
  { merchantId, shopId, mode }: KeyPrincipal,
  { kind, object }: Kind,
  sequence: string,
): StreamedEvent => ({
  sequence,
  kind,
  merchantId,
  shopId,
  mode,
  subjectId: shop.id(object),
  at: '2026-05-06T10:00:00.000Z',
  payload: {},
});

const publish = (first: StreamedEvent, ...others: readonly StreamedEvent[]): Promise<void> =>
  harness.bus.publish('events', {
    behind: String(BigInt(first.sequence) - 1n),
    last: others.at(-1)?.sequence ?? first.sequence,
    events: [first, ...others],
  });

/** What the caller's subscriptions on one socket are answered to one event. */
const readEvent = async (
  t: TestContext,
  supergraph: Supergraph,
  caller: Principal,
  kind: Kind,
  wanted: readonly string[],
) => {
  const [client] = await serve(t, supergraph, [caller]);
  assert(client);
  const before = await readers();
  const listening: Awaited<ReturnType<typeof listen>>[] = [];
  for (const selection of wanted)
    listening.push(await listen(client, `subscription { ${kind.field} { ${selection} } }`));
  let sequence = BigInt(kind.sequence);
  const readNext = async () => {
    await publish(streamed(keyOf(shop), kind, String(sequence++)));
    return Promise.all(listening.map((results) => results.next()));
  };
  // New documents are planned one after another, and refused when a busy machine is too slow.
  const isPlanned = async () => (await readNext()).every(({ errors }) => !errors);
  await eventually(isPlanned, 'every selection is planned');
  const read = await readNext();
  await client.dispose();
  await eventually(async () => (await readers()) === before, 'the server has let the client go');
  return read;
};

const rereading = ({ sequence, event }: Kind, selection: string) =>
  parse(`{ liveEvent(id: "${sequence}") { ... on ${event} { ${selection} } } }`);

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

/** What each selection gives when it is read by itself, outside of the stream. */
const readAlone = (
  caller: Principal,
  kind: Kind,
  wanted: readonly string[],
): Promise<readonly unknown[]> =>
  Array.fromAsync(wanted, async (selection) => {
    const { data, errors } = await harness.supergraph.execute(
      { document: rereading(kind, selection), variables: {} },
      { principal: caller, requestId: 'r', isInLane: true },
    );
    assert.equal(errors, undefined, JSON.stringify(errors));
    assert(data?.['liveEvent'], 'there is such an event');
    return plain({ data: { [kind.field]: data['liveEvent'] } });
  });

interface Case {
  readonly who: string;
  readonly as: () => Principal;
  readonly kind: Kind;
  readonly where: string;
  readonly open: (t: TestContext) => Promise<Supergraph>;
}
const key = { who: 'a key', as: () => keyOf(shop) };
const person = { who: 'an operator', as: operator };
const here = { where: 'in one process', open: inProcess };
const apart = { where: 'over HTTP', open: overHttp };

/** Each subgraph whose objects events have, and both ways to reach them. */
const cases: readonly Case[] = [
  { ...key, kind: payments, ...here },
  { ...person, kind: paymentsOfOperators, ...apart },
];
const furtherCases: readonly Case[] = [
  { ...key, kind: payouts, ...here },
  { ...key, kind: subscriptions, ...here },
  { ...key, kind: payments, ...apart },
  { ...person, kind: paymentsOfOperators, ...here },
  { ...key, kind: refunds, ...here },
];

describe(`${selections} selections on one socket are answered like each of them alone:`, () => {
  for (const { who, as, kind, where, open } of isLong ? [...cases, ...furtherCases] : cases) {
    test(`${kind.field}, ${who}, ${where}`, async (t) => {
      const wanted = different(kind);
      assert.equal(new Set(wanted).size, selections);
      const expected = await readAlone(as(), kind, wanted);
      assert.deepEqual(await readEvent(t, await open(t), as(), kind, wanted), expected);
    });
  }
});

describe('what one caller has loaded of an event', () => {
  const strangers = () => [
    { who: 'a key of another shop', principal: keyOf(neighbour) },
    { who: 'a live key of the shop', principal: keyOf(shop, 'live') },
    { who: 'a key of another merchant', principal: keyOf(otherMerchant) },
  ];

  for (const { where, open } of [
    { where: 'in one process', open: inProcess },
    { where: 'over HTTP', open: overHttp },
  ]) {
    test(`is not given to strangers who listen meanwhile, ${where}`, async (t) => {
      const supergraph = await open(t);
      const owner = keyOf(shop);
      const others = strangers();
      const [client, ...clients] = await serve(t, supergraph, [
        owner,
        ...others.map(({ principal }) => principal),
      ]);
      assert(client);
      const own = await listen(client, `subscription { paymentCreated { ${whole(payments)} } }`);
      const listening = await Array.fromAsync(clients, (stranger) =>
        listen(stranger, 'subscription { events { id merchantId shopId mode } }'),
      );
      // Each stranger has an event of its own behind the owner's: it must be the first that comes.
      const theirs = others.map(({ principal }, place) =>
        streamed(principal, payments, String(1_001 + place)),
      );
      await publish(streamed(owner, payments, payments.sequence), ...theirs);
      assert.match(JSON.stringify(await own.next()), new RegExp(shop.id('payment')));
      for (const [place, { who, principal }] of others.entries()) {
        const { merchantId, shopId, mode } = principal;
        const events = { id: String(1_001 + place), merchantId, shopId, mode };
        assert.deepEqual(plain(await listening[place]?.next()), { data: { events } }, who);
      }
      // The owner has loaded everything when they ask for the same event by its id.
      for (const { who, principal } of others) {
        const call = { principal, requestId: 'r', isInLane: true };
        const document = rereading(payments, whole(payments));
        const { data } = await supergraph.execute({ document, variables: {} }, call);
        assert.deepEqual(plain(data), { liveEvent: null }, who);
      }
    });
  }

  test('is not given to strangers who name its objects under the same event', async () => {
    const entities = parse(
      'query ($of: [_Any!]!) { _entities(representations: $of) { ... on Payment { id } ... on Refund { id } } }',
    );
    const run = harness.executors.payments.prepare(entities);
    const named = (['payment', 'refund'] as const).map((table) => ({
      __typename: table === 'payment' ? 'Payment' : 'Refund',
      merchantId: shop.id('merchant'),
      id: shop.id(table),
    }));
    const ask = async (principal: Principal): Promise<unknown> => {
      const call = { principal, requestId: 'r', isInLane: true };
      const { data, errors } = await run({ of: named }, call);
      assert.equal(errors, undefined, JSON.stringify(errors));
      return plain(data?.['_entities']);
    };
    assert.deepEqual(await ask(keyOf(shop)), [
      { id: shop.id('payment') },
      { id: shop.id('refund') },
    ]);
    for (const { who, principal } of strangers())
      assert.deepEqual(await ask(principal), [null, null], who);
  });
});
