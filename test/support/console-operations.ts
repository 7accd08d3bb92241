/** The operations that the console sends, with values of the types that they take. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  Kind,
  parse,
  typeFromAST,
  type GraphQLInputType,
  type OperationDefinitionNode,
} from 'graphql';

const generated = join(import.meta.dirname, '../../schema/generated');
const schema = buildSchema(readFileSync(join(generated, 'api.graphql'), 'utf8'), {
  assumeValidSDL: true,
});
const scalars: Readonly<Record<string, unknown>> = {
  Int: 1,
  Boolean: true,
  MinorUnits: 100,
  SignedMinorUnits: 100,
  DateTime: '2026-01-01T00:00:00.000Z',
};

export interface ConsoleOperation {
  readonly name: string;
  readonly kind: OperationDefinitionNode['operation'];
  readonly text: string;
  readonly definition: OperationDefinitionNode;
}

/** All of the manifest. */
export const consoleOperations = (): readonly ConsoleOperation[] => {
  const manifest = readFileSync(join(generated, 'console-operations.json'), 'utf8');
  const { operations }: { operations: Record<string, string> } = JSON.parse(manifest);
  return Object.values(operations).flatMap((text) =>
    parse(text)
      .definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION)
      .map((definition) => ({
        name: definition.name?.value ?? '',
        kind: definition.operation,
        text,
        definition,
      })),
  );
};

/** Some value of the type; of an object what must be given. What is a text is `id`. */
const valueOf = (type: GraphQLInputType, id: string): unknown => {
  const bare = isNonNullType(type) ? type.ofType : type;
  if (isListType(bare)) return [valueOf(bare.ofType, id)];
  if (isEnumType(bare)) return bare.getValues()[0]?.name;
  if (!isInputObjectType(bare)) return scalars[getNamedType(bare).name] ?? id;
  const fields = Object.values(bare.getFields()).filter((one) => isNonNullType(one.type));
  return Object.fromEntries(fields.map((one) => [one.name, valueOf(one.type, id)]));
};

/** A value for each variable, or for those alone that must be given. */
export const someVariables = (
  { definition: { variableDefinitions = [] } }: ConsoleOperation,
  id: string,
  which: 'all' | 'required' = 'all',
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    variableDefinitions
      .filter(({ type }) => which === 'all' || type.kind === Kind.NON_NULL_TYPE)
      .map(({ variable, type }) => {
        const known = typeFromAST(schema, type as never) as GraphQLInputType;
        return [variable.name.value, valueOf(known, id)];
      }),
  );
