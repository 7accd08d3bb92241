/**
 * The operations of the console (`console/operations`): the manifest by which the gateway knows
 * them, and the typed documents that the program sends.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import {
  Kind,
  parse,
  print,
  separateOperations,
  validate,
  type DefinitionNode,
  type DocumentNode,
  type GraphQLSchema,
  type SelectionNode,
} from 'graphql';
import { readFolder } from './sources.ts';

const folder = join(import.meta.dirname, '../console/operations');

/** What a session may send, and the version that a page and a gateway must share. */
interface Manifest {
  readonly version: string;
  readonly operations: Readonly<Record<string, string>>;
}

const manifestOf = (apiSchema: GraphQLSchema, document: DocumentNode): Manifest => {
  const errors = validate(apiSchema, document);
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'));
  const operations = Object.fromEntries(
    Object.entries(separateOperations(document)).map(([name, one]) => [name, print(one)]),
  );
  const digest = createHash('sha256').update(JSON.stringify(operations)).digest('hex');
  return { version: digest.slice(0, 16), operations };
};

const typename: SelectionNode = {
  kind: Kind.FIELD,
  name: { kind: Kind.NAME, value: '__typename' },
};
const refusal: SelectionNode = {
  kind: Kind.FRAGMENT_SPREAD,
  name: { kind: Kind.NAME, value: 'Refusal' },
};

/** Asks every mutation which result it has, and why it was refused. */
const withRefusal = (definition: DefinitionNode): DefinitionNode => {
  if (definition.kind !== Kind.OPERATION_DEFINITION || definition.operation !== 'mutation')
    return definition;
  const asked = definition.selectionSet.selections.map((field) => {
    if (field.kind !== Kind.FIELD) return field;
    const selections = [typename, ...(field.selectionSet?.selections ?? []), refusal];
    return { ...field, selectionSet: { kind: Kind.SELECTION_SET, selections } as const };
  });
  return { ...definition, selectionSet: { kind: Kind.SELECTION_SET, selections: asked } };
};

const suffixes = { query: 'Query', mutation: 'Mutation', subscription: 'Subscription' } as const;

/** The typed constants: the program sends an operation's name, and the gateway has its text. */
const typedDocuments = (document: DocumentNode, { version, operations }: Manifest): string => {
  const rows = document.definitions.flatMap((definition) => {
    if (definition.kind !== Kind.OPERATION_DEFINITION || !definition.name) return [];
    const name = definition.name.value;
    const type = `${name}${suffixes[definition.operation]}`;
    const text = JSON.stringify(operations[name]);
    return [`export const ${name} = typed<${type}, ${type}Variables>(\n  ${text},\n);`];
  });
  return [
    '',
    '/** What the gateway and the page must share. */',
    `export const operationsVersion = '${version}';`,
    '',
    'const typed = <Data, Variables>(text: string): TypedDocumentNode<Data, Variables> =>',
    '  text as unknown as TypedDocumentNode<Data, Variables>;',
    '',
    ...rows,
    '',
  ].join('\n');
};

/** The generated files: `types` gives those of the operations' variables and results. */
export const consoleFiles = async (
  apiSchema: GraphQLSchema,
  types: (document: DocumentNode) => Promise<string>,
  banner: string,
): Promise<ReadonlyMap<string, string>> => {
  const written = parse(readFolder(folder), { noLocation: true });
  const document = { ...written, definitions: written.definitions.map(withRefusal) };
  const manifest = manifestOf(apiSchema, document);
  const head = `${banner}import type { TypedDocumentNode } from '@graphql-typed-document-node/core';\n\n`;
  return new Map([
    ['generated/console-operations.json', `${JSON.stringify(manifest, null, 1)}\n`],
    ['generated/console.ts', head + (await types(document)) + typedDocuments(document, manifest)],
  ]);
};
