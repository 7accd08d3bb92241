/**
 * The export of a list: the console's own operation, with a column for each field of its rows.
 * Lists of objects within a row have none. A list that the console gains later can be exported
 * without a change here.
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
  type DocumentNode,
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { fieldsIn, fragmentsOf, type Fragments } from '../../gateway/graphql/fragments.ts';

/** One column: its name, and where its value is in a row. */
export interface ExportColumn {
  /** An amount or a moment says its unit or its zone. */
  readonly name: string;
  readonly path: readonly string[];
  /** Of an amount: where its currency is in the row; null for what is no amount, or has none. */
  readonly currency: readonly string[] | null;
}

export interface ExportPlan {
  /** The list's operation, which takes the variables of the list. */
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

interface Leaf extends Omit<ExportColumn, 'currency'> {
  readonly type: string;
}

/** The fields of a row that have a column. */
const leavesOf = (
  set: SelectionSetNode,
  type: GraphQLNamedType,
  fragments: Fragments,
  above: readonly string[] = [],
): readonly Leaf[] => {
  if (!isObjectType(type)) return [];
  return fieldsIn(set, fragments).flatMap((field) => {
    const found = type.getFields()[field.name.value];
    if (!found) return [];
    const path = [...above, nameOf(field)];
    const named = getNamedType(found.type);
    if (!isCompositeType(named)) return [{ name: columnName(path), path, type: named.name }];
    return field.selectionSet && !isListType(getNullableType(found.type))
      ? leavesOf(field.selectionSet, named, fragments, path)
      : [];
  });
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

/** The list that an operation asks for: its one field, which has `first`, `after` and rows. */
const listIn = (
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
): {
  readonly field: FieldNode;
  readonly rows: FieldNode;
  readonly row: GraphQLNamedType;
} | null => {
  const [field, ...others] = operation.selectionSet.selections;
  if (operation.operation !== OperationTypeNode.QUERY || others.length > 0) return null;
  if (field?.kind !== Kind.FIELD) return null;
  const asked = new Set((field.arguments ?? []).map(({ name }) => name.value));
  const list = getNamedType(schema.getQueryType()?.getFields()[field.name.value]?.type);
  if (!asked.has('first') || !asked.has('after') || !isObjectType(list)) return null;
  const rows = field.selectionSet?.selections.find(
    (inner): inner is FieldNode =>
      inner.kind === Kind.FIELD && ['nodes', 'items'].includes(nameOf(inner)),
  );
  const found = rows && list.getFields()[rows.name.value];
  return found ? { field, rows, row: getNamedType(found.type) } : null;
};

/** The plan of an operation's export; null when the operation is not one list. */
export const planExport = (schema: GraphQLSchema, text: string): ExportPlan | null => {
  const document = parse(text, { noLocation: true });
  const operation = getOperationAST(document);
  const found = operation && listIn(schema, operation);
  if (!found?.rows.selectionSet) return null;
  const all = leavesOf(found.rows.selectionSet, found.row, fragmentsOf(document));
  // `paymentId` and `payment { id }` are one column: what has the same name is the same thing.
  const columns = all
    .filter(({ name }, index) => all.findIndex((column) => column.name === name) === index)
    .map((leaf, _, leaves) => withUnit(leaf, leaves));
  return columns.length === 0 ? null : { document, field: nameOf(found.field), columns };
};
