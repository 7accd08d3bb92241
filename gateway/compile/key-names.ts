/**
 * Keeps the response names of clients apart from the fields that the planner adds to their
 * documents. The planner takes a selection by its response name: where a client writes `id:
 * orderId`, it finds an `id` and does not add the entity's own, so the order id would name the
 * entity to the next subgraph. Such aliases get another name before the document is planned, and
 * have their own again in the answer.
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
  type FragmentDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import type { PreparedDocument } from '../../subgraphs/kernel/service/graph/subgraph.ts';
import type { GatewayExecutor } from '../graphql/run-documents.ts';

/**
 * The variable in which the planner passes keys; a client's own of that name would be mistaken for
 * it.
 */
const keysVariable = 'representations';

const typeName = '__typename';

/**
 * Field sets of the supergraph's `@join__type(key:)` and of `@join__field(requires:)`: what the
 * planner may add to a selection.
 */
const addedFields = ({ name, arguments: given = [] }: DirectiveNode): readonly string[] => {
  const holder = { join__type: 'key', join__field: 'requires' }[name.value];
  return given.flatMap(({ name: { value: argument }, value }) =>
    argument === holder && value.kind === Kind.STRING ? [value.value] : [],
  );
};

/** Names of all fields that the planner may add: those of every entity's key, and `__typename`. */
export const keyNamesOf = (supergraphSdl: string): ReadonlySet<string> => {
  const names = new Set([typeName]);
  visit(parse(supergraphSdl, { noLocation: true }), {
    Directive: (directive) => {
      for (const fields of addedFields(directive))
        visit(parse(`{${fields}}`), { Field: ({ name }) => void names.add(name.value) });
    },
  });
  return names;
};

/** The response names of a selection that lead to more fields, or that were changed. */
interface Names {
  readonly own: string;
  readonly below: Map<string, Names>;
}

/** A document that is safe to plan, and what gives its answers the client's names again. */
interface KeptApart {
  readonly document: DocumentNode;
  readonly restore: (result: ExecutionResult) => ExecutionResult;
}

/**
 * What of a document must be changed before it is planned: nothing (null), some names, or that it
 * cannot be planned at all.
 */
export type KeepApart = (document: DocumentNode) => KeptApart | GraphQLError | null;

/**
 * Opens the renaming for these names. What was found of a document is kept for as long as the
 * document object is.
 */
export const openKeepApart = (keyNames: ReadonlySet<string>): KeepApart => {
  const known = new WeakMap<DocumentNode, ReturnType<KeepApart>>();
  return (document) => {
    const before = known.get(document);
    if (before !== undefined) return before;
    const found = examine(document, keyNames);
    known.set(document, found);
    return found;
  };
};

const examine = (document: DocumentNode, keyNames: ReadonlySet<string>): ReturnType<KeepApart> => {
  const names = new Set<string>();
  let collides = false;
  let takesKeys = false;
  visit(document, {
    VariableDefinition: ({ variable }) => void (takesKeys ||= variable.name.value === keysVariable),
    Field: ({ alias, name }) => {
      names.add(name.value).add(alias?.value ?? name.value);
      collides ||= alias !== undefined && isMistakable(alias.value, name.value, keyNames);
    },
  });
  if (takesKeys)
    return new GraphQLError(`A variable cannot be called $${keysVariable} here.`, {
      extensions: { code: 'bad_request' },
    });
  if (!collides) return null;
  const prefix = freePrefix(names);
  const renamed = rename(document, keyNames, prefix);
  return { document: renamed, restore: restorer(renamed, prefix) };
};

const isMistakable = (alias: string, field: string, keyNames: ReadonlySet<string>): boolean =>
  alias !== field && keyNames.has(alias);

/** One that no name of the document begins with, so that it can be told from all of them. */
const freePrefix = (names: ReadonlySet<string>): string => {
  let prefix = 'own_';
  while (names.values().some((name) => name.startsWith(prefix))) prefix = `${prefix}_`;
  return prefix;
};

const rename = (
  document: DocumentNode,
  keyNames: ReadonlySet<string>,
  prefix: string,
): DocumentNode =>
  visit(document, {
    Field: (field) => {
      const { alias, name } = field;
      if (!alias || !isMistakable(alias.value, name.value, keyNames)) return undefined;
      return { ...field, alias: { ...alias, value: prefix + alias.value } };
    },
  });

const restorer = (document: DocumentNode, prefix: string): KeptApart['restore'] => {
  const tree = namesIn(document, prefix);
  const ownName = (step: string | number): string | number =>
    typeof step === 'string' && step.startsWith(prefix) ? step.slice(prefix.length) : step;
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
 * The tree of response names of all operations; what a fragment selects is taken for there,
 * whatever the type.
 */
const namesIn = (document: DocumentNode, prefix: string): Names['below'] => {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION)
      fragments.set(definition.name.value, definition);
  const collect = ({ selections }: SelectionSetNode, into: Names['below']): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        const responseName = (selection.alias ?? selection.name).value;
        const own = responseName.startsWith(prefix)
          ? responseName.slice(prefix.length)
          : responseName;
        const names = into.get(responseName) ?? { own, below: new Map() };
        into.set(responseName, names);
        if (selection.selectionSet) collect(selection.selectionSet, names.below);
        continue;
      }
      const fragment =
        selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments.get(selection.name.value);
      if (fragment) collect(fragment.selectionSet, into);
    }
  };
  const tree: Names['below'] = new Map();
  for (const definition of document.definitions)
    if (definition.kind === Kind.OPERATION_DEFINITION) collect(definition.selectionSet, tree);
  return tree;
};

/**
 * What has no fields in the document is a value, whose own names (of metadata, of a payload) are
 * left alone.
 */
const restoreObject = (object: object, names: Names['below']): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(object).map(([responseName, value]) => {
      const known = names.get(responseName);
      return known ? [known.own, restoreValue(value, known.below)] : [responseName, value];
    }),
  );

const restoreValue = (value: unknown, below: Names['below']): unknown => {
  if (below.size === 0 || typeof value !== 'object' || value === null) return value;
  return Array.isArray(value)
    ? value.map((item) => restoreValue(item, below))
    : restoreObject(value, below);
};

/** The gateway's executor with names kept apart. */
export const executeApart =
  (keepApart: KeepApart, executor: GatewayExecutor): GatewayExecutor =>
  async (context) => {
    const apart = keepApart(context.document);
    if (apart === null) return executor(context);
    if (apart instanceof GraphQLError) return { errors: [apart] };
    const operation = getOperationAST(apart.document, context.request.operationName);
    if (!operation) return executor(context);
    return apart.restore(await executor({ ...context, document: apart.document, operation }));
  };

/** A compiler of documents with names kept apart. Throws what cannot be planned at all. */
export const compileApart =
  (
    keepApart: KeepApart,
    compile: (document: DocumentNode) => PreparedDocument,
  ): ((document: DocumentNode) => PreparedDocument) =>
  (document) => {
    const apart = keepApart(document);
    if (apart === null) return compile(document);
    if (apart instanceof GraphQLError) throw apart;
    const run = compile(apart.document);
    return async (variables, call) => apart.restore(await run(variables, call));
  };
