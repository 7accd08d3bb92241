/** `GET /v1/public/terminal`: a field of the graph, and the route before it. */
import { ahead, all, behind, create, generate, instead, load, tests, type Walk } from './walk.ts';

const routes = tests('test/contract/routes.test.ts');
const ownTest = tests('test/api/terminal.test.ts');

export const addRoute: Walk = {
  section: 'Add a route',
  steps: [
    {
      named: 'schema/<subgraph>.graphql',
      path: 'schema/merchants.graphql',
      edit: all(
        ahead(
          '"The effective rate of a method. Contract: Rate entry."\n',
          `"The terminal of a shop."
type Terminal {
  "Its id."
  id: ID!
  "Its name."
  name: String!
}

`,
        ),
        ahead(
          '  "Rates of the key\'s shop."\n',
          '  "The terminal of the key\'s shop."\n  terminal: Terminal!\n',
        ),
      ),
      missedBy: generate,
    },
    {
      named: 'schema/operations/<subgraph>.graphql',
      path: 'schema/operations/merchants.graphql',
      edit: ahead(
        'query ListRates {\n',
        'query GetTerminal {\n  terminal {\n    id\n    name\n  }\n}\n\n',
      ),
      missedBy: routes,
    },
    {
      named: 'schema/openapi.yaml',
      path: 'schema/openapi.yaml',
      edit: ahead(
        '  /v1/public/ledger:\n',
        `  /v1/public/terminal:
    get:
      operationId: GetTerminal
      tags: [Balance]
      summary: The terminal of the key's shop
      description: The id and the name of the terminal.
      parameters:
        - $ref: '#/components/parameters/Signature'
      responses:
        '200':
          description: The terminal.
          headers:
            X-Request-Id: { $ref: '#/components/headers/RequestId' }
            X-Api-Version: { $ref: '#/components/headers/ApiVersion' }
            RateLimit-Limit: { $ref: '#/components/headers/RateLimitLimit' }
            RateLimit-Remaining: { $ref: '#/components/headers/RateLimitRemaining' }
            RateLimit-Reset: { $ref: '#/components/headers/RateLimitReset' }
          content:
            application/json:
              schema:
                type: object
                required: [terminal_id, terminal_name]
                properties:
                  terminal_id: { type: string, format: uuid }
                  terminal_name: { type: string }
        '400': { $ref: '#/components/responses/BadRequest' }
        '401': { $ref: '#/components/responses/Unauthorized' }
        '403': { $ref: '#/components/responses/Forbidden' }
        '429': { $ref: '#/components/responses/TooManyRequests' }
        '500': { $ref: '#/components/responses/InternalError' }
        '503': { $ref: '#/components/responses/Unavailable' }
`,
      ),
      generated: true,
      missedBy: routes,
    },
    {
      named: 'subgraphs/kernel/service/access/access.ts',
      path: 'subgraphs/kernel/service/access/access.ts',
      edit: ahead("  'Query.rates': { key: reports },\n", "  'Query.terminal': { key: free },\n"),
      missedBy: tests('test/tidy/schema.test.ts'),
    },
    {
      named: 'subgraphs/kernel/service/free-texts.ts',
      path: 'subgraphs/kernel/service/free-texts.ts',
      edit: ahead("  ShopBalance: ['shopName'],\n", "  Terminal: ['name'],\n"),
      missedBy: tests('test/security/free-texts.test.ts', '^every text of the graph'),
    },
    {
      named: 'subgraphs/<subgraph>/<feature>/<verb>.ts',
      path: 'subgraphs/merchants/shops/read-terminal.ts',
      edit: create(`/** Reads the terminal of a shop. Contract GET /v1/public/terminal. */
import type { Runner } from '../../kernel/database/statement.ts';
import { loadShops } from '../find-merchants.ts';

export const readTerminal = async (
  runner: Runner,
  { merchantId, shopId }: { readonly merchantId: string; readonly shopId: string },
): Promise<{ readonly id: string; readonly name: string }> => {
  const [shop] = await loadShops(runner, [{ merchantId, id: shopId }]);
  if (!shop) throw new Error(\`a key names a shop that does not exist: \${shopId}\`);
  return { id: shop.terminalId, name: shop.terminalName };
};
`),
      missedBy: load('subgraphs/merchants/resolvers.ts'),
    },
    {
      named: 'subgraphs/<subgraph>/resolvers.ts',
      path: 'subgraphs/merchants/resolvers.ts',
      edit: all(
        ahead(
          "import { bankAccountMutations, bankAccountQueries } from './shops/set-bank-account.ts';\n",
          "import { readTerminal } from './shops/read-terminal.ts';\n",
        ),
        ahead(
          '    rates: (_, __, { principal, now })',
          '    terminal: (_, __, { principal }) => readTerminal(pool, keyOf(principal)),\n',
        ),
      ),
      missedBy: ownTest,
    },
    {
      named: 'schema/wire.ts',
      path: 'schema/wire.ts',
      edit: all(
        behind('  GetSubscriptionScheduleQuery,\n', '  GetTerminalQuery,\n'),
        ahead(
          '/** Contract: SBP bank entry. */\n',
          `/** Contract: GET /v1/public/terminal. */
export const terminalJson = (terminal: GetTerminalQuery['terminal']) => ({
  terminal_id: terminal.id,
  terminal_name: terminal.name,
});

`,
        ),
      ),
      missedBy: routes,
    },
    {
      named: 'rest-facade/routes.ts',
      path: 'rest-facade/routes.ts',
      edit: all(
        behind('  subscriptionJson,\n', '  terminalJson,\n'),
        ahead(
          "  row<'ListLedger', Empty,",
          `  row<'GetTerminal'>({
    method: 'GET',
    path: '/v1/public/terminal',
    operation: 'GetTerminal',
    field: 'Query.terminal',
    variables: () => ({}),
    answer: ({ terminal }) => ok(terminalJson(terminal)),
  }),
`,
        ),
      ),
      missedBy: routes,
    },
    {
      named: 'sdk/src/client.ts',
      path: 'sdk/src/client.ts',
      edit: behind(
        "  rates: {\n    list: read(send, '/v1/public/rates'),\n  },\n",
        "  terminal: {\n    get: read(send, '/v1/public/terminal'),\n  },\n",
      ),
      missedBy: tests('test/sdk/routes.test.ts'),
    },
    {
      named: 'test/contract/documented.ts',
      path: 'test/contract/documented.ts',
      edit: behind(
        "  'GET /v1/public/rates': 'ListRates',\n",
        "  'GET /v1/public/terminal': 'GetTerminal',\n",
      ),
      missedBy: routes,
    },
    {
      named: 'test/contract/routes.test.ts',
      path: 'test/contract/routes.test.ts',
      edit: instead(
        'assert.equal(Object.keys(documented).length, 34)',
        'assert.equal(Object.keys(documented).length, 35)',
      ),
      missedBy: routes,
    },
    {
      named: 'test/api/<route>.test.ts',
      path: 'test/api/terminal.test.ts',
      edit: create(`import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { makeMerchant } from '../support/merchant.ts';
import { startService } from '../support/service.ts';

const service = await startService('one');
after(() => service.stop());

test('a key reads the terminal of its shop', async () => {
  const { call } = await makeMerchant(service);
  const created = await call('POST', '/payments', { amount: 100 });
  const { terminal_id, terminal_name } = created.body.payment;
  const { status, body } = await call('GET', '/terminal');
  assert.deepEqual([status, body], [200, { terminal_id, terminal_name }]);
});
`),
      missedBy: ownTest,
    },
  ],
  tests: [
    routes,
    tests('test/contract/answers.test.ts', 'GET /v1/public/terminal'),
    tests('test/contract/openapi.test.ts'),
    tests('test/tidy/schema.test.ts'),
    ownTest,
  ],
};
