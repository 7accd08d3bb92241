/** The fields that an operation selects on a type, in the order of the answer. */
import {
  isAbstractType,
  Kind,
  TypeNameMetaFieldDef,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql';
import { CannotCompile } from './cannot-compile.ts';

/** One field of an answer: everything that the operation selects under one response name. */
export interface AnswerField {
  readonly responseName: string;
  readonly type: GraphQLOutputType;
  readonly isTypeName: boolean;
  readonly selectionSets: SelectionSetNode[];
}

export interface OperationParts {
  readonly schema: GraphQLSchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
}

/**
 * The fields of an object of the type, including those of fragments that apply to it. Throws
 * CannotCompile on conditions that only a call decides.
 */
export const answerFields = (
  parts: OperationParts,
  type: GraphQLObjectType,
  selectionSets: readonly SelectionSetNode[],
): readonly AnswerField[] => {
  const fields = new Map<string, AnswerField>();
  for (const selectionSet of selectionSets) collect(parts, type, selectionSet, fields);
  return [...fields.values()];
};

const collect = (
  parts: OperationParts,
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
    const fragment =
      selection.kind === Kind.INLINE_FRAGMENT
        ? selection
        : parts.fragments.get(selection.name.value);
    if (!fragment) throw new CannotCompile('a fragment that is not there');
    const condition = fragment.typeCondition?.name.value;
    if (condition === undefined || applies(parts.schema, condition, type))
      collect(parts, type, fragment.selectionSet, fields);
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
