/**
 * Renames aliases that collide with the fields which the planner adds to documents. The planner
 * identifies a selection by its response name: where a client writes `id: orderId`, it finds an
 * `id` and does not add the entity's own, so the order id would identify the entity to the next
 * subgraph. Such aliases are renamed before the document is planned, and restored in the answer.
 */
import {
  getOperationAST,
  GraphQLError,
  Kind,
  parse,
  visit,
  type DirectiveNode,
  type DocumentNode,
  type ExecutionResult,
  type SelectionSetNode,
} from 'graphql';
import { lazilyOf } from '../../subgraphs/platform/graph/lazily.ts';
import { codedError } from '../graphql/errors.ts';
import { fragmentBehind, fragmentsOf } from '../graphql/fragments.ts';
import type { GatewayExecutor } from '../graphql/run-documents.ts';

/**
 * The variable in which the planner passes keys. A client's variable of that name would be taken
 * for it.
 */
const keysVariable = 'representations';

const typeName = '__typename';

/**
 * Field sets of the supergraph's `@join__type(key:)` and `@join__field(requires:)`, which the
 * planner may add to a selection.
 */
const addedFields = ({ name, arguments: given = [] }: DirectiveNode): readonly string[] => {
  const holder = { join__type: 'key', join__field: 'requires' }[name.value];
  return given.flatMap(({ name: { value: argument }, value }) =>
    argument === holder && value.kind === Kind.STRING ? [value.value] : [],
  );
};

/**
 * The names of all fields that the planner may add: those of every entity's key, and `__typename`.
 */
export const keyFieldNames = (supergraphSdl: string): ReadonlySet<string> => {
  const names = new Set([typeName]);
  visit(parse(supergraphSdl, { noLocation: true }), {
    Directive: (directive) => {
      for (const fields of addedFields(directive))
        visit(parse(`{${fields}}`), { Field: ({ name }) => void names.add(name.value) });
    },
  });
  return names;
};

/** The response names of a selection, each with those of its own fields. */
interface Names {
  readonly below: Map<string, Names>;
}

/**
 * A document that is safe to plan, and the function that restores the client's names in its
 * answers.
 */
interface RenamedDocument {
  readonly document: DocumentNode;
  readonly restore: (result: ExecutionResult) => ExecutionResult;
}

/**
 * Renames the ambiguous aliases of a document: null when there are none, an error when the document
 * cannot be planned at all.
 */
type AliasRenamer = (document: DocumentNode) => RenamedDocument | GraphQLError | null;

/**
 * Opens the renaming for these names. The result is cached for as long as the document object
 * exists.
 */
export const openAliasRenamer = (keyNames: ReadonlySet<string>): AliasRenamer =>
  lazilyOf((document: DocumentNode) => examine(document, keyNames));

const examine = (
  document: DocumentNode,
  keyNames: ReadonlySet<string>,
): ReturnType<AliasRenamer> => {
  const names = new Set<string>();
  let collides = false;
  let usesKeysVariable = false;
  visit(document, {
    VariableDefinition: ({ variable }) =>
      void (usesKeysVariable ||= variable.name.value === keysVariable),
    Field: ({ alias, name }) => {
      names.add(name.value).add(alias?.value ?? name.value);
      collides ||= alias !== undefined && isAmbiguous(alias.value, name.value, keyNames);
    },
  });
  if (usesKeysVariable)
    return codedError('bad_request', `A variable cannot be called $${keysVariable} here.`);
  if (!collides) return null;
  const prefix = freePrefix(names);
  const renamed = renameAmbiguous(document, keyNames, prefix);
  return { document: renamed, restore: restorer(renamed, prefix) };
};

const isAmbiguous = (alias: string, field: string, keyNames: ReadonlySet<string>): boolean =>
  alias !== field && keyNames.has(alias);

/** A prefix that no name of the document has, so that renamed names are unique. */
const freePrefix = (names: ReadonlySet<string>): string => {
  let prefix = 'own_';
  while (names.values().some((name) => name.startsWith(prefix))) prefix = `${prefix}_`;
  return prefix;
};

const renameAmbiguous = (
  document: DocumentNode,
  keyNames: ReadonlySet<string>,
  prefix: string,
): DocumentNode =>
  visit(document, {
    Field: (field) => {
      const { alias, name } = field;
      if (!alias || !isAmbiguous(alias.value, name.value, keyNames)) return undefined;
      return { ...field, alias: { ...alias, value: prefix + alias.value } };
    },
  });

const restorer = (document: DocumentNode, prefix: string): RenamedDocument['restore'] => {
  const tree = namesIn(document);
  const ownName = (step: string | number): string | number =>
    typeof step === 'string' && step.startsWith(prefix) ? step.slice(prefix.length) : step;
  const restoreObject = (object: object, { below }: Names): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(object).map(([name, value]) => [
        ownName(name),
        restoreValue(value, below.get(name)),
      ]),
    );
  // A field without a selection is a value; names within it (of metadata, of a payload) stay as they
  // are.
  const restoreValue = (value: unknown, names: Names | undefined): unknown => {
    if (!names?.below.size || typeof value !== 'object' || value === null) return value;
    return Array.isArray(value)
      ? value.map((item) => restoreValue(item, names))
      : restoreObject(value, names);
  };
  const restoreError = (error: GraphQLError): GraphQLError =>
    new GraphQLError(error.message.replaceAll(prefix, ''), {
      nodes: error.nodes ?? null,
      originalError: error.originalError ?? null,
      ...(error.path ? { path: error.path.map(ownName) } : {}),
      extensions: error.extensions,
    });
  const restoreExtensions = (
    extensions: Readonly<Record<string, unknown>>,
  ): Readonly<Record<string, unknown>> => {
    const violations: unknown = extensions['valueCompletion'];
    if (!Array.isArray(violations)) return extensions;
    return {
      ...extensions,
      valueCompletion: violations.flatMap((error) =>
        error instanceof GraphQLError ? [restoreError(error)] : [],
      ),
    };
  };
  return ({ data, errors, extensions, ...rest }) => ({
    ...rest,
    ...(errors ? { errors: errors.map(restoreError) } : {}),
    ...(data === undefined ? {} : { data: data && restoreObject(data, tree) }),
    ...(extensions ? { extensions: restoreExtensions(extensions) } : {}),
  });
};

/**
 * The tree of response names of all operations. Fields of a fragment are taken as present, whatever
 * the type.
 */
const namesIn = (document: DocumentNode): Names => {
  const fragments = fragmentsOf(document);
  const collect = ({ selections }: SelectionSetNode, { below }: Names): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        const responseName = (selection.alias ?? selection.name).value;
        const names = below.get(responseName) ?? { below: new Map() };
        below.set(responseName, names);
        if (selection.selectionSet) collect(selection.selectionSet, names);
        continue;
      }
      const fragment = fragmentBehind(selection, fragments);
      if (fragment) collect(fragment.selectionSet, { below });
    }
  };
  const tree: Names = { below: new Map() };
  for (const definition of document.definitions)
    if (definition.kind === Kind.OPERATION_DEFINITION) collect(definition.selectionSet, tree);
  return tree;
};

/** The gateway's executor over renamed documents. */
export const executeRenamed =
  (renameAliases: AliasRenamer, executor: GatewayExecutor): GatewayExecutor =>
  async (context) => {
    const renamed = renameAliases(context.document);
    if (renamed === null) return executor(context);
    if (renamed instanceof GraphQLError) return { errors: [renamed] };
    const operation = getOperationAST(renamed.document, context.request.operationName);
    if (!operation) return executor(context);
    return renamed.restore(await executor({ ...context, document: renamed.document, operation }));
  };
