/**
 * The export of a list: the console's own operation, reduced to its rows, with a column for each
 * field. Lists of objects within a row are left out. A list that the console gains later can be
 * exported without a change here.
 */
import {
  getNamedType,
  getNullableType,
  getOperationAST,
  isCompositeType,
  isListType,
  isObjectType,
  Kind,
  OperationTypeNode,
  parse,
  visit,
  type DocumentNode,
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { fragmentsOf, type Fragments } from '../../gateway/graphql/fragments.ts';

/** One column: its name, and where its value is in a row. */
export interface ExportColumn {
  /** An amount or a moment says its unit or its zone. */
  readonly name: string;
  readonly path: readonly string[];
  /** Of an amount: where its currency is in the row; null for what is no amount, or has none. */
  readonly currency: readonly string[] | null;
}

export interface ExportPlan {
  /** The operation with its rows alone; it takes the variables of the list. */
  readonly document: DocumentNode;
  /** Under which name the answer holds the list. */
  readonly field: string;
  readonly columns: readonly ExportColumn[];
}

/** What a list is answered with: as a connection, or as the event log. */
export type ListAnswer =
  | {
      readonly nodes: readonly unknown[];
      readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
    }
  | {
      readonly items: readonly unknown[];
      readonly hasMore: boolean;
      readonly lastId: string | null;
    };

/** The rows of an answer and the `after` of the next page; null on the last one. */
export const pageOf = (
  answer: ListAnswer,
): { readonly rows: readonly unknown[]; readonly after: string | null } =>
  'nodes' in answer
    ? { rows: answer.nodes, after: answer.pageInfo.hasNextPage ? answer.pageInfo.endCursor : null }
    : { rows: answer.items, after: answer.hasMore ? answer.lastId : null };

/** `amountRefunded` as `amount_refunded`. */
const columnName = (path: readonly string[]): string =>
  path.join('_').replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const nameOf = ({ alias, name }: FieldNode): string => (alias ?? name).value;

/** The fields of a selection on a type, those of its fragments among them. */
const fieldsOf = (
  { selections }: SelectionSetNode,
  typeName: string,
  fragments: Fragments,
): readonly FieldNode[] =>
  selections.flatMap((selection): readonly FieldNode[] => {
    if (selection.kind === Kind.FIELD) return [selection];
    const inner =
      selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
    const on = inner?.typeCondition?.name.value ?? typeName;
    return inner && on === typeName ? fieldsOf(inner.selectionSet, typeName, fragments) : [];
  });

interface Leaf extends Omit<ExportColumn, 'currency'> {
  readonly type: string;
}

interface Kept {
  readonly selections: readonly SelectionNode[];
  readonly columns: readonly Leaf[];
}

/** The fields of a row that have a column, and the columns. */
const keepLeaves = (
  set: SelectionSetNode,
  type: GraphQLNamedType,
  fragments: Fragments,
  above: readonly string[] = [],
): Kept => {
  if (!isObjectType(type)) return { selections: [], columns: [] };
  const kept = new Map<string, Kept>();
  for (const field of fieldsOf(set, type.name, fragments)) {
    const found = type.getFields()[field.name.value];
    const path = [...above, nameOf(field)];
    if (!found || kept.has(nameOf(field))) continue;
    const named = getNamedType(found.type);
    if (!isCompositeType(named)) {
      const columns = [{ name: columnName(path), path, type: named.name }];
      kept.set(nameOf(field), { selections: [field], columns });
    } else if (field.selectionSet && !isListType(getNullableType(found.type))) {
      const inner = keepLeaves(field.selectionSet, named, fragments, path);
      if (inner.columns.length === 0) continue;
      const selectionSet = { ...field.selectionSet, selections: inner.selections };
      kept.set(nameOf(field), { ...inner, selections: [{ ...field, selectionSet }] });
    }
  }
  const all = [...kept.values()];
  return {
    selections: all.flatMap(({ selections }) => selections),
    columns: all.flatMap(({ columns }) => columns),
  };
};

const amounts: ReadonlySet<string> = new Set(['MinorUnits', 'SignedMinorUnits']);

/** Where the currency of an amount is: beside it, or the only one of the row. */
const currencyOf = ({ path }: Leaf, leaves: readonly Leaf[]): readonly string[] | null => {
  const known = leaves.filter((leaf) => leaf.path.at(-1) === 'currency');
  const beside = [...path.slice(0, -1), 'currency'].join();
  return (
    (known.find((leaf) => leaf.path.join() === beside) ?? (known.length === 1 ? known[0] : null))
      ?.path ?? null
  );
};

/** A column with its unit: amounts are in the row's currency where it is known, moments in UTC. */
const withUnit = (leaf: Leaf, leaves: readonly Leaf[]): ExportColumn => {
  const { name, path, type } = leaf;
  if (type === 'DateTime') return { name: `${name} (UTC)`, path, currency: null };
  if (!amounts.has(type)) return { name, path, currency: null };
  const currency = currencyOf(leaf, leaves);
  return { name: `${name} (${currency ? 'in currency' : 'minor units'})`, path, currency };
};

const fieldNode = (name: string, selections?: readonly SelectionNode[]): FieldNode => ({
  kind: Kind.FIELD,
  name: { kind: Kind.NAME, value: name },
  ...(selections ? { selectionSet: { kind: Kind.SELECTION_SET, selections } } : {}),
});

/** How a list names its rows, and the fields that say where the next ones begin. */
const listShapes = [
  {
    rows: 'nodes',
    place: [fieldNode('pageInfo', [fieldNode('hasNextPage'), fieldNode('endCursor')])],
  },
  { rows: 'items', place: [fieldNode('hasMore'), fieldNode('lastId')] },
] as const;

/** The operation over this field alone, with the variables that the field still names. */
const operationOver = (
  operation: OperationDefinitionNode,
  root: FieldNode,
): OperationDefinitionNode => {
  const used = new Set<string>();
  visit(root, { Variable: ({ name }) => void used.add(name.value) });
  const variableDefinitions = (operation.variableDefinitions ?? []).filter(({ variable }) =>
    used.has(variable.name.value),
  );
  const selectionSet = { kind: Kind.SELECTION_SET, selections: [root] } as const;
  return { ...operation, variableDefinitions, selectionSet };
};

/** The list that an operation asks for: its one field, which has `first`, `after` and rows. */
const listIn = (
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
): {
  readonly field: FieldNode;
  readonly shape: (typeof listShapes)[number];
  readonly nodes: FieldNode;
  readonly row: GraphQLNamedType;
} | null => {
  const [field, ...others] = operation.selectionSet.selections;
  if (operation.operation !== OperationTypeNode.QUERY || others.length > 0) return null;
  if (field?.kind !== Kind.FIELD) return null;
  const asked = new Set((field.arguments ?? []).map(({ name }) => name.value));
  const connection = schema.getQueryType()?.getFields()[field.name.value]?.type;
  const list = connection && getNamedType(connection);
  if (!asked.has('first') || !asked.has('after') || !isObjectType(list)) return null;
  for (const shape of listShapes) {
    const nodes = field.selectionSet?.selections.find(
      (inner): inner is FieldNode => inner.kind === Kind.FIELD && nameOf(inner) === shape.rows,
    );
    const rows = list.getFields()[shape.rows];
    if (nodes && rows) return { field, shape, nodes, row: getNamedType(rows.type) };
  }
  return null;
};

/** The plan of an operation's export; null when the operation is not one list. */
export const planExport = (schema: GraphQLSchema, text: string): ExportPlan | null => {
  const parsed = parse(text, { noLocation: true });
  const operation = getOperationAST(parsed);
  const fragments = fragmentsOf(parsed);
  const found = operation && listIn(schema, operation);
  if (!operation || !found?.nodes.selectionSet) return null;
  const { field, shape, nodes, row } = found;
  const { selections, columns: all } = keepLeaves(found.nodes.selectionSet, row, fragments);
  // `paymentId` and `payment { id }` are one column: what has the same name is the same thing.
  const columns = all
    .filter(({ name }, index) => all.findIndex((column) => column.name === name) === index)
    .map((leaf, _, leaves) => withUnit(leaf, leaves));
  if (columns.length === 0) return null;
  const { alias: _, ...plainNodes } = nodes;
  const root = {
    ...field,
    arguments: (field.arguments ?? []).filter(
      ({ name }) => name.value !== 'last' && name.value !== 'before',
    ),
    selectionSet: {
      kind: Kind.SELECTION_SET,
      selections: [
        { ...plainNodes, selectionSet: { kind: Kind.SELECTION_SET, selections } },
        ...shape.place,
      ],
    },
  } as const;
  const document = {
    kind: Kind.DOCUMENT,
    definitions: [operationOver(operation, root)],
  } as const;
  return { document, field: nameOf(field), columns };
};
