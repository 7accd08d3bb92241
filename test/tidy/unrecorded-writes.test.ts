/** Nothing in production goes around the unit of work, from which the audit log is written. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { entities } from '../../subgraphs/entities.ts';
import { readText, typescriptFiles } from './tree.ts';
import { unrecordedWrites } from './unrecorded-writes.ts';

const isAudited = ({ meta }: (typeof entities)[number]): boolean =>
  Object.values<{ groups?: string[] }>(meta.properties).some(({ groups }) => groups);
const namesOf = (chosen: typeof entities): ReadonlySet<string> =>
  new Set(chosen.map(({ meta }) => `${meta.className}Entity`));
const unaudited = namesOf(entities.filter((entity) => !isAudited(entity)));
const audited = namesOf(entities.filter(isAudited));

test('production code outside kernel/database writes audited entities by the unit of work alone', (t) => {
  const files = typescriptFiles().filter(
    (path) => !path.startsWith('test/') && !path.startsWith('subgraphs/kernel/database/'),
  );
  const writes = files.map((path) => unrecordedWrites(path, readText(path), unaudited));
  const seen = writes.reduce((sum, file) => sum + file.seen, 0);
  t.diagnostic(`${seen} uses of entity managers, ${audited.size} audited entities`);
  assert.ok(seen > 20 && audited.size > 5 && unaudited.size > 5);
  assert.deepEqual(
    writes.flatMap(({ faults }) => faults),
    [],
  );
});

describe('the check of unrecorded writes catches', () => {
  const faultsOf = (text: string): readonly string[] =>
    unrecordedWrites('a.ts', text, unaudited).faults;
  for (const text of [
    'await em.insert(MerchantEntity, {});',
    'await em.insertMany(ShopEntity, []);',
    'await em.nativeUpdate(ApiKeyEntity, {}, {});',
    'await em.nativeDelete(BlockEntryEntity, {});',
    'await em.upsert(BankRouteEntity, {});',
    'await em.upsertMany(RateEntity, []);',
    "await em.execute('update merchant set name = 1');",
    'await em.createQueryBuilder(MerchantEntity).update({});',
    'await em.getKnex().raw(text);',
    'await em.getKysely().updateTable(table);',
    'await database.orm.em.getConnection().execute(text);',
    'await database.emOf(context).nativeUpdate(MerchantEntity, {}, {});',
    'await database.fork().execute(text);',
    'await manager.nativeDelete(MerchantEntity, {});',
    'await manager.insert(MerchantEntity, {});',
    'await manager.execute(`delete from shop`);',
    "await em['nativeUpdate'](MerchantEntity, {}, {});",
    'const { nativeUpdate } = em;',
    'const write = em.insert; write(MerchantEntity, {});',
    'await em.insert(chosen, {});',
  ])
    test(text, () => assert.equal(faultsOf(text).length > 0, true));
  for (const text of [
    'await em.nativeUpdate(WebhookDeliveryEntity, {}, {});',
    'em.create(MerchantEntity, {}); em.remove(merchant); await em.flush();',
    'await supergraph.execute({ document });',
    'tree.insert(node);',
    "const a = 'em.nativeUpdate(MerchantEntity)';",
  ])
    test(`nothing in ${text}`, () => assert.deepEqual(faultsOf(text), []));
});
