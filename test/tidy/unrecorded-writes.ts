/**
 * Writes through the ORM that its unit of work does not see, and of which the audit log so learns
 * nothing (`kernel/database/audited`).
 */
import {
  Visitor,
  parseSync,
  type Argument,
  type Expression,
  type MemberExpression,
} from 'oxc-parser';

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
    ? ['emOf', 'fork'].includes(nameOf(node.callee) ?? '')
    : nameOf(node) === 'em';

const isText = (node: Argument | undefined): boolean =>
  node?.type === 'TemplateLiteral' || (node?.type === 'Literal' && typeof node.value === 'string');

export interface Writes {
  /** Members of entity managers that the file uses. */
  readonly seen: number;
  /** What is refused, by its line. */
  readonly faults: readonly string[];
}

/**
 * What one file writes past the unit of work. `unaudited` are the entities that have no entry in
 * the audit log; what is written by another name counts as audited.
 */
export const unrecordedWrites = (
  path: string,
  text: string,
  unaudited: ReadonlySet<string>,
): Writes => {
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
