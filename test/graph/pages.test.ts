/** Every list of the graph is read in both directions, row for row. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { getNamedType, isObjectType, isScalarType, parse } from 'graphql';
import { scopes, type Principal } from '../../subgraphs/platform/access/principal.ts';
import { openGraphHarness } from './harness.ts';
import { plantMany, type Planted } from './planted-rows.ts';

let harness: Awaited<ReturnType<typeof openGraphHarness>>;
let plot: Planted;

before(async () => {
  harness = await openGraphHarness();
  plot = await plantMany(harness.database.pool, 'listed', 7, 0);
});
after(() => harness?.close());

const operator = (): Principal => ({
  kind: 'operator',
  subject: 'p',
  role: 'admin',
  merchantId: plot.id('merchant'),
});
const key = (): Principal => ({
  kind: 'key',
  keyId: '00000000-0000-4000-8000-00000000000a',
  merchantId: plot.id('merchant'),
  shopId: plot.id('shop'),
  mode: 'test',
  scopes,
});

/** The fields of the schema that give pages. */
const connections = () =>
  Object.values(harness.supergraph.apiSchema.getTypeMap())
    .filter(isObjectType)
    .flatMap((type) =>
      Object.values(type.getFields())
        .filter((field) => getNamedType(field.type).name.endsWith('Connection'))
        .map((field) => ({ type, field })),
    );

test('every list takes a size and a cursor in both directions', (t) => {
  const lists = connections();
  t.diagnostic(`${lists.length} lists`);
  assert.ok(lists.length >= 15, `saw only ${lists.length} lists`);
  for (const { type, field } of lists) {
    const args = new Map(field.args.map((argument) => [argument.name, String(argument.type)]));
    assert.deepEqual(
      ['first', 'after', 'last', 'before'].map((name) => args.get(name)),
      ['Int', 'String', 'Int', 'String'],
      `${type.name}.${field.name}`,
    );
  }
});

interface Read {
  readonly nodes: readonly unknown[];
  readonly edges: readonly { readonly cursor: string; readonly node: unknown }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly endCursor: string | null;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
  };
}

/** Days around now, which a search must name. */
const days = () => {
  const today = Temporal.Now.plainDateISO('UTC');
  return { from: String(today.subtract({ days: 1 })), to: String(today.add({ days: 1 })) };
};

/** Reads pages of a list of the query type with the scalars of its rows. */
const readerOf = ({ field }: ReturnType<typeof connections>[number], principal: Principal) => {
  const connection = getNamedType(field.type);
  const node = isObjectType(connection) ? connection.getFields()['nodes']?.type : undefined;
  const row = node && getNamedType(node);
  const scalars = isObjectType(row)
    ? Object.values(row.getFields()).filter(
        ({ args, type }) => args.length === 0 && isScalarType(getNamedType(type)),
      )
    : [];
  const search = field.args.find(({ name }) => name === 'search');
  const head = search ? `, $search: ${String(search.type)}` : '';
  const selected = `{ __typename ${scalars.map(({ name }) => name).join(' ')} }`;
  const document = parse(`query ($first: Int, $after: String, $last: Int, $before: String${head}) {
    list: ${field.name}(first: $first, after: $after, last: $last, before: $before ${search ? ', search: $search' : ''}) {
      nodes ${selected}
      edges { cursor node ${selected} }
      pageInfo { hasNextPage endCursor hasPreviousPage startCursor } } }`);
  return async (page: object): Promise<Read | string> => {
    const variables = { search: days(), ...page };
    const { data, errors } = await harness.supergraph.execute(
      { document, variables },
      { principal, requestId: 'r', isInLane: true },
    );
    if (errors) return String(errors[0]?.extensions['code']);
    const { list }: { list: Read } = JSON.parse(JSON.stringify(data));
    return list;
  };
};

const pageOf = (read: Read | string): Read => (typeof read === 'string' ? assert.fail(read) : read);

describe('rows of equal moments are the same there and back, in pages of two', () => {
  for (const [who, principal] of Object.entries({ 'a key': key, 'an operator': operator }))
    test(`to ${who}`, async (t) => {
      const walked: string[] = [];
      for (const list of connections().filter(({ type }) => type.name === 'Query')) {
        const read = readerOf(list, principal());
        const whole = await read({});
        // The list is not for this caller.
        if (typeof whole === 'string') continue;
        const there: unknown[] = [];
        let page = pageOf(await read({ first: 2 }));
        for (there.push(...page.nodes); page.pageInfo.hasNextPage; there.push(...page.nodes))
          page = pageOf(await read({ first: 2, after: page.pageInfo.endCursor }));
        assert.deepEqual(there, whole.nodes, list.field.name);
        page = pageOf(await read({ last: 2 }));
        const back = [...page.nodes];
        while (page.pageInfo.hasPreviousPage) {
          page = pageOf(await read({ last: 2, before: page.pageInfo.startCursor }));
          assert.equal(page.pageInfo.hasNextPage, true);
          back.unshift(...page.nodes);
        }
        assert.deepEqual(back, whole.nodes, list.field.name);
        for (const read of [whole, page])
          assert.deepEqual(
            read.edges.map(({ node }) => node),
            read.nodes,
          );
        // An edge's cursor leads on from its row, wherever on the page that stands.
        for (const [at, { cursor }] of whole.edges.entries()) {
          const { nodes } = pageOf(await read({ first: 1, after: cursor }));
          assert.deepEqual(nodes, whole.nodes.slice(at + 1, at + 2), list.field.name);
        }
        if (whole.nodes.length > 2) walked.push(list.field.name);
      }
      t.diagnostic(walked.join(', '));
      assert.ok(walked.length >= 4, `walked only ${walked.join(', ')}`);
    });
});
