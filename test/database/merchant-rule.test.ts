/**
 * Every statement of the program names the merchant on every distributed table that it touches, so
 * that one shard can run it; or it is in a closed list of those that read over all merchants, lock
 * nothing and write nothing. How tables are distributed is in `platform/fleet/distribute.sql`;
 * `npm run test:citus` runs the service on such tables.
 */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { loadModule } from 'libpg-query';
import { copied, distributed } from './distribution.ts';
import { breachesOf, type Breach } from './merchant-rule.ts';
import { inOneDatabase, ofOneShard, overAll } from './over-all-merchants.ts';
import { makeStatements, type Listed } from './made-statements.ts';
import { loadProgram, statementsSeen, type Seen } from './statements.ts';

const given = { distributed, copied };
const reading = 'read of all merchants';

before(() => loadModule());

describe('a statement that one shard can run', () => {
  const whole: Readonly<Record<string, string>> = {
    'a row by its key': 'select 1 from payment where merchant_id = $1 and id = $2',
    'a key of two columns': 'select 1 from payment where (merchant_id, id) = ($1, $2)',
    'a list of one': 'select 1 from payment where (merchant_id, id) in (($1, $2)) and mode in ($3)',
    'the merchant itself': 'select name from merchant where id = $1::uuid',
    'a join by the merchant':
      'select 1 from payment p join shop s on s.merchant_id = p.merchant_id and s.id = p.shop_id where p.merchant_id = $1',
    'a subquery that is joined':
      'select 1 from payment p where p.merchant_id = $1 and not exists (select 1 from refund r where r.merchant_id = p.merchant_id)',
    'a value of its own': `select (select max(r.amount) from refund r where r.merchant_id = $1) from payment p where p.merchant_id = $1`,
    'rows that are given':
      'insert into payment select * from jsonb_populate_recordset(null::payment, $1)',
    'a row of another table':
      'insert into refund (merchant_id, id) select p.merchant_id, $2 from payment p where p.merchant_id = $1',
    'a write and its lock':
      'with held as (select id from payment where merchant_id = $1 for update) update payment set amount = 1 from held where merchant_id = $1 and payment.id = held.id',
    'tables of the coordinator': 'select 1 from consumer_offset where consumer = $1 for update',
    'a copied table beside it':
      'select 1 from payment p join rate r on r.method = p.method where p.merchant_id = $1',
  };
  for (const [name, text] of Object.entries(whole))
    test(name, () => assert.deepEqual(breachesOf(text, given), []));
});

// What Citus 13.2 answered with an error, or sent to every shard, one case for each kind.
describe('a statement that no shard can run alone', () => {
  const broken: readonly (readonly [string, string, string])[] = [
    ['a row without its merchant', 'select 1 from payment where id = $1', reading],
    ['any of several merchants', 'select 1 from payment where merchant_id = any ($1)', reading],
    ['a list of merchants', 'select 1 from payment where merchant_id in ($1, $2)', reading],
    ['one merchant or another', 'select 1 from payment where merchant_id = $1 or id = $2', reading],
    [
      'keys in a list',
      'select 1 from payment where (merchant_id, id) in (select * from unnest($1::uuid[], $2::uuid[]))',
      reading,
    ],
    [
      'a join that needs all shards',
      'select 1 from api_key k join shop s on s.id = k.shop_id where k.digest = $1',
      reading,
    ],
    [
      'a value that knows the merchant from around it alone',
      'select (select max(r.amount) from refund r where r.merchant_id = p.merchant_id) from payment p where p.merchant_id = $1',
      reading,
    ],
    [
      'a write by what another part found',
      'with found as (select merchant_id, id from payment where merchant_id = $1) update payment set amount = 1 from found where payment.merchant_id = found.merchant_id',
      'written of all merchants',
    ],
    [
      'a write by a list',
      'update payment set amount = 1 from unnest($1::uuid[]) as row (merchant_id) where payment.merchant_id = row.merchant_id',
      'written of all merchants',
    ],
    ['a removal of what is old', 'delete from alert where due_at < $1', 'written of all merchants'],
    [
      'locks over all shards',
      'select 1 from payment where ask_at < $1 for update skip locked',
      'rows of all merchants are locked',
    ],
    [
      'a subquery without columns',
      'select 1 from payment where merchant_id = $1 and exists (select from refund where merchant_id = $1)',
      'exists (select from: write select 1 from',
    ],
    [
      'a walk',
      'with recursive head as (select merchant_id from payment union all select head.merchant_id from head) select 1 from head',
      'a recursive query',
    ],
    [
      'a moment of the database beside a column',
      `update payment set ask_at = now() + tries * interval '1 second' where merchant_id = $1`,
      'a stable function beside a column of what is written',
    ],
    ['a forced plan', 'set local plan_cache_mode = force_generic_plan', 'a forced plan'],
    [
      'a table of the coordinator beside a distributed one',
      'select 1 from event e join consumer_offset o on e.sequence > o.sequence where e.merchant_id = $1',
      'a table of the coordinator beside a distributed one',
    ],
  ];
  for (const [name, text, why] of broken)
    test(name, () =>
      assert.ok(
        breachesOf(text, given).some((breach) => breach.why === why),
        JSON.stringify(breachesOf(text, given)),
      ),
    );
});

describe('the statements of the program', () => {
  const breaking = new Map<string, { readonly seen: Seen; readonly breaches: readonly Breach[] }>();
  let listed: Listed;

  before(async () => {
    loadProgram();
    listed = await makeStatements();
    for (const seen of statementsSeen().statements) {
      if (seen.name === '') continue;
      const isOfOneShard = Object.hasOwn(ofOneShard, seen.name);
      const breaches = breachesOf(seen.text, { ...given, isOfOneShard });
      if (breaches.length > 0) breaking.set(seen.name, { seen, breaches });
    }
  });

  test('are found, all of them', () => {
    const { statements, unseen } = statementsSeen();
    assert.ok(statements.length > 600, `saw only ${statements.length} statements`);
    assert.deepEqual(unseen, []);
  });

  test('of lists and searches name the merchant whose rows are asked for, and else read alone', () => {
    const { ofMerchant, ofAll } = listed;
    assert.ok(ofMerchant.length > 50 && ofAll.length > 50, 'saw few lists');
    for (const text of ofMerchant) assert.deepEqual(breachesOf(text, given), [], text);
    for (const text of ofAll) {
      const more = breachesOf(text, given).filter(({ why }) => why !== reading);
      assert.deepEqual(more, [], text);
    }
  });

  test('name their merchant, or are in the list of those over all merchants', () => {
    const unknown = [...breaking].filter(
      ([name]) => !Object.hasOwn(overAll, name) && !Object.hasOwn(inOneDatabase, name),
    );
    assert.deepEqual(
      unknown.map(([name, { seen, breaches }]) => [name, seen.site, breaches]),
      [],
    );
  });

  test('over all merchants read alone: they lock, write and walk nothing', () => {
    const more = [...breaking].filter(
      ([name, { breaches }]) =>
        Object.hasOwn(overAll, name) && breaches.some(({ why }) => why !== reading),
    );
    assert.deepEqual(
      more.map(([name, { seen, breaches }]) => [name, seen.site, breaches]),
      [],
    );
  });

  test('have names without capitals', () => {
    const names = statementsSeen().statements.map(({ name }) => name);
    assert.ok(names.length > 300, `saw only ${names.length} statements`);
    assert.deepEqual(
      names.filter((name) => /[A-Z]/.test(name)),
      [],
    );
  });

  test('are in a list only while they break the rule', () => {
    const names = [...Object.keys(overAll), ...Object.keys(inOneDatabase)];
    assert.deepEqual(
      names.filter((name) => !breaking.has(name)),
      [],
    );
    assert.equal(new Set(names).size, names.length, 'a statement is in two lists');
  });

  test('for one database alone have one that names its merchant beside them', () => {
    const seen = new Set(statementsSeen().statements.map(({ name }) => name));
    assert.deepEqual(
      Object.keys(ofOneShard).filter((name) => !seen.has(name)),
      [],
    );
    const named = new Set(statementsSeen().statements.map(({ name }) => name));
    assert.deepEqual(
      Object.values(inOneDatabase).filter((name) => !named.has(name) || breaking.has(name)),
      [],
    );
  });
});
