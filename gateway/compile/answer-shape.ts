/**
 * Shapes a client's answer from the subgraphs' data: the stock gateway's post-processing, generated
 * as one function per operation. It keeps the order of the operation's fields, drops fields that
 * the planner added, and propagates a null to the nearest nullable place of the API schema.
 */
import { compileFunction } from 'node:vm';
import {
  getNamedType,
  GraphQLError,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLAbstractType,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type SelectionSetNode,
  isAbstractType,
  Kind,
  TypeNameMetaFieldDef,
  type FieldNode,
  type GraphQLSchema,
} from 'graphql';
import {
  shortScalars,
  valueSize,
  type AnswerMeter,
} from '../../subgraphs/platform/access/answer-meter.ts';
import { fragmentBehind, type Fragments } from '../graphql/fragments.ts';

/* The fields that an operation selects on a type, in the order of the answer. */

/** One field of an answer: everything that the operation selects under one response name. */
interface AnswerField {
  readonly responseName: string;
  readonly type: GraphQLOutputType;
  readonly isTypeName: boolean;
  readonly selectionSets: SelectionSetNode[];
}

interface OperationDeps {
  readonly schema: GraphQLSchema;
  readonly fragments: Fragments;
}

/**
 * The fields of an object of the type, including those of fragments that apply to it. Throws
 * CannotCompile on conditions that only a call decides.
 */
const answerFields = (
  deps: OperationDeps,
  type: GraphQLObjectType,
  selectionSets: readonly SelectionSetNode[],
): readonly AnswerField[] => {
  const fields = new Map<string, AnswerField>();
  for (const selectionSet of selectionSets) collect(deps, type, selectionSet, fields);
  return [...fields.values()];
};

/**
 * An operation or a plan contains something that is not compiled. The operation then runs on the
 * stock executor.
 */
export class CannotCompile extends Error {
  constructor(what: string) {
    super(`not compiled: ${what}`);
    this.name = 'CannotCompile';
  }
}

const collect = (
  deps: OperationDeps,
  type: GraphQLObjectType,
  { selections }: SelectionSetNode,
  fields: Map<string, AnswerField>,
): void => {
  for (const selection of selections) {
    if (selection.directives && selection.directives.length > 0)
      throw new CannotCompile(`a directive on ${type.name}`);
    if (selection.kind === Kind.FIELD) {
      addField(type, selection, fields);
      continue;
    }
    const fragment = fragmentBehind(selection, deps.fragments);
    if (!fragment) throw new CannotCompile('a fragment that is not there');
    const condition = fragment.typeCondition?.name.value;
    if (condition === undefined || applies(deps.schema, condition, type))
      collect(deps, type, fragment.selectionSet, fields);
  }
};

const applies = (schema: GraphQLSchema, condition: string, type: GraphQLObjectType): boolean => {
  const conditionType = schema.getType(condition);
  return (
    conditionType === type ||
    (isAbstractType(conditionType) && schema.isSubType(conditionType, type))
  );
};

const addField = (
  type: GraphQLObjectType,
  node: FieldNode,
  fields: Map<string, AnswerField>,
): void => {
  const responseName = node.alias?.value ?? node.name.value;
  // Every object has such a name (`__proto__`, `constructor`), whether a subgraph sent it or not.
  if (responseName in Object.prototype)
    throw new CannotCompile(`the response name ${responseName}`);
  const isTypeName = node.name.value === TypeNameMetaFieldDef.name;
  const definition = isTypeName ? TypeNameMetaFieldDef : type.getFields()[node.name.value];
  if (!definition)
    throw new CannotCompile(`${type.name}.${node.name.value}, which the schema does not have`);
  let field = fields.get(responseName);
  if (!field)
    fields.set(
      responseName,
      (field = { responseName, type: definition.type, isTypeName, selectionSets: [] }),
    );
  if (node.selectionSet) field.selectionSets.push(node.selectionSet);
};

type Path = readonly (string | number)[];

/**
 * An abstract type is generated once for each of its types, and within each of them again. A
 * program of more names than this would be too large to be fast.
 */
const names_max = 20_000;

/**
 * Shapes the data. Violations of the schema's non-null types are added to `errors`. Throws when a
 * list is no list. A shape that counts throws without a meter, and with the meter's refusal when
 * the answer is too large: an object that was fetched once may stand in it many times.
 */
export type AnswerShape = (
  data: object,
  errors: GraphQLError[],
  meter?: AnswerMeter,
) => Record<string, unknown> | null;

/** What the generated function takes from outside. */
const support = {
  missing: (what: string, path: Path) =>
    violation(`Cannot return null for non-nullable ${what}.`, path),
  invalid: (what: string, path: Path) => violation(`Invalid value found for ${what}.`, path),
  untyped: (what: string, path: Path) =>
    violation(`Invalid __typename found for object at ${what}.`, path),
  noList: (what: string) => new Error(`a subgraph gave no list for ${what}`),
};

const violation = (message: string, path: Path): GraphQLError =>
  new GraphQLError(message, { path, extensions: { code: 'INVALID_GRAPHQL' } });

/** The place of a value: JavaScript that makes its path, and a description for messages. */
interface Place {
  readonly path: string;
  readonly what: string;
}

/** Writes the shape. `counts`: whether the answer is metered while it is made. */
export const writeAnswerShape = (
  deps: OperationDeps,
  root: GraphQLObjectType,
  selectionSet: SelectionSetNode,
  counts: boolean,
): AnswerShape => {
  const writer = new ShapeWriter(deps, counts);
  const code = writer.write(root, selectionSet);
  // The text consists only of names of the schema and the operation, which are GraphQL names. It
  // returns the stated type.
  const make = compileFunction(code, ['support', 'enums']) as (
    given: typeof support,
    enums: ShapeWriter['enums'],
  ) => AnswerShape;
  return make(support, writer.enums);
};

const isLong = (type: GraphQLLeafType): boolean =>
  !isEnumType(type) && !shortScalars.has(type.name);

class ShapeWriter {
  /** Values of each enum that occurs. */
  readonly enums: Record<string, ReadonlySet<string>> = {};
  readonly #parts: OperationDeps;
  readonly #counts: boolean;
  #names = 0;

  constructor(deps: OperationDeps, counts: boolean) {
    this.#parts = deps;
    this.#counts = counts;
  }

  write(root: GraphQLObjectType, selectionSet: SelectionSetNode): string {
    const body = this.#object(root, [selectionSet], 'data', 'answer', { path: '', what: '' });
    return `return (data, errors, meter) => {\n let answer = null;\n${body} return answer;\n};`;
  }

  #fresh(kind: string): string {
    this.#names += 1;
    if (this.#names > names_max) throw new CannotCompile('an answer of too many parts');
    return `${kind}${this.#names}`;
  }

  /**
   * Statements that shape the object `source` into `target`, or leave `target` null when a null
   * propagates through it.
   */
  #object(
    type: GraphQLObjectType,
    selectionSets: readonly SelectionSetNode[],
    source: string,
    target: string,
    place: Place,
  ): string {
    const label = this.#fresh('object');
    const fields = answerFields(this.#parts, type, selectionSets).map((field) =>
      this.#field(field, type, source, label, place),
    );
    const literal = fields.map(({ name, value }) => `${JSON.stringify(name)}: ${value}`).join(', ');
    const count = this.#counts ? `meter.take(${(fields.length + 1) * valueSize});\n` : '';
    return `${label}: {\n${count}${fields.map(({ code }) => code).join('')}${target} = { ${literal} };\n}\n`;
  }

  #field(
    field: AnswerField,
    type: GraphQLObjectType,
    source: string,
    fail: string,
    place: Place,
  ): { name: string; value: string; code: string } {
    const { responseName: name } = field;
    if (field.isTypeName) return { name, value: JSON.stringify(type.name), code: '' };
    const value = this.#fresh('value');
    const inner = {
      path: `${place.path}${JSON.stringify(name)}, `,
      what: `field ${type.name}.${name}`,
    };
    const code = `let ${value} = ${source}[${JSON.stringify(name)}];\n${this.#value(field.type, field, value, fail, inner)}`;
    return { name, value, code };
  }

  /**
   * Statements that shape the variable in place. `fail` is the block to leave when a null
   * propagates further.
   */
  #value(
    type: GraphQLOutputType,
    field: AnswerField,
    variable: string,
    fail: string,
    place: Place,
  ): string {
    const nullable = isNonNullType(type) ? type.ofType : type;
    const rise = isNonNullType(type) ? `break ${fail};` : '';
    const absent = isNonNullType(type)
      ? `{ ${this.#report('missing', place)} ${rise} }`
      : `${variable} = null;`;
    if (isLeafType(nullable)) {
      const invalid = this.#invalid(nullable, variable);
      const check =
        invalid === null
          ? ''
          : `else if (${invalid}) { ${this.#report('invalid', place)} ${variable} = null; ${rise} }\n`;
      const count =
        this.#counts && isLong(nullable) ? `else meter.takeContent(${variable});\n` : '';
      return `if (${variable} == null) ${absent}\n${check}${count}`;
    }
    const shaped = this.#fresh('shaped');
    const body = isListType(nullable)
      ? this.#list(nullable.ofType, field, variable, shaped, place)
      : isObjectType(nullable)
        ? this.#object(nullable, field.selectionSets, variable, shaped, place)
        : this.#abstract(nullable, field, variable, shaped, place);
    const bubbled = rise === '' ? '' : `if (${shaped} === null) ${rise}\n`;
    return `if (${variable} == null) ${absent}\nelse {\nlet ${shaped} = null;\n${body}${bubbled}${variable} = ${shaped};\n}\n`;
  }

  #report(kind: 'missing' | 'invalid' | 'untyped', place: Place): string {
    return `errors.push(support.${kind}(${this.#described(place)}, [${place.path}]));`;
  }

  /** A list index is known only when the function runs: its description is composed there. */
  #described(place: Place): string {
    return place.what.startsWith('`') ? place.what : JSON.stringify(place.what);
  }

  #list(
    itemType: GraphQLOutputType,
    field: AnswerField,
    source: string,
    target: string,
    place: Place,
  ): string {
    const [index, item, items, label] = [
      this.#fresh('index'),
      this.#fresh('item'),
      this.#fresh('items'),
      this.#fresh('each'),
    ];
    const named = isNonNullType(itemType) ? itemType.ofType : itemType;
    const inner = {
      path: `${place.path}${index}, `,
      what: `\`array element of type ${String(named)} at index \${${index}}\``,
    };
    const code = this.#value(itemType, field, item, label, inner);
    return [
      `if (!Array.isArray(${source})) throw support.noList(${this.#described(place)});`,
      ...(this.#counts ? [`meter.take(${source}.length * ${valueSize});`] : []),
      `let ${items} = new Array(${source}.length);`,
      `for (let ${index} = 0; ${index} < ${source}.length; ${index}++) {`,
      `let ${item} = ${source}[${index}];`,
      `${label}: {\n${code}if (${items} !== null) ${items}[${index}] = ${item};\ncontinue;\n}`,
      // Reached when a null propagates out of the item. The other items are still checked, so that
      // their violations are reported.
      `${items} = null;\n}`,
      `${target} = ${items};\n`,
    ].join('\n');
  }

  #abstract(
    type: GraphQLAbstractType,
    field: AnswerField,
    source: string,
    target: string,
    place: Place,
  ): string {
    // The planner adds `__typename` to what it fetches of an abstract type.
    const cases = this.#parts.schema
      .getPossibleTypes(type)
      .map(
        (possible) =>
          `case ${JSON.stringify(possible.name)}: {\n${this.#object(possible, field.selectionSets, source, target, place)}break; }`,
      );
    return `switch (${source}.__typename) {\n${cases.join('\n')}\ndefault: ${this.#report('untyped', place)}\n}\n`;
  }

  /** A JavaScript condition that is true of invalid values; null when the type allows any value. */
  #invalid(type: GraphQLLeafType, variable: string): string | null {
    if (isEnumType(type)) {
      this.enums[type.name] = new Set(type.getValues().map(({ name }) => name));
      return `!enums.${type.name}.has(${variable})`;
    }
    switch (getNamedType(type).name) {
      case 'String':
        return `typeof ${variable} !== 'string'`;
      case 'ID':
        return `typeof ${variable} !== 'string' && !Number.isInteger(${variable})`;
      case 'Int':
        return `!Number.isInteger(${variable})`;
      case 'Float':
        return `!Number.isFinite(${variable})`;
      case 'Boolean':
        return `typeof ${variable} !== 'boolean'`;
      default:
        return null;
    }
  }
}
