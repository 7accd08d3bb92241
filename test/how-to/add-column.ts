/** `sales_channel` of a payment: given by the merchant, kept in a column, returned everywhere. */
import { all, behind, create, generate, instead, tests, types, type Walk } from './walk.ts';

const ownTest = tests('test/payments/sales-channel.test.ts');
const routes = tests('test/contract/routes.test.ts');
const answers = tests('test/contract/answers.test.ts', 'GET /v1/public/payments/{id}');

export const addColumn: Walk = {
  section: 'Add a column',
  steps: [
    {
      named: 'subgraphs/kernel/database/migrations/Migration<time>_<column>.ts',
      path: 'subgraphs/kernel/database/migrations/Migration20270101000000_sales_channel.ts',
      edit: create(`/** Where the buyer made the order. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20270101000000_sales_channel extends Migration {
  override up(): void {
    this.addSql('alter table payment add column sales_channel text');
  }
}
`),
      missedBy: ownTest,
    },
    {
      named: 'subgraphs/<subgraph>/entities.ts',
      path: 'subgraphs/payments/entities.ts',
      edit: behind(
        '    customerId: p.text().nullable(),\n',
        '    salesChannel: p.text().nullable(),\n',
      ),
      missedBy: ownTest,
    },
    {
      named: 'subgraphs/payments/insert-statements.ts',
      path: 'subgraphs/payments/insert-statements.ts',
      edit: instead("  'customerId',\n", "  'customerId',\n  'salesChannel',\n"),
      missedBy: ownTest,
    },
    {
      named: 'subgraphs/payments/recurring/create-payment.ts',
      path: 'subgraphs/payments/recurring/create-payment.ts',
      edit: behind('  customerId: input.customerRef,\n', '  salesChannel: null,\n'),
      missedBy: types,
    },
    {
      named: 'subgraphs/payments/rules/create.ts',
      path: 'subgraphs/payments/rules/create.ts',
      edit: all(
        behind(
          '  readonly customerId?: string | null | undefined;\n',
          '  readonly salesChannel?: string | null | undefined;\n',
        ),
        behind(
          '  readonly customerId: string | null;\n',
          '  readonly salesChannel: string | null;\n',
        ),
        behind('const customerId_max_chars = 255;\n', 'const salesChannel_max_chars = 64;\n'),
        instead('  customerId,\n  description,', '  customerId,\n  salesChannel,\n  description,'),
        behind(
          "  textMistake('customer_id', customerId, 1, customerId_max_chars) ??\n",
          "  textMistake('sales_channel', salesChannel, 1, salesChannel_max_chars) ??\n",
        ),
        behind(
          '    customerId: input.customerId ?? null,\n',
          '    salesChannel: input.salesChannel ?? null,\n',
        ),
      ),
      missedBy: ownTest,
    },
    {
      named: 'schema/<subgraph>.graphql',
      path: 'schema/payments.graphql',
      edit: all(
        behind(
          '  "Stored into the metadata key customer_id."\n  customerId: String\n',
          '  "Where the buyer made the order, up to 64 characters."\n  salesChannel: String\n',
        ),
        behind(
          '  "Never sent to the bank; null when the merchant gave none."\n  description: String\n',
          '  "Where the buyer made the order; null when the merchant gave none."\n  salesChannel: String\n',
        ),
      ),
      missedBy: generate,
    },
    {
      named: 'schema/operations/<subgraph>.graphql',
      path: 'schema/operations/payments.graphql',
      edit: behind('  returnUrl\n  description\n', '  salesChannel\n'),
      generated: true,
      missedBy: answers,
    },
    {
      named: 'schema/openapi.yaml',
      path: 'schema/openapi.yaml',
      edit: all(
        behind(
          "            description: 'Groups operations; kept under the metadata key customer_id.',\n          }\n",
          "        sales_channel:\n          { type: string, minLength: 1, maxLength: 64, description: 'Where the buyer made the order.' }\n",
        ),
        behind('        - return_url\n        - description\n', '        - sales_channel\n'),
        behind(
          "        return_url: { type: [string, 'null'] }\n        description: { type: [string, 'null'] }\n",
          "        sales_channel: { type: [string, 'null'] }\n",
        ),
        instead(
          '        description: Two tickets\n        created_at',
          '        description: Two tickets\n        sales_channel: web\n        created_at',
        ),
        behind(
          '          return_url: null\n          description: null\n',
          '          sales_channel: null\n',
        ),
      ),
      generated: true,
      missedBy: routes,
    },
    {
      named: 'subgraphs/kernel/service/free-texts.ts',
      path: 'subgraphs/kernel/service/free-texts.ts',
      edit: instead(
        "'returnUrl', 'description', 'metadata'",
        "'returnUrl', 'description', 'salesChannel', 'metadata'",
      ),
      missedBy: tests('test/security/free-texts.test.ts', '^every text of the graph'),
    },
    {
      named: 'schema/wire.ts',
      path: 'schema/wire.ts',
      edit: behind(
        '  description: payment.description,\n',
        '  sales_channel: payment.salesChannel,\n',
      ),
      missedBy: answers,
    },
    {
      named: 'test/bench/servers/constant-graph.ts',
      path: 'test/bench/servers/constant-graph.ts',
      edit: behind('  customerId: null,\n', '  salesChannel: null,\n'),
      missedBy: types,
    },
    {
      named: 'test/payments/<column>.test.ts',
      path: 'test/payments/sales-channel.test.ts',
      edit: create(`import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { noPolicies } from '../support/no-policies.ts';
import { recordPayment } from '../../subgraphs/payments/create-payment.ts';
import { startMigratedDatabase } from '../support/migrated.ts';
import { granted } from '../support/granted.ts';

const migrated = await startMigratedDatabase();
after(() => migrated.close());

test('a payment keeps the channel that it was created with', async () => {
  const key = await migrated.merchant();
  const now = Temporal.Now.instant();
  const create = async (salesChannel: string | null) =>
    granted(
      await recordPayment(migrated.database, noPolicies, key, { input: { amount: 100n, salesChannel } }, now),
    ).payment.salesChannel;
  assert.deepEqual([await create('web'), await create(null)], ['web', null]);
});
`),
      missedBy: ownTest,
    },
  ],
  tests: [routes, answers, tests('test/database/schema-gate.test.ts'), ownTest],
};
