/**
 * Production code outside platform/database does not write past the ORM's unit of work, from which
 * the audit log is written.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  Visitor,
  parseSync,
  type Argument,
  type Expression,
  type MemberExpression,
} from 'oxc-parser';
import { entities } from '../../subgraphs/entities.ts';
import { readText, typescriptFiles } from './tree.ts';

/** Methods that write rows of the entity that is their first argument. */
const entityWrites = new Set([
  'insert',
  'insertMany',
  'nativeUpdate',
  'nativeDelete',
  'upsert',
  'upsertMany',
  'createQueryBuilder',
  'qb',
]);
/** Methods that lead to statements about any table. */
const wayAround = new Set(['execute', 'getConnection', 'getDriver', 'getKnex', 'getKysely']);
/** What is in the text of a file with such a write: the other files are not parsed. */
const mayWrite = new RegExp(
  `\\b(${['em', 'emOf', 'emOn', 'fork', ...entityWrites, ...wayAround].join('|')})\\b`,
);
/** Names that other objects have, too. */
const common = new Set(['insert', 'execute', 'qb']);

const nameOf = (node: Expression | Argument | undefined): string | null => {
  if (node?.type === 'Identifier') return node.name;
  return node?.type === 'MemberExpression' ? memberOf(node) : null;
};

/** The name of a member, also of one in brackets; null when only known at run time. */
const memberOf = ({ computed, property }: MemberExpression): string | null => {
  if (property.type === 'Literal') return String(property.value);
  return property.type === 'Identifier' && !computed ? property.name : null;
};

/** Whether a value is an entity manager, by its name or by what gives it. */
const isManager = (node: Expression): boolean =>
  node.type === 'CallExpression'
    ? ['emOf', 'emOn', 'fork'].includes(nameOf(node.callee) ?? '')
    : nameOf(node) === 'em';

const isText = (node: Argument | undefined): boolean =>
  node?.type === 'TemplateLiteral' || (node?.type === 'Literal' && typeof node.value === 'string');

interface Writes {
  /** Members of entity managers that the file uses. */
  readonly seen: number;
  /** What is refused, by its line. */
  readonly faults: readonly string[];
}

/**
 * What one file writes past the unit of work. `unaudited` are the entities that have no entry in
 * the audit log; what is written by another name counts as audited.
 */
const unrecordedWrites = (path: string, text: string, unaudited: ReadonlySet<string>): Writes => {
  if (!mayWrite.test(text)) return { seen: 0, faults: [] };
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} cannot be parsed`);
  const faults: string[] = [];
  const allowed = new Set<unknown>();
  let seen = 0;
  const refuse = (start: number, what: string): void =>
    void faults.push(`${path}:${text.slice(0, start).split('\n').length} ${what}`);
  new Visitor({
    CallExpression({ callee, arguments: [first] }) {
      if (callee.type !== 'MemberExpression') return;
      const method = memberOf(callee) ?? '';
      const entity = nameOf(first) ?? '';
      if (entityWrites.has(method) && unaudited.has(entity)) allowed.add(callee);
      // Others have such a method, too, but give it neither an entity nor a statement.
      if (!common.has(method) || isManager(callee.object)) return;
      if (
        method === 'execute' ? isText(first) : entity.endsWith('Entity') && !unaudited.has(entity)
      )
        refuse(callee.start, method);
    },
    MemberExpression(member) {
      const method = memberOf(member) ?? '';
      const managed = isManager(member.object);
      if (managed) seen += 1;
      if (allowed.has(member) || (common.has(method) && !managed)) return;
      if (entityWrites.has(method) || wayAround.has(method)) refuse(member.start, method);
    },
    // A method that is taken out of its manager.
    VariableDeclarator({ id, init }) {
      if (id.type !== 'ObjectPattern' || !init) return;
      for (const taken of id.properties) {
        const key = taken.type === 'Property' ? taken.key : undefined;
        const method = key?.type === 'Identifier' ? key.name : null;
        if (!method || (common.has(method) && !isManager(init))) continue;
        if (entityWrites.has(method) || wayAround.has(method)) refuse(taken.start, method);
      }
    },
  }).visit(program);
  return { seen, faults };
};

const isAudited = ({ meta }: (typeof entities)[number]): boolean =>
  Object.values<{ groups?: string[] }>(meta.properties).some(({ groups }) => groups);
const namesOf = (chosen: typeof entities): ReadonlySet<string> =>
  new Set(chosen.map(({ meta }) => `${meta.className}Entity`));
const unaudited = namesOf(entities.filter((entity) => !isAudited(entity)));
const audited = namesOf(entities.filter(isAudited));

test('production code outside platform/database writes audited entities by the unit of work alone', (t) => {
  const files = typescriptFiles().filter(
    (path) => !path.startsWith('test/') && !path.startsWith('subgraphs/platform/database/'),
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

test('the check catches every form of such a write, and nothing else', () => {
  const faultsOf = (text: string): readonly string[] =>
    unrecordedWrites('a.ts', text, unaudited).faults;
  for (const text of [
    ...[...entityWrites].map((method) => `await em.${method}(MerchantEntity, {});`),
    ...[...wayAround].map((method) => `await em.${method}('update merchant set name = 1');`),
    'await database.orm.em.getConnection().execute(text);',
    'await database.emOf(context).nativeUpdate(MerchantEntity, {}, {});',
    'await database.fork().execute(text);',
    'await emOn(client).insert(chosen, {});',
    'await manager.nativeDelete(MerchantEntity, {});',
    'await manager.insert(MerchantEntity, {});',
    'await manager.execute(`delete from shop`);',
    "await em['nativeUpdate'](MerchantEntity, {}, {});",
    'const { nativeUpdate } = em;',
    'const write = em.insert; write(MerchantEntity, {});',
    'await em.insert(chosen, {});',
  ])
    assert.ok(faultsOf(text).length > 0, text);
  for (const text of [
    'await em.nativeUpdate(WebhookDeliveryEntity, {}, {});',
    'em.create(MerchantEntity, {}); em.remove(merchant); await em.flush();',
    'await supergraph.execute({ document });',
    'tree.insert(node);',
    "const a = 'em.nativeUpdate(MerchantEntity)';",
  ])
    assert.deepEqual(faultsOf(text), []);
});
