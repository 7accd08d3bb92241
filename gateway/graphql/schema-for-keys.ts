/** The part of the graph that API keys may call: introspection with a key shows no more. */
import {
  buildASTSchema,
  isTypeDefinitionNode,
  Kind,
  parse,
  printSchema,
  visit,
  type FieldDefinitionNode,
  type GraphQLSchema,
  type TypeDefinitionNode,
} from 'graphql';
import { access, accessBelowRoot } from '../../subgraphs/platform/access/access.ts';

const rootNames = ['Query', 'Mutation', 'Subscription'];

/** Whether a key, with the scopes for it, may select the field. */
const isForKeys = (type: string, { name }: FieldDefinitionNode): boolean => {
  const field = `${type}.${name.value}`;
  const row = rootNames.includes(type) ? (access[field] ?? {}) : accessBelowRoot[field];
  return row === undefined || row.key !== undefined;
};

/** The names of the types that a definition mentions. */
const mentioned = (definition: TypeDefinitionNode): readonly string[] => {
  const names: string[] = [];
  visit(definition, { NamedType: ({ name }) => void names.push(name.value) });
  return names;
};

/** The types that a caller can reach from the root, those behind interfaces among them. */
const reachable = (types: readonly TypeDefinitionNode[]): ReadonlySet<string> => {
  const byName = new Map(types.map((type) => [type.name.value, type]));
  const found = new Set<string>();
  const behind = Map.groupBy(
    types.flatMap((type) =>
      ('interfaces' in type ? (type.interfaces ?? []) : []).map((of) => ({ of, type })),
    ),
    ({ of }) => of.name.value,
  );
  const add = (name: string): void => {
    const type = byName.get(name);
    if (!type || found.has(name)) return;
    found.add(name);
    for (const next of mentioned(type)) add(next);
    for (const { type: next } of behind.get(name) ?? []) add(next.name.value);
  };
  for (const name of rootNames) add(name);
  return found;
};

/** Derives it from the whole schema. */
export const schemaForKeys = (schema: GraphQLSchema): GraphQLSchema => {
  const { definitions } = parse(printSchema(schema), { noLocation: true });
  const types: TypeDefinitionNode[] = [];
  for (const node of definitions)
    if (node.kind === Kind.OBJECT_TYPE_DEFINITION) {
      const fields = (node.fields ?? []).filter((field) => isForKeys(node.name.value, field));
      if (fields.length > 0) types.push({ ...node, fields });
    } else if (isTypeDefinitionNode(node)) types.push(node);
  const shown = reachable(types);
  return buildASTSchema(
    {
      kind: Kind.DOCUMENT,
      definitions: [
        ...definitions.filter(({ kind }) => kind === Kind.DIRECTIVE_DEFINITION),
        ...types.filter(({ name }) => shown.has(name.value)),
      ],
    },
    { assumeValidSDL: true },
  );
};
