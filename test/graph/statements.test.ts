import { after, before, describe, test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import { parse, type DocumentNode } from 'graphql';
import { openLiveEvents, storedEvents } from '../../gateway/live/events.ts';
import { openLiveSubscriptions } from '../../gateway/live/subscriptions.ts';
import {
  scopes,
  type KeyPrincipal,
  type Principal,
} from '../../subgraphs/platform/access/principal.ts';
import { eventually } from '../support/eventually.ts';
import { size } from '../support/size.ts';
import { askAnsweredPart } from './answered-part.ts';
import { askEverything, type Depth } from './every-field.ts';
import { plantMany, type Planted } from './planted-rows.ts';
import { isOfCall, log, openGraphHarness } from './harness.ts';

type Harness = Awaited<ReturnType<typeof openGraphHarness>>;

let harness: Harness;
let few: Planted;
let many: Planted;

before(async () => {
  harness = await openGraphHarness();
  few = await plantMany(harness.database.pool, 'few', 5, 0);
  many = await plantMany(harness.database.pool, 'many', 50, 100);
});
after(() => harness?.close());

const keyOf = (plot: Planted): KeyPrincipal => ({
  kind: 'key',
  keyId: '00000000-0000-4000-8000-00000000000a',
  merchantId: plot.id('merchant'),
  shopId: plot.id('shop'),
  mode: 'test',
  scopes,
});
const operatorOf = (plot: Planted): Principal => ({
  kind: 'operator',
  subject: 'p',
  role: 'admin',
  merchantId: plot.id('merchant'),
});

/**
 * Statements of one answer: the least of three, since what runs by itself now and then counts, too.
 */
const statementsOf = async (
  document: DocumentNode,
  variables: Readonly<Record<string, unknown>>,
  principal: Principal,
  rounds = 3,
): Promise<number> => {
  const counts: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const before = harness.counted.texts.length;
    await harness.supergraph.execute(
      { document, variables },
      { principal, requestId: 'r', isInLane: true },
    );
    counts.push(harness.counted.texts.slice(before).filter(isOfCall).length);
  }
  return Math.min(...counts);
};

interface List {
  readonly title: string;
  readonly query: string;
  readonly as: (plot: Planted) => Principal;
  /** Statements that it may cost at most, however long it is. */
  readonly most: number;
}

const payment =
  'id amount shop { name } merchant { name } refunds { id amount } webhookDeliveries { id status attempts }';
const lists: readonly List[] = [
  {
    title: 'payments with shop, merchant, refunds and deliveries',
    query: `{ list: payments { nodes { ${payment} } } }`,
    as: keyOf,
    most: 6,
  },
  {
    title: 'ledger entries with their payment',
    query: `{ list: ledger { nodes { id amount payment { ${payment} } } } }`,
    as: keyOf,
    most: 7,
  },
  {
    title: 'refunds with their payment',
    query: `{ list: refunds { nodes { id payment { ${payment} } } } }`,
    as: keyOf,
    most: 7,
  },
  {
    title: 'subscriptions with token and shop',
    query: '{ list: billingSubscriptions { id token { id shop { name } } shop { name } } }',
    as: keyOf,
    most: 4,
  },
  {
    title: 'subscriptions with token, charges, their payments and refunds',
    query:
      '{ list: billingSubscriptions { id token { id cardMask } charges { period status payment { id refunds { id amount } } } } }',
    as: keyOf,
    most: 5,
  },
];

const lengthOf = (data: unknown): number => {
  const list = typeof data === 'object' && data !== null && 'list' in data ? data.list : null;
  if (Array.isArray(list)) return list.length;
  return typeof list === 'object' && list !== null && 'nodes' in list && Array.isArray(list.nodes)
    ? list.nodes.length
    : -1;
};

describe('a list of 50 costs as many SQL statements as one of 5:', () => {
  for (const { title, query, as, most } of lists) {
    test(title, async (t) => {
      const document = parse(query);
      const lengths = await Promise.all(
        [few, many].map(async (plot) => {
          const { data, errors } = await harness.supergraph.execute(
            { document, variables: {} },
            { principal: as(plot), requestId: 'r', isInLane: true },
          );
          assert.equal(errors, undefined, JSON.stringify(errors));
          return lengthOf(data);
        }),
      );
      assert.deepEqual(lengths, [5, 50]);
      const [short, long] = [
        await statementsOf(document, {}, as(few)),
        await statementsOf(document, {}, as(many)),
      ];
      t.diagnostic(`${long} statements`);
      assert.equal(long, short);
      assert(long > 0 && long <= most, `${long} statements`);
    });
  }

  test('whatever a query can ask for, as a key and as an operator', async (t) => {
    const seen: string[] = [];
    const grown: string[] = [];
    const queries = askEverything(harness.supergraph.apiSchema, 'query', {
      fill: 'required',
      depth: size<Depth>('first place', 'every place'),
      valueOf: (name) => (name === 'mode' ? 'test' : undefined),
    });
    for (const as of [keyOf, operatorOf]) {
      for (const query of queries) {
        // Each asks for its own merchant's things, and for the same part: what the longer list was
        // answered.
        const { document } = await askAnsweredPart(harness.supergraph, query, as(many));
        const short = await statementsOf(document, query.variables, as(few));
        let long = await statementsOf(document, query.variables, as(many));
        // On a busy machine calls that share a statement otherwise miss each other now and then.
        if (long > short) long = await statementsOf(document, query.variables, as(many), 20);
        if (long > 0) seen.push(`${query.root} ${long}`);
        if (long > short) grown.push(`${query.root}: ${short} statements for 5, ${long} for 50`);
      }
    }
    t.diagnostic(seen.join(', '));
    assert.deepEqual(grown, []);
    assert(seen.length >= 12, `only ${seen.length} queries came to the database`);
  });
});

test('creating a payment costs one statement, and so does reading it: what was not paid has no refunds to look for', async () => {
  const principal = keyOf(few);
  const create = parse(
    'mutation { paymentCreate(input: { amount: 100 }) { ... on PaymentCreated { payment { id net refunds { id } } } } }',
  );
  const read = parse('query ($id: ID!) { payment(id: $id) { id net refunds { id } } }');
  const { data } = await harness.supergraph.execute(
    { document: create, variables: {} },
    { principal, requestId: 'r', isInLane: true },
  );
  const [, id] = /"id":"([^"]+)"/.exec(JSON.stringify(data)) ?? [];
  assert(id, JSON.stringify(data));
  assert.equal(await statementsOf(create, {}, principal), 1);
  assert.equal(await statementsOf(read, { id }, principal), 1);
});

let lastSequence = 1_100;

/** Another event of the merchant: what is loaded for one is shared for a while. */
const nextEvent = async () => {
  const sequence = (lastSequence += 1);
  const { rows } = await harness.database.pool.query<{ id: string }>(
    'select id from event where sequence = $2 and merchant_id = $1',
    [many.id('merchant'), sequence],
  );
  const [event] = rows;
  assert(event, 'the merchant has another event');
  return { sequence, subjectId: event.id };
};

const publish = ({ sequence, subjectId }: Awaited<ReturnType<typeof nextEvent>>): Promise<void> =>
  harness.bus.publish('events', {
    behind: String(sequence - 1),
    last: String(sequence),
    events: [
      {
        sequence: String(sequence),
        kind: 'payment.created',
        merchantId: many.id('merchant'),
        shopId: many.id('shop'),
        mode: 'test',
        subjectId,
        at: '2026-05-06T10:00:00.000Z',
        payload: {},
      },
    ],
  });

/**
 * Statements that one event costs when each of these selections is subscribed to and gets the
 * payment's own data. Events before it have all selections planned: a busy machine refuses some of
 * 50 that come at once, and reads the others one after another.
 */
const statementsOfEvent = async (
  t: TestContext,
  selections: readonly string[],
): Promise<number> => {
  const { supergraph, bus, counted } = harness;
  const liveEvents = openLiveEvents({ bus, readEventsAfter: storedEvents(supergraph), log });
  t.after(() => liveEvents.close());
  const live = openLiveSubscriptions({ supergraph, liveEvents, log });
  const readers = selections.map((selection) => {
    const results = live.subscribe(
      { document: parse(`subscription { paymentCreated { ${selection} } }`), variables: {} },
      { principal: keyOf(many), requestId: 'r', isInLane: true },
    );
    assert('next' in results, JSON.stringify(results));
    return results;
  });
  const read = async (event: Awaited<ReturnType<typeof nextEvent>>) => {
    const answers = readers.map((results) => results.next());
    await publish(event);
    return (await Promise.all(answers)).map(({ value }) => value);
  };
  await eventually(
    async () => (await read(await nextEvent())).every((answer) => !answer?.errors),
    'every selection is planned',
  );
  const event = await nextEvent();
  const before = counted.texts.length;
  for (const answer of await read(event)) {
    assert.equal(answer?.errors, undefined, JSON.stringify(answer?.errors));
    assert.match(JSON.stringify(answer?.data), new RegExp(event.subjectId));
  }
  const cost = counted.texts.slice(before).filter(isOfCall).length;
  for (const results of readers) await results.return?.();
  return cost;
};

describe('an event of the stream', () => {
  const whole = `id payment { ${payment} }`;

  test('is read again once for all equal clients: 40 cost as many statements as one', async (t) => {
    const one = await statementsOfEvent(t, [whole]);
    t.diagnostic(`${one} statements`);
    assert(one > 0 && one <= 7);
    const equal = Array.from({ length: 40 }, () => whole);
    assert.equal(await statementsOfEvent(t, equal), one);
  });
});
