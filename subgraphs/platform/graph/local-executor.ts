/**
 * Runs documents on a subgraph in this process: compiled by graphql-jit, or by graphql-js where
 * that is not possible.
 */
import {
  execute,
  getOperationAST,
  GraphQLError,
  isSpecifiedScalarType,
  getNamedType,
  isInputObjectType,
  isNonNullType,
  isScalarType,
  Kind,
  TypeInfo,
  validate,
  visit,
  visitWithTypeInfo,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLInputType,
  type GraphQLSchema,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import type { AnswerMeter } from '../access/answer-meter.ts';
import { laneOf, inLane } from '../access/lane.ts';
import type { Call } from '../access/principal.ts';
import { presentErrors } from './present-errors.ts';
import type { SubgraphContext, SubgraphExecutor } from './subgraph.ts';
import { type Logger, currentSpan, spanned, type SpanStart } from '../tracing/telemetry.ts';

type Run = (
  variables: Readonly<Record<string, unknown>>,
  context: SubgraphContext,
) => ExecutionResult | Promise<ExecutionResult>;

/**
 * An executor over a schema in this process. `contextOf` makes the context of each call, in a
 * moment or later. Errors that no resolver meant to show leave as "internal error" and are logged
 * with the request id.
 */
export const localExecutor = (
  schema: GraphQLSchema,
  contextOf: (call: Call) => SubgraphContext | Promise<SubgraphContext>,
  log: Logger,
): SubgraphExecutor => ({
  prepare: (document) => {
    const prepared = prepareRun(schema, document);
    const start = spanStart(schema, document);
    const run: Run = (variables, context) =>
      currentSpan()
        ? spanned(start, async () => prepared(variables, context))
        : prepared(variables, context);
    const answer = async (
      variables: Readonly<Record<string, unknown>>,
      call: Call,
    ): Promise<ExecutionResult> => {
      try {
        const context = contextOf(call);
        const running = run(
          hasUndefined(variables) ? asJson(variables) : variables,
          context instanceof Promise ? await context : context,
        );
        const result = await (call.meter ? untilEnded(running, call.meter) : running);
        return result.errors ? presentErrors(result, call, log) : result;
      } catch (thrown) {
        const error =
          thrown instanceof GraphQLError
            ? thrown
            : new GraphQLError('', {
                originalError: thrown instanceof Error ? thrown : new Error(String(thrown)),
              });
        return presentErrors({ data: null, errors: [error] }, call, log);
      }
    };
    return (variables, call) => {
      const lane = call.isInLane ? laneOf(call.principal) : null;
      return lane === null ? answer(variables, call) : inLane(lane, () => answer(variables, call));
    };
  },
});

/** The result, or the refusal of one that is too large, without waiting for its fields. */
const untilEnded = (running: ReturnType<Run>, meter: AnswerMeter): Promise<ExecutionResult> =>
  Promise.race([running, meter.ended.then(() => ({ data: null, errors: [meter.refusal] }))]);

/**
 * A document's span is named by its root fields: its own name and its aliases are the caller's
 * text.
 */
const spanStart = (schema: GraphQLSchema, document: DocumentNode): SpanStart => {
  const operation = getOperationAST(document);
  const known = operation && schema.getRootType(operation.operation)?.getFields();
  const named = (operation?.selectionSet.selections ?? []).flatMap((chosen) =>
    chosen.kind === Kind.FIELD ? [chosen.name.value] : [],
  );
  const fields = named.filter((name) => name === '_entities' || known?.[name]);
  return { kind: 'internal', name: `subgraph ${[...new Set(fields)].join(' ') || 'document'}` };
};

const prepareRun = (schema: GraphQLSchema, document: DocumentNode): Run => {
  const errors = mistakesOf(schema, document);
  if (errors.length > 0) return () => ({ data: null, errors });
  const interpreted: Run = (variableValues, contextValue) =>
    execute({ schema, document, contextValue, variableValues });
  if (needsInterpreter(schema, document)) return interpreted;
  const compiled = compileQuery(schema, document, undefined, {
    disablingCapturingStackErrors: true,
  });
  if (!isCompiledQuery(compiled)) return interpreted;
  return (variables, context) => compiled.query(undefined, context, variables);
};

/**
 * A property that is undefined would be taken for an explicit null, and its default would not
 * apply; over HTTP it is simply absent.
 */
const hasUndefined = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return value === undefined;
  for (const item of Array.isArray(value) ? value : Object.values(value))
    if (hasUndefined(item)) return true;
  return false;
};

const asJson = (variables: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  const copy: unknown = JSON.parse(JSON.stringify(variables));
  return typeof copy === 'object' ? { ...copy } : {};
};

const mistakesOf = (schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[] => {
  const operation = getOperationAST(document);
  const invalid = (message: string): GraphQLError =>
    new GraphQLError(message, { extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } });
  if (!operation) return [invalid('a document for a subgraph has exactly one operation')];
  if (operation.operation === 'subscription')
    return [invalid('subscriptions are served by the gateway')];
  // A scalar that refuses a literal has its own code already.
  return validate(schema, document).map((error) =>
    typeof error.originalError === 'object' && error.extensions['code']
      ? error
      : invalid(error.message),
  );
};

/** Fields of a document that is compiled. Compiling a larger one would hold the event loop. */
const compiledFields_max = 300;

/**
 * What graphql-jit 0.8.9 takes too long for or gets wrong: `@skip` and `@include` inside fragments
 * that are spread twice, literals of custom scalars (it writes parsed values into its program as
 * JSON, where a bigint throws and an instant becomes a string), and defaults of non-null fields in
 * variables (it treats them as missing).
 */
const needsInterpreter = (schema: GraphQLSchema, document: DocumentNode): boolean => {
  const types = new TypeInfo(schema);
  let found = false;
  const atLiteral = (): void => {
    const type = getNamedType(types.getInputType());
    if (type && isScalarType(type) && !isSpecifiedScalarType(type)) found = true;
  };
  let fields = 0;
  const conditions = new Set(['skip', 'include']);
  visit(
    document,
    visitWithTypeInfo(types, {
      Field: () => void (found ||= (fields += 1) > compiledFields_max),
      Directive: (node) => void (found ||= conditions.has(node.name.value)),
      VariableDefinition: (node) =>
        void (found ||=
          (node.type.kind === Kind.NON_NULL_TYPE && !!node.defaultValue) ||
          hasFirmDefault(types.getInputType())),
      [Kind.INT]: atLiteral,
      [Kind.FLOAT]: atLiteral,
      [Kind.STRING]: atLiteral,
      [Kind.BOOLEAN]: atLiteral,
      [Kind.OBJECT]: atLiteral,
      [Kind.LIST]: atLiteral,
    }),
  );
  return found;
};

/** Whether the type holds a non-null input field with a default. */
const hasFirmDefault = (
  type: GraphQLInputType | null | undefined,
  above: ReadonlySet<GraphQLInputType> = new Set(),
): boolean => {
  const named = type && getNamedType(type);
  if (!isInputObjectType(named) || above.has(named)) return false;
  const inside = new Set([...above, named]);
  return Object.values(named.getFields()).some(
    (field) =>
      (isNonNullType(field.type) && field.defaultValue !== undefined) ||
      hasFirmDefault(field.type, inside),
  );
};
