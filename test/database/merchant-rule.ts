/**
 * Whether a statement can run on one shard: it names the merchant of every distributed table that
 * it touches. And the forms that Citus refuses, wherever they stand. It reads the statement as
 * PostgreSQL parses it, and knows no more of the tables than how they are distributed.
 */
import { parseSync } from 'libpg-query';
import { given, Scope, type Source } from './query-scope.ts';
import {
  aliasOf,
  columnOf,
  isAnywhere,
  isObject,
  listOf,
  nodeOf,
  textOf,
  type Node,
} from './parsed-sql.ts';

/** How the tables are sharded. A name that is in neither is a table of the coordinator alone. */
export interface Distribution {
  /** The column by which each distributed table is distributed. */
  readonly distributed: ReadonlyMap<string, string>;
  /** Tables of which each machine has a copy. */
  readonly copied: ReadonlySet<string>;
  /** Whether `= any ($n)` names a table's merchants: all of them are of one shard. */
  readonly isOfOneShard?: boolean;
}

/** One table without its merchant, or a refused form. */
export interface Breach {
  readonly table: string | null;
  readonly why: string;
}

const isOfCoordinator = ({ isLocal }: Source): boolean => isLocal;

/** A subquery as one value; that of `exists` and `in` is joined instead. */
const isValue = (link: unknown): boolean =>
  isObject(link) && ['EXPR_SUBLINK', 'ARRAY_SUBLINK'].includes(String(link['subLinkType']));

const apart = (scope: Scope, link: unknown): Scope => {
  const isNamed = isAnywhere(link, (node) => {
    const of = columnOf(node)?.of ?? null;
    return of !== null && scope.some(({ name }) => name === of);
  });
  return new Scope(scope, scope.hidden, true, !isNamed);
};

const isInterval = (node: Node): boolean =>
  textOf(listOf(nodeOf(node, 'FuncCall')?.['funcname']).at(-1)) === 'make_interval' ||
  listOf(typeNameOf(node)?.['names']).some((name) => textOf(name) === 'interval');

const typeNameOf = (node: Node): Node | undefined => {
  const name = nodeOf(node, 'TypeCast')?.['typeName'];
  return isObject(name) ? name : undefined;
};

/** Functions whose value hangs on the moment, the session or chance. */
const unstable = new Set(['now', 'clock_timestamp', 'statement_timestamp', 'random', 'nextval']);

const isUnstable = (node: Node): boolean =>
  unstable.has(textOf(listOf(nodeOf(node, 'FuncCall')?.['funcname']).at(-1)) ?? '');

/** A moment moved by an interval: PostgreSQL's operator for that knows the session's zone. */
const isMovedMoment = (node: Node): boolean => {
  const expression = nodeOf(node, 'A_Expr');
  const operator = textOf(listOf(expression?.['name'])[0]) ?? '';
  return (
    ['+', '-'].includes(operator) &&
    isAnywhere(expression, isInterval) &&
    isAnywhere(expression, (one) => columnOf(one) !== null)
  );
};

const isUnstableChoice = (node: Node): boolean =>
  isAnywhere(nodeOf(node, 'CaseExpr') ?? nodeOf(node, 'CoalesceExpr'), isUnstable);

class Reader {
  readonly breaches: Breach[] = [];
  readonly #spread: Distribution;

  constructor(spread: Distribution) {
    this.#spread = spread;
  }

  read(statement: unknown): void {
    this.#refuseForms(statement);
    this.#inner(statement, new Scope(null, new Set()));
  }

  #breach(table: string | null, why: string): void {
    this.breaches.push({ table, why });
  }

  #keyOf({ name, table }: Source): string {
    return `${name}.${(table !== null && this.#spread.distributed.get(table)) || 'merchant_id'}`;
  }

  /** The term of an expression: a merchant's column, something given, or nothing to go by. */
  #termOf(expression: unknown, scope: Scope): string | null {
    const cast = nodeOf(expression, 'TypeCast');
    if (cast) return this.#termOf(cast['arg'], scope);
    const column = columnOf(expression);
    if (column) {
      const source = scope.find(column.of);
      return source && this.#keyOf(source) === `${source.name}.${column.name}`
        ? this.#keyOf(source)
        : null;
    }
    const isGiven = nodeOf(expression, 'ParamRef') ?? nodeOf(expression, 'A_Const');
    return isGiven ? given : null;
  }

  /** Takes what an `and` of equalities says. */
  #conjuncts(condition: unknown, scope: Scope): void {
    const all = nodeOf(condition, 'BoolExpr');
    if (all?.['boolop'] === 'AND_EXPR') {
      for (const one of listOf(all['args'])) this.#conjuncts(one, scope);
      return;
    }
    const comparison = nodeOf(condition, 'A_Expr');
    const kinds = [
      'AEXPR_OP',
      'AEXPR_IN',
      ...(this.#spread.isOfOneShard === true ? ['AEXPR_OP_ANY'] : []),
    ];
    if (!kinds.includes(String(comparison?.['kind']))) return;
    if (!comparison || textOf(listOf(comparison['name'])[0]) !== '=') return;
    // PostgreSQL reads a list of one as its element.
    const list = listOf(nodeOf(comparison['rexpr'], 'List')?.['items']);
    if (comparison['kind'] === 'AEXPR_IN' && list.length !== 1) return;
    const [left, right = comparison['rexpr']] = [comparison['lexpr'], ...list];
    const [rows, values] = [nodeOf(left, 'RowExpr'), nodeOf(right, 'RowExpr')];
    const pairs =
      rows && values
        ? listOf(rows['args']).map((one, index) => [one, listOf(values['args'])[index]] as const)
        : [[left, right] as const];
    for (const [one, other] of pairs) {
      const [first, second] = [this.#termOf(one, scope), this.#termOf(other, scope)];
      if (first !== null && second !== null) scope.join(first, second);
    }
  }

  #addSource(relation: Node, scope: Scope): void {
    const table = String(relation['relname']);
    const alias = aliasOf(relation);
    const isTable = !scope.hidden.has(table) && this.#spread.distributed.has(table);
    const isOurs = !scope.hidden.has(table) && relation['schemaname'] === undefined;
    const isLocal =
      isOurs && !isTable && !this.#spread.copied.has(table) && !/^pg_|^\w+_seq$/.test(table);
    scope.sources.push({ name: alias ?? table, table: isTable ? table : null, isLocal });
    if (isLocal ? scope.some((one) => one.table !== null) : isTable && scope.some(isOfCoordinator))
      this.#breach(isLocal ? table : null, 'a table of the coordinator beside a distributed one');
  }

  /** Notes what stands in a `from`, and what its joins say. */
  #sources(item: unknown, scope: Scope, joins: unknown[]): void {
    const relation = nodeOf(item, 'RangeVar');
    if (relation) this.#addSource(relation, scope);
    const join = nodeOf(item, 'JoinExpr');
    if (join) {
      this.#sources(join['larg'], scope, joins);
      this.#sources(join['rarg'], scope, joins);
      joins.push(join['quals']);
    }
    const derived = nodeOf(item, 'RangeSubselect') ?? nodeOf(item, 'RangeFunction');
    if (derived) scope.sources.push({ name: aliasOf(derived) ?? '', table: null, isLocal: false });
  }

  /** Looks at every query inside of an expression, a `from` or a list. */
  #inner(part: unknown, scope: Scope): void {
    if (Array.isArray(part)) return part.forEach((one) => this.#inner(one, scope));
    if (!isObject(part)) return;
    for (const [type, value] of Object.entries(part)) {
      if (type.endsWith('Stmt') && isObject(value)) this.#query(type, value, scope);
      else this.#inner(value, type === 'SubLink' && isValue(value) ? apart(scope, value) : scope);
    }
  }

  #unboundOf(scope: Scope): readonly Source[] {
    return scope.sources.filter(
      (source) => source.table !== null && scope.root(this.#keyOf(source)) !== given,
    );
  }

  #query(type: string, statement: Node, around: Scope | null): void {
    const clause = isObject(statement['withClause']) ? statement['withClause'] : {};
    const parts = listOf(clause['ctes']).flatMap((one): readonly Node[] => {
      const part = nodeOf(one, 'CommonTableExpr');
      return part ? [part] : [];
    });
    const hidden = new Set([
      ...(around?.hidden ?? []),
      ...parts.map(({ ctename }) => String(ctename)),
    ]);
    if (clause['recursive'] === true && this.#isTouching(statement))
      this.#breach(null, 'a recursive query');
    // A part sees those before it, and itself when it is recursive.
    const seen = new Set(clause['recursive'] === true ? hidden : (around?.hidden ?? []));
    for (const part of parts) {
      this.#inner(part['ctequery'], new Scope(around, new Set(seen)));
      seen.add(String(part['ctename']));
    }
    const scope = new Scope(around, hidden);
    const joins: unknown[] = [];
    if (isObject(statement['relation'])) this.#addSource(statement['relation'], scope);
    for (const list of ['fromClause', 'usingClause'])
      for (const item of listOf(statement[list])) this.#sources(item, scope, joins);
    // Twice: what a join says may hang on what the next one says.
    for (const condition of [...joins, statement['whereClause']]) this.#conjuncts(condition, scope);
    if (type === 'InsertStmt') this.#bindInsert(statement, scope);
    for (const { table } of this.#unboundOf(scope))
      this.#breach(
        table,
        type === 'SelectStmt' ? 'read of all merchants' : 'written of all merchants',
      );
    if (listOf(statement['lockingClause']).length > 0 && this.#unboundOf(scope).length > 0)
      this.#breach(null, 'rows of all merchants are locked');
    for (const arm of ['larg', 'rarg'])
      if (isObject(statement[arm])) this.#query('SelectStmt', statement[arm], around && scope);
    if (type !== 'SelectStmt') this.#refuseUnstable(statement, scope);
    for (const [name, value] of Object.entries(statement))
      if (!['withClause', 'larg', 'rarg'].includes(name)) this.#inner(value, scope);
  }

  /** Rows that are given, each with its merchant, or read where the merchant is named. */
  #bindInsert(statement: Node, scope: Scope): void {
    const [target] = scope.sources;
    const select = nodeOf(statement['selectStmt'], 'SelectStmt');
    if (target && select && !this.#isTouching(select)) scope.join(this.#keyOf(target), given);
    else if (target && select) this.#bindInsertOfRead(statement, select, target, scope);
  }

  #bindInsertOfRead(statement: Node, select: Node, target: Source, scope: Scope): void {
    const own = this.#spread.distributed.get(target.table ?? '');
    const index = listOf(statement['cols']).findIndex(
      (column) => nodeOf(column, 'ResTarget')?.['name'] === own,
    );
    const value = nodeOf(listOf(select['targetList'])[index], 'ResTarget')?.['val'];
    const reading = new Scope(scope, scope.hidden);
    const joins: unknown[] = [];
    for (const item of listOf(select['fromClause'])) this.#sources(item, reading, joins);
    for (const condition of [...joins, select['whereClause']]) this.#conjuncts(condition, reading);
    const term = this.#termOf(value, reading);
    if (term !== null && reading.root(term) === given) scope.join(this.#keyOf(target), given);
  }

  /** Whether a distributed table is anywhere in it. */
  #isTouching(part: unknown): boolean {
    return isAnywhere(part, (node) =>
      this.#spread.distributed.has(String(nodeOf(node, 'RangeVar')?.['relname'])),
    );
  }

  /** What is evaluated with a row, in what writes a distributed table. */
  #refuseUnstable(statement: Node, scope: Scope): void {
    if (scope.sources[0]?.isLocal && this.#isTouching(statement))
      this.#breach(null, 'a table of the coordinator beside a distributed one');
    if (!scope.sources[0]?.table) return;
    const { targetList, returningList, whereClause, onConflictClause: conflict } = statement;
    const written = [targetList, returningList, conflict];
    if (
      isAnywhere([written, whereClause], isMovedMoment) ||
      isAnywhere(written, isUnstableChoice) ||
      isAnywhere(conflict, isUnstable)
    )
      this.#breach(null, 'a stable function beside a column of what is written');
  }

  #refuseForms(statement: unknown): void {
    const isEmptyExists = (node: Node): boolean => {
      const link = nodeOf(node, 'SubLink');
      const asked = nodeOf(link?.['subselect'], 'SelectStmt');
      const isBare =
        link?.['subLinkType'] === 'EXISTS_SUBLINK' && asked?.['targetList'] === undefined;
      return isBare && this.#isTouching(asked);
    };
    if (isAnywhere(statement, isEmptyExists))
      this.#breach(null, 'exists (select from: write select 1 from');
    const isForced = (node: Node): boolean =>
      nodeOf(node, 'VariableSetStmt')?.['name'] === 'plan_cache_mode';
    if (isAnywhere(statement, isForced)) this.#breach(null, 'a forced plan');
  }
}

/** What breaks the rule in a statement; nothing for one that a shard can run by itself. */
export const breachesOf = (text: string, spread: Distribution): readonly Breach[] => {
  const reader = new Reader(spread);
  const { stmts } = parseSync(text) as { stmts?: unknown };
  for (const one of listOf(stmts)) reader.read(isObject(one) ? one['stmt'] : undefined);
  return reader.breaches;
};
