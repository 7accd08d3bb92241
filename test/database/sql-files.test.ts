/**
 * The statements that are files: each says what it takes and gives, PostgreSQL can prepare it, and
 * the plan that PostgreSQL keeps for it finds rows by their keys. That plan is made while the tables
 * are empty, as on a new installation, and is kept until their first analysis.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { sqlFile } from '../../subgraphs/platform/database/sql-file.ts';
import { columnNames } from '../../subgraphs/platform/database/statement.ts';
import { recurringNames } from '../../subgraphs/payments/create-payment.ts';
import { mutable } from '../../subgraphs/payments/store-payment.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';

const root = join(import.meta.dirname, '../../subgraphs');
const files = globSync('**/*.sql', {
  cwd: root,
  exclude: ['platform/database/migrations/**', 'platform/fleet/**'],
}).toSorted();

let migrated: MigratedDatabase;
before(async () => void (migrated = await startMigratedDatabase()));
after(() => migrated.close());

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly Plan[];
}

/** Read whole: the rates of a method; the shops, balances and hours of a merchant. */
const small = new Set(['rate', 'shop', 'balance', 'balance_delta', 'ledger_hour']);

/** What in a plan reads a table, or all rows of a merchant. */
const walksOf = (plan: Plan): readonly string[] => {
  const inner = (plan.Plans ?? []).flatMap(walksOf);
  const { 'Node Type': type, 'Relation Name': table = '', 'Index Cond': condition } = plan;
  if (small.has(table)) return [];
  const isWalk = type === 'Seq Scan' || condition === '(merchant_id = $1)';
  return isWalk ? [`${type} ${table} ${condition ?? ''}`, ...inner] : inner;
};

describe('a statement that is a file', () => {
  for (const file of files) {
    test(`${file} names its parameters, is prepared, and finds rows by their keys`, async () => {
      const [head = ''] = readFileSync(join(root, file), 'utf8').split(/^(?!--)/m);
      const { text } = sqlFile(root, file);
      for (const [parameter] of text.matchAll(/\$\d/g))
        assert.ok(head.includes(parameter), `the head does not name ${parameter}`);
      const { pool } = migrated.database;
      const { rows } = await pool.query<{ 'QUERY PLAN': readonly { readonly Plan: Plan }[] }>(
        `explain (generic_plan, format json) ${text}`,
      );
      const plans = rows.flatMap((row) => row['QUERY PLAN'].map(({ Plan: plan }) => plan));
      assert.ok(plans.length > 0);
      assert.deepEqual(plans.flatMap(walksOf), []);
    });
  }

  test('of a payment lists the columns that the program sends', () => {
    const listed = (file: string): ReadonlySet<string> =>
      new Set(sqlFile(root, file).text.match(/[a-z_]+/g));
    const sent = {
      'payments/create-payment.sql': recurringNames,
      'payments/store-payment.sql': mutable,
    };
    for (const [file, names] of Object.entries(sent))
      assert.deepEqual(
        names.map((name) => columnNames([name])).filter((name) => !listed(file).has(name)),
        [],
      );
  });
});
