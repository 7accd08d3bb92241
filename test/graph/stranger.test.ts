import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { parse, type ExecutionResult } from 'graphql';
import { subgraphNames, readSubgraphSdl } from '../../schema/sources.ts';
import { resolvableEntities } from '../../subgraphs/platform/graph/entities.ts';
import {
  scopes,
  type KeyPrincipal,
  type Principal,
} from '../../subgraphs/platform/access/principal.ts';
import { size } from '../support/size.ts';
import { askAnsweredPart } from './answered-part.ts';
import {
  allFields,
  askEverything,
  askInEveryFill,
  type Depth,
  type EveryField,
  type ValueOf,
} from './every-field.ts';
import { merchantTables, pictureOf, plant, type Planted } from './planted-rows.ts';
import { isOfCall, openGraphHarness } from './harness.ts';
import { watchLane } from './watch-lane.ts';
import { eventually } from '../support/eventually.ts';

type Harness = Awaited<ReturnType<typeof openGraphHarness>>;

let harness: Harness;
let victim: Planted;
let neighbour: Planted;
let stranger: Planted;
/** Fills arguments with the first merchant's ids. */
let valueOf: ValueOf;

before(async () => {
  harness = await openGraphHarness();
  const { pool } = harness.database;
  const merchant = randomUUID();
  victim = await plant(pool, 'victim', { merchant, shop: randomUUID() });
  neighbour = await plant(pool, 'neighbour', { merchant, shop: randomUUID() }, ['shop', 'api_key']);
  stranger = await plant(pool, 'stranger', { merchant: randomUUID(), shop: randomUUID() });
  await pool.query('update event set sequence = position');
  valueOf = await idsOfVictim();
});
after(() => harness?.close());

const keyOf = (plot: Planted): KeyPrincipal => ({
  kind: 'key',
  keyId: plot.id('api_key'),
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
const buyerOf = (plot: Planted): Principal => ({
  kind: 'buyer',
  merchantId: plot.id('merchant'),
  paymentId: plot.id('payment'),
});

/**
 * What belongs to the merchant and not to one shop, by contract: tokens, subscriptions, the
 * balance.
 */
const ofTheMerchant: ReadonlySet<string> = new Set([
  'merchant',
  'shop',
  'terminal',
  'token',
  'subscription',
  'subscription_charge',
  'charged_payment',
  'balance',
  'balance_delta',
  'rate',
]);

/** What is of the shop or its merchant in both modes. */
const ofBothModes: ReadonlySet<string> = new Set([
  'merchant',
  'shop',
  'terminal',
  'rate',
  'api_key',
]);

interface Stranger {
  readonly who: string;
  readonly principal: () => Principal;
  /** Whether it may see what is the merchant's and no shop's. */
  readonly sameMerchant?: true;
}

const strangers: readonly Stranger[] = [
  { who: "another merchant's key", principal: () => keyOf(stranger) },
  {
    who: 'a key of another shop of the merchant',
    principal: () => keyOf(neighbour),
    sameMerchant: true,
  },
  { who: 'an operator narrowed to another merchant', principal: () => operatorOf(stranger) },
  { who: "a buyer on another merchant's page", principal: () => buyerOf(stranger) },
];

const tableOfType: Readonly<Record<string, string>> = {
  BillingSubscription: 'subscription',
  LiveEvent: 'event',
  Shop: 'shop',
  ApiKey: 'api_key',
};
const tableOf = (type: string): string =>
  tableOfType[type] ?? type.replace(/[a-z](?=[A-Z])/g, '$&_').toLowerCase();

/** The first merchant's ids, wherever an argument asks for one. */
const victimsIds =
  (sequence: string, digest: string): ValueOf =>
  (argument, asked) => {
    switch (argument) {
      case 'merchantId':
        return victim.id('merchant');
      case 'id':
        return asked.name === 'LiveEvent'
          ? sequence
          : victim.id(
              tableOf(asked.name).replace(
                /_(change|delete|create|cancel|charge|resend)_?(result)?$/,
                '',
              ),
            );
      case 'after':
        return asked.name === 'LiveEvent' ? String(BigInt(sequence) - 1n) : undefined;
      case 'digest':
        return digest;
      case 'endpointId':
        return victim.id('webhook_endpoint');
      case 'kinds':
      case 'from':
      case 'to':
        return undefined;
    }
    if (argument.endsWith('Id'))
      return victim.id(
        argument.replace(/Id$/, '').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      );
    return undefined;
  };

const idsOfVictim = async (): Promise<ValueOf> => {
  const { rows } = await harness.database.pool.query<{ sequence: string; digest: string }>(
    'select event.sequence::text, api_key.digest from event join api_key using (merchant_id, shop_id) where merchant_id = $1 and shop_id = $2',
    [victim.id('merchant'), victim.id('shop')],
  );
  const [row] = rows;
  assert(row, 'the first merchant has an event and a key');
  return victimsIds(row.sequence, row.digest);
};

const ask = async (query: EveryField, principal: Principal): Promise<readonly ExecutionResult[]> =>
  (await askAnsweredPart(harness.supergraph, query, principal)).answers;

const askOnce = (
  { document, variables }: EveryField,
  principal: Principal,
): Promise<ExecutionResult> =>
  harness.supergraph.execute(
    { document, variables },
    { principal, requestId: 'r', isInLane: true },
  );

/** Tables whose marks stand in the answer. */
const tablesIn = (text: string, marks: ReadonlyMap<string, string>): readonly string[] => [
  ...new Set(Array.from(marks).flatMap(([mark, table]) => (text.includes(mark) ? [table] : []))),
];

/**
 * What of the first merchant the answer gives away. A refusal may not repeat it either, save what
 * the caller has sent itself.
 */
const leaksIn = (
  answers: readonly ExecutionResult[],
  { sameMerchant }: Pick<Stranger, 'sameMerchant'>,
): readonly string[] => {
  const own = ([mark, table]: readonly [string, string]): boolean =>
    sameMerchant === true && (ofTheMerchant.has(table) || mark === victim.id('merchant'));
  return leaksBut(answers, own);
};

/** What of the first merchant the answers give away but what the caller may see. */
const leaksBut = (
  answers: readonly ExecutionResult[],
  own: (mark: readonly [string, string]) => boolean,
): readonly string[] => {
  const secret = new Map([...victim.marks].filter((mark) => !own(mark)));
  return tablesIn(
    JSON.stringify(
      answers.map(({ data, errors }) => [data, errors?.map(({ message }) => message)]),
    ),
    secret,
  );
};

/**
 * Asks each subgraph for each of its entities by the key of the first merchant's; gives the types
 * that came.
 */
const askByKey = async (
  principal: Principal,
): Promise<{ readonly asked: number; readonly found: readonly string[] }> => {
  const document = parse(
    'query ($keys: [_Any!]!) { _entities(representations: $keys) { __typename } }',
  );
  const found: string[] = [];
  let asked = 0;
  for (const name of subgraphNames) {
    for (const type of resolvableEntities(readSubgraphSdl(name))) {
      const keys = [
        { __typename: type, merchantId: victim.id('merchant'), id: victim.id(tableOf(type)) },
      ];
      const { data } = await harness.executors[name].prepare(document)(
        { keys },
        { principal, requestId: 'r', isInLane: true },
      );
      asked += 1;
      if (JSON.stringify(data) !== '{"_entities":[null]}') found.push(type);
    }
  }
  return { asked, found };
};

const depth = size<Depth>('first place', 'every place');

const written = new Map<'query' | 'mutation', readonly EveryField[]>();

/** Written once for all who ask: the gateway plans and compiles a document when it first comes. */
const every = (operation: 'query' | 'mutation'): readonly EveryField[] => {
  const { apiSchema } = harness.supergraph;
  const documents =
    written.get(operation) ?? askInEveryFill(apiSchema, operation, { depth, valueOf });
  written.set(operation, documents);
  return documents;
};

describe('the walk over every field', () => {
  test('asks for every field of every type', (t) => {
    const { apiSchema } = harness.supergraph;
    const asked = (['query', 'mutation', 'subscription'] as const).flatMap((operation) =>
      askEverything(apiSchema, operation, { fill: 'all', depth, valueOf }),
    );
    const covered = new Set(asked.flatMap(({ asks }) => [...asks]));
    const all = allFields(apiSchema);
    t.diagnostic(`${covered.size} of ${all.size} fields by ${asked.length} root fields`);
    assert.deepEqual(
      [...all].filter((field) => !covered.has(field)),
      [],
    );
    assert(all.size > 250, `only ${all.size} fields`);
  });

  test('finds what was planted when the merchant itself asks, by one statement of the lane at a time', async (t) => {
    const seen = new Set<string>();
    for (const principal of [keyOf(victim), operatorOf(victim), buyerOf(victim)]) {
      const watched = watchLane(harness.database.pool);
      for (const query of every('query')) {
        const data = (await ask(query, principal)).map((answer) => answer.data);
        for (const table of tablesIn(JSON.stringify(data), victim.marks)) seen.add(table);
      }
      watched.end();
      assert.deepEqual(
        // Whether the tables are sharded is asked once, by the first call.
        watched.outside.filter((text) => isOfCall(text) && !text.includes("'citus'")),
        [],
      );
      assert.equal(watched.most, 1);
      t.diagnostic(`${principal.kind}: ${watched.count} statements`);
      assert.ok(watched.count > 20);
    }
    t.diagnostic(
      `planted in ${(await merchantTables(harness.database.pool)).length} tables, seen of ${[...seen].toSorted().join(', ')}`,
    );
    const least = [
      'merchant',
      'shop',
      'payment',
      'refund',
      'payout',
      'token',
      'subscription',
      'event',
      'webhook_delivery',
      'posting',
      'balance',
    ];
    assert.deepEqual(
      least.filter((table) => !seen.has(table)),
      [],
    );
    // The buyer's look at the page is noted in the background: it must not count as a change later.
    await eventually(async () => {
      const { rows } = await harness.database.pool.query(
        'select from page_opening where payment_id = $1',
        [victim.id('payment')],
      );
      return rows.length > 1;
    }, 'the opening of the page');
  });
});

for (const { who, principal, ...reach } of strangers) {
  describe(who, () => {
    test('reads nothing of the first merchant by any query', async (t) => {
      const queries = every('query');
      const leaks: string[] = [];
      for (const query of queries) {
        for (const table of leaksIn(await ask(query, principal()), reach))
          leaks.push(`${query.root} gives ${table}`);
      }
      t.diagnostic(`${queries.length} documents`);
      assert.deepEqual([...new Set(leaks)], []);
    });

    test('neither reads nor changes anything of it by any mutation', async (t) => {
      const { pool } = harness.database;
      const isMerchants = (table: string, row: Readonly<Record<string, unknown>>): boolean =>
        ofTheMerchant.has(table) ||
        [row['stream_kind'], row['webhook_event']].some((name) =>
          /^(?:token|subscription)\./.test(String(name)),
        );
      const isVictims = (table: string, row: Readonly<Record<string, unknown>>): boolean =>
        !reach.sameMerchant ||
        (!isMerchants(table, row) && (row['shop_id'] ?? victim.id('shop')) === victim.id('shop'));
      const before = await pictureOf(pool, victim.id('merchant'), isVictims);
      const mutations = every('mutation');
      const wrong: string[] = [];
      for (const mutation of mutations) {
        for (const table of leaksIn([await askOnce(mutation, principal())], reach))
          wrong.push(`${mutation.root} gives ${table}`);
      }
      t.diagnostic(`${mutations.length} documents`);
      assert.deepEqual([...new Set(wrong)], []);
      assert.equal(
        await pictureOf(pool, victim.id('merchant'), isVictims),
        before,
        'something was changed',
      );
    });

    test('gets no entity by its key', async (t) => {
      const { asked, found } = await askByKey(principal());
      t.diagnostic(`${asked} entities`);
      assert(asked > 3);
      assert.deepEqual(
        found.filter((type) => !reach.sameMerchant || !ofTheMerchant.has(tableOf(type))),
        [],
      );
    });
  });
}

test('a key reads no other shop of its merchant, nor what protects one that it meets', async () => {
  const askAs = async (text: string): Promise<ExecutionResult> =>
    harness.supergraph.execute(
      { document: parse(text), variables: {} },
      { principal: keyOf(neighbour), requestId: 'r', isInLane: true },
    );
  const { data } = await askAs(
    `{ merchant(id: "${victim.id('merchant')}") { shops { id requireSignature receiptsRequired } } }`,
  );
  const shops = JSON.stringify(data);
  assert.ok(shops.includes(neighbour.id('shop')) && !shops.includes(victim.id('shop')), shops);
  for (const field of ['requireSignature', 'requireBoundSignature', 'receiptsRequired']) {
    const { errors } = await askAs(`{ billingSubscriptions { shop { id ${field} } } }`);
    assert.deepEqual(
      errors?.map(({ extensions }) => extensions['code']),
      ['scope_required'],
      field,
    );
  }
});

describe('a test key of the same shop, whose rows are live', () => {
  const inModes = [
    'payment',
    'payment_link',
    'receipt',
    'refund',
    'payout',
    'token',
    'subscription',
    'event',
    'api_request',
    'posting',
    'balance',
    'balance_delta',
  ];
  before(async () => {
    for (const table of inModes) {
      // Rows of the books are never changed, but here they should have been made otherwise.
      await harness.database.pool.query(
        `begin; set local session_replication_role = replica; update ${table} set mode = 'live' where merchant_id = '${victim.id('merchant')}'; commit`,
      );
    }
  });
  const own = ([, table]: readonly [string, string]): boolean => ofBothModes.has(table);

  test('reads nothing of them by any query', async (t) => {
    const leaks: string[] = [];
    for (const query of every('query')) {
      for (const table of leaksBut(await ask(query, keyOf(victim)), own))
        leaks.push(`${query.root} gives ${table}`);
    }
    assert.deepEqual([...new Set(leaks)], []);
    t.diagnostic(`${every('query').length} documents`);
  });

  test('gets no entity by its key', async () => {
    const { asked, found } = await askByKey(keyOf(victim));
    assert(asked > 3);
    assert.deepEqual(
      found.filter((type) => !ofBothModes.has(tableOf(type))),
      [],
    );
  });
});
