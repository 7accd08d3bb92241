/** Migrations beside a running service: what they may contain, and that they give way. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseSync, Visitor, type Expression } from 'oxc-parser';
import { judgeMigrations, type JudgedMigration } from './migration-rules.ts';
import { migrate, openDatabase } from '../../subgraphs/platform/database/orm.ts';
import { entities } from '../../subgraphs/entities.ts';
import { startTestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';

/** The first schema: it is never applied beside a program that runs. */
const first = 'Migration20261121000000_initial';
const folder = join(import.meta.dirname, '../../subgraphs/platform/database/migrations');

/** What `addSql` is given, as it is written; what is filled in when it runs is an `x`. */
const sqlOf = (value: Expression): string => {
  if (value.type === 'Literal' && typeof value.value === 'string') return value.value;
  if (value.type === 'TemplateLiteral')
    return value.quasis.map(({ value: { cooked } }) => cooked).join('x');
  return assert.fail('addSql is given what cannot be read here');
};

const read = (file: string): JudgedMigration => {
  const text = readFileSync(file, 'utf8');
  const statements: string[] = [];
  new Visitor({
    CallExpression: ({ callee, arguments: [given] }) => {
      if (
        callee.type !== 'MemberExpression' ||
        callee.property.type !== 'Identifier' ||
        callee.property.name !== 'addSql'
      )
        return;
      // A statement that is handed through is read where it is made.
      if (given && given.type !== 'SpreadElement' && given.type !== 'Identifier')
        statements.push(sqlOf(given));
    },
  }).visit(parseSync(file, text).program);
  return {
    name: basename(file, '.ts'),
    statements,
    isTransactional: !text.includes('isTransactional()'),
  };
};

const judge = (
  statement: string,
  { name = 'Migration20270101000000_later', isTransactional = true } = {},
): readonly string[] => judgeMigrations([{ name, statements: [statement], isTransactional }]);

describe('a migration after the first one', () => {
  test('has no statement that stops the service or breaks the version that still runs', () => {
    const [oldest = '', ...files] = globSync(join(folder, 'Migration*.ts')).toSorted();
    assert.equal(basename(oldest, '.ts'), first);
    const later = files.map(read);
    assert.ok(later.every(({ statements }) => statements.length > 0));
    assert.deepEqual(judgeMigrations(later), []);
  });

  const dangerous = [
    'create index payment_by_rrn on payment (rrn)',
    'create unique index payment_by_rrn on payment (rrn)',
    'drop index payment_rrn',
    'alter table payment add column token uuid default gen_random_uuid()',
    'alter table payment add column number bigserial',
    'alter table payment add column doubled bigint generated always as (amount * 2) stored',
    'alter table payment add column reason text not null',
    'alter table payment add column kept boolean not null default false',
    'alter table payment alter column order_id set not null',
    'alter table payment alter column order_id type varchar(64)',
    'alter table payment rename column rrn to reference',
    'alter table payment rename to payments',
    'alter table payment drop column rrn',
    'drop table refund',
    'alter table payment alter column version drop default',
    'alter table payment add constraint payment_sum check (amount > 0)',
    'alter table payment add constraint payment_once unique (merchant_id, rrn)',
    'alter table payment add check (amount > 0)',
    "update payment set rrn = ''",
    'delete from event where sequence is null',
    'insert into refund select * from refund_old',
    'truncate event',
    'lock table payment',
  ];
  for (const statement of dangerous) {
    test(`may not: ${statement}`, () => assert.notEqual(judge(statement).length, 0));
  }

  test('may not make an index concurrently in a transaction, nor anything beside it', () => {
    const index = 'create index concurrently payment_by_rrn on payment (rrn)';
    assert.equal(judge(index).length, 1);
    assert.deepEqual(judge(index, { isTransactional: false }), []);
    assert.equal(
      judgeMigrations([
        {
          name: 'Migration20270101000000_two',
          statements: [index, 'select 1'],
          isTransactional: false,
        },
      ]).length,
      1,
    );
  });

  test('may expand: columns that may be empty or have a constant, tables of its own with whatever they need, checks that are validated later', () => {
    const name = 'Migration20270101000000_expand';
    const statements = [
      'alter table payment add column note text, add column kept boolean default false, add column noted_at timestamptz(3) default now()',
      'create table note (merchant_id uuid not null, id uuid not null, text text not null, primary key (merchant_id, id))',
      'create index note_text on note (merchant_id, text)',
      'alter table note add constraint note_text check (length(text) < 100)',
      'alter table payment add constraint payment_note_present check (note is not null) not valid',
    ];
    const validate = {
      name: 'Migration20270102000000_validate',
      statements: ['alter table payment validate constraint payment_note_present'],
      isTransactional: true,
    };
    const forbid = {
      name: 'Migration20270103000000_forbid',
      statements: ['alter table payment alter column note set not null'],
      isTransactional: true,
    };
    assert.deepEqual(
      judgeMigrations([{ name, statements, isTransactional: true }, validate, forbid]),
      [],
    );
    assert.equal(
      judgeMigrations([{ name, statements, isTransactional: true }, forbid]).length,
      1,
      'not before the check is validated',
    );
    const together = [...statements, ...validate.statements];
    assert.equal(
      judgeMigrations([{ name, statements: together, isTransactional: true }]).length,
      1,
      'not in the transaction that adds the check',
    );
  });

  test('may rename a table whose old name stays as a view, and nothing else', () => {
    const rename = 'alter table payment rename to purchase';
    const column = 'alter table purchase rename column rrn to reference';
    const judgeAll = (statements: readonly string[]): number =>
      judgeMigrations([
        { name: 'Migration20270101000000_rename', statements, isTransactional: true },
      ]).length;
    const view = 'create view payment as select id, reference as rrn, amount from purchase';
    assert.equal(judgeAll([rename, column, view]), 0);
    assert.equal(judgeAll([rename, column]), 2, 'without a view');
    const others = [
      'create view payment as select id, reference, amount from purchase',
      'create view payment as select id, reference as rrn, amount from purchase where amount > 0',
      'create view payment as select id, reference as rrn, amount * 2 as amount from purchase',
      'create view payment as select id, reference as rrn, amount from purchase join refund using (id)',
      'create view payments as select id, reference as rrn, amount from purchase',
      'create view payment as select id, reference as rrn, amount from refund',
    ];
    for (const other of others) assert.notEqual(judgeAll([rename, column, other]), 0, other);
  });

  test('may drop a column when its name says that it contracts', () => {
    assert.deepEqual(
      judge('alter table payment drop column rrn', {
        name: 'Migration20270101000000_contract_rrn',
      }),
      [],
    );
  });
});

test('a migration that waits for a lock gives way to those behind it, and is applied when the lock is free', async (t) => {
  const target = await startTestDatabase();
  t.after(() => target.stop());
  const database = await openDatabase({ url: target.url, entities, pool: 8 });
  t.after(() => database.close());
  const holder = await database.pool.connect();
  // No other process can make this schema until this transaction ends.
  await holder.query('begin');
  await holder.query('create schema partitions');
  const isWaiting = async (): Promise<boolean> =>
    (
      await database.pool.query(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%create schema partitions;%'",
      )
    ).rows.length > 0;
  const migrating = migrate(database);
  try {
    await eventually(isWaiting, 'the wait for the lock');
    await eventually(async () => !(await isWaiting()), 'the end of the wait');
  } finally {
    await holder.query('rollback');
    holder.release();
  }
  assert.ok((await migrating).length > 0);
});
