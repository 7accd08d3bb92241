/**
 * Aliases that are called like the fields of an entity's key: they say nothing of which entity is
 * meant, on whatever path the document runs.
 */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { parse, validate, visit, type DocumentNode, type ExecutionResult } from 'graphql';
import {
  scopes,
  type KeyPrincipal,
  type Principal,
} from '../../subgraphs/platform/access/principal.ts';
import { merchantTables, plant, type Planted } from './planted-rows.ts';
import { openGraphHarness } from './harness.ts';

type Harness = Awaited<ReturnType<typeof openGraphHarness>>;

let harness: Harness;
let own: Planted;
let otherShop: Planted;
let otherMode: Planted;

before(async () => {
  harness = await openGraphHarness();
  const { pool } = harness.database;
  const [merchant, shop] = [randomUUID(), randomUUID()];
  own = await plant(pool, 'own', { merchant, shop });
  const tables = await merchantTables(pool);
  const beside = (held: readonly string[]): readonly string[] =>
    tables.filter((table) => !held.includes(table));
  otherShop = await plant(
    pool,
    'other-shop',
    { merchant, shop: randomUUID() },
    beside(['merchant', 'books_check']),
  );
  const ofOperations = [
    'payment',
    'refund',
    'payout',
    'token',
    'subscription',
    'event',
    'webhook_delivery',
    'webhook_attempt',
  ];
  otherMode = await plant(
    pool,
    'other-mode',
    { merchant, shop },
    beside(tables.filter((table) => !ofOperations.includes(table))),
  );
  for (const table of ['payment', 'refund', 'payout', 'token', 'subscription', 'event']) {
    await pool.query(`update ${table} set mode = 'live' where merchant_id = $1 and id = $2`, [
      merchant,
      otherMode.id(table),
    ]);
  }
  await pool.query('update event set sequence = position');
});
after(() => harness?.close());

const key = (): KeyPrincipal => ({
  kind: 'key',
  keyId: '00000000-0000-4000-8000-00000000000a',
  merchantId: own.id('merchant'),
  shopId: own.id('shop'),
  mode: 'test',
  scopes,
});

/**
 * Runs it three times: the third answer comes from the compiled document, where it can be compiled,
 * the first from the stock executor.
 */
const onEachPath = async (
  document: DocumentNode,
  principal: Principal,
): Promise<ExecutionResult> => {
  assert.deepEqual(validate(harness.supergraph.apiSchema, document), []);
  const run = () =>
    harness.supergraph.execute(
      { document, variables: {} },
      { principal, requestId: 'r', isInLane: true },
    );
  const [stock, again, compiled] = [await run(), await run(), await run()];
  const received = ({ data, errors }: ExecutionResult) =>
    JSON.stringify([data, errors?.map(({ message, path }) => [message, path])]);
  assert.equal(received(again), received(stock));
  assert.equal(received(compiled), received(stock));
  return stock;
};

/**
 * The document with other names in place of those that `aliases` lists: what it should answer,
 * under these names.
 */
const underOtherNames = (document: DocumentNode): DocumentNode =>
  visit(document, {
    Field: (field) =>
      field.alias && field.alias.value !== field.name.value
        ? { ...field, alias: { ...field.alias, value: `a_${field.alias.value}` } }
        : undefined,
  });

const deliveries = 'webhookDeliveries { url status attemptLog { error responseHead } }';
const documents: readonly string[] = [
  `{ payment(id: "OWN") { id: orderId ${deliveries} } }`,
  `{ payment(id: "OWN") { merchantId: orderId ${deliveries} } }`,
  `{ payment(id: "OWN") { id: shopId merchantId: id ${deliveries} shop { id: name merchantId: terminalName name } } }`,
  `{ payment(id: "OWN") { __typename: orderId ${deliveries} } }`,
  `{ payment(id: "OWN") { __typename: id id: __typename merchant { id: name name } shop { __typename: name terminalName } } }`,
  `{ id: payment(id: "OWN") { id: orderId metadata ...Rest } } fragment Rest on Payment { merchantId: shopName ${deliveries} }`,
  `{ __typename: payment(id: "OWN") { id: publicId refunds { id: paymentId payment { id: orderId ${deliveries} } } } }`,
  `{ payments { nodes { id: orderId shop { id: name apiKeys { nodes { id } } } } id: pageInfo { merchantId: hasNextPage } } }`,
  `{ ledger { nodes { id: description payment { id: orderId merchantId: shopId ${deliveries} } payout { id: bankRef amount } } } }`,
  `{ billingSubscriptions { id: customerRef token { id: customerRef bindingPayment { id: orderId amount } } shop { id: name name } } }`,
  `{ payment(id: "OWN") { own_id: amount own__merchantId: amount id: orderId ${deliveries} } }`,
  `query One { payment(id: "OWN") { id: orderId ${deliveries} } }`,
];

describe('an alias that is called like a key’s field', () => {
  for (const text of documents) {
    test(text, async (t) => {
      const document = parse(text.replaceAll('OWN', own.id('payment')));
      const [asked, expected] = [
        await onEachPath(document, key()),
        await onEachPath(underOtherNames(document), key()),
      ];
      assert.deepEqual(
        JSON.stringify(asked.data),
        JSON.stringify(expected.data)?.replaceAll('"a_', '"'),
      );
      const errorsOf = ({ errors }: ExecutionResult) =>
        errors?.map(({ message, path }) => [
          message,
          path?.map((step) => String(step).replace(/^a_/, '')),
        ]);
      assert.deepEqual(errorsOf(asked), errorsOf(expected));
      t.diagnostic(JSON.stringify(asked.data)?.slice(0, 300) ?? 'null');
      if (!asked.errors) assert.match(JSON.stringify(asked.data), /own-/);
    });
  }

  test('makes no key of what it stands for: neither another shop’s nor another mode’s deliveries', async () => {
    const { pool } = harness.database;
    const victims = [otherShop, otherMode];
    for (const victim of victims) {
      await pool.query(
        'update payment set order_id = $3, description = $3 where merchant_id = $1 and id = $2',
        [own.id('merchant'), own.id('payment'), victim.id('payment')],
      );
      const conditional =
        '... @include(if: true) { id: orderId } ... @skip(if: true) { id: orderId }';
      for (const alias of [
        'id: orderId',
        'id: description',
        'id: orderId @include(if: true)',
        conditional,
      ]) {
        const { data, errors } = await onEachPath(
          parse(`{ payment(id: "${own.id('payment')}") { ${alias} ${deliveries} } }`),
          key(),
        );
        assert.equal(errors, undefined, JSON.stringify(errors));
        assert.match(JSON.stringify(data), new RegExp(`"id":"${victim.id('payment')}"`));
        assert.match(JSON.stringify(data), /own-webhook_delivery-url/);
        assert.doesNotMatch(JSON.stringify(data), new RegExp(`${victim.name}-`));
      }
    }
  });

  test('the variable that holds keys is refused as a client’s own', async () => {
    const document = parse(
      'query ($representations: ID!) { payment(id: $representations) { webhookDeliveries { id } } }',
    );
    const variables = { representations: own.id('payment') };
    for (const _ of [1, 2, 3]) {
      const { errors } = await harness.supergraph.execute(
        { document, variables },
        { principal: key(), requestId: 'r', isInLane: true },
      );
      assert.deepEqual(
        errors?.map(({ extensions }) => extensions['code']),
        ['bad_request'],
      );
    }
  });
});

describe('without the scope that the same data need by REST a key', () => {
  const codesOf = async (text: string, principal: Principal): Promise<readonly unknown[]> => {
    const { errors } = await onEachPath(
      parse(text.replaceAll('OWN', own.id('payment'))),
      principal,
    );
    return (errors ?? []).map(({ extensions }) => extensions['code']);
  };
  const bare = (): KeyPrincipal => ({ ...key(), scopes: [] });

  test('reads a payment by its id, and none of its deliveries', async () => {
    assert.deepEqual(
      await codesOf('{ payment(id: "OWN") { id refunds { id } shop { name } } }', bare()),
      [],
    );
    assert.deepEqual(
      await codesOf('{ payment(id: "OWN") { id webhookDeliveries { id } } }', bare()),
      ['scope_required'],
    );
    assert.deepEqual(
      await codesOf('{ payment(id: "OWN") { id webhookDeliveries { id } } }', {
        ...key(),
        scopes: ['api:reports:read'],
      }),
      [],
    );
  });

  test('reads no subscription by way of an event about it', async () => {
    const { pool } = harness.database;
    await pool.query(
      `update event set stream_kind = 'subscription.status_changed', subject_id = $3 where merchant_id = $1 and id = $2`,
      [own.id('merchant'), own.id('event'), own.id('subscription')],
    );
    const { rows } = await pool.query<{ sequence: string }>(
      'select sequence::text from event where id = $1',
      [own.id('event')],
    );
    const text = `{ liveEvent(id: "${rows[0]?.sequence}") { ... on SubscriptionStatusChangedEvent { subscription { customerRef } } } }`;
    const answerTo = async (principal: Principal): Promise<string> =>
      JSON.stringify((await onEachPath(parse(text), principal)).data);
    assert.match(await answerTo(key()), /own-subscription-customer_ref/);
    assert.equal(await answerTo({ ...key(), scopes: ['api:reports:read'] }), '{"liveEvent":null}');
  });
});

describe('an entity asked for by its key, as a gateway asks a subgraph, is null for a key', () => {
  const entities = parse(
    'query ($keys: [_Any!]!) { _entities(representations: $keys) { __typename } }',
  );
  const rows = [
    ['payments', 'Payment', 'payment'],
    ['payments', 'Refund', 'refund'],
    ['payouts', 'Payout', 'payout'],
    ['recurring', 'Token', 'token'],
    ['recurring', 'BillingSubscription', 'subscription'],
    ['merchants', 'Payment', 'payment'],
    ['merchants', 'WebhookDelivery', 'webhook_delivery'],
    ['merchants', 'WebhookEndpoint', 'webhook_endpoint'],
  ] as const;
  const ask = async (
    [subgraph, type, table]: (typeof rows)[number],
    plot: Planted,
    principal: Principal,
  ): Promise<boolean> => {
    const keys = [{ __typename: type, merchantId: plot.id('merchant'), id: plot.id(table) }];
    const { data } = await harness.executors[subgraph].prepare(entities)(
      { keys },
      { principal, requestId: 'r', isInLane: true },
    );
    return JSON.stringify(data) !== '{"_entities":[null]}';
  };
  /** What is the merchant's, whatever the shop; and what no key reads by itself. */
  const ofMerchant = ['Token', 'BillingSubscription'];
  const forPeople = ['WebhookDelivery', 'WebhookEndpoint'];

  for (const row of rows) {
    const [subgraph, type] = row;
    test(`${subgraph}: ${type}`, async () => {
      assert.equal(
        await ask(row, own, {
          kind: 'operator',
          subject: 'o',
          role: 'viewer',
          merchantId: own.id('merchant'),
        }),
        true,
      );
      assert.equal(await ask(row, own, key()), !forPeople.includes(type), 'its own');
      assert.equal(await ask(row, otherShop, key()), ofMerchant.includes(type), 'of another shop');
      assert.equal(await ask(row, otherMode, key()), false, 'of another mode');
      assert.equal(
        await ask(row, own, { ...key(), scopes: [] }),
        ![...ofMerchant, ...forPeople].includes(type),
        'without scopes',
      );
      assert.equal(
        await ask(row, own, {
          kind: 'buyer',
          merchantId: own.id('merchant'),
          paymentId: randomUUID(),
        }),
        false,
        'of another buyer',
      );
    });
  }
});
