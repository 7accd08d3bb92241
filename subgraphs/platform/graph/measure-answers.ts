/**
 * Makes a schema count what its resolvers return, by the selection, before anything is built from
 * it. Only calls with a meter are counted. A field without a resolver is counted with its object; a
 * composite field with a resolver, when that has answered.
 */
import {
  getNamedType,
  isCompositeType,
  isEnumType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  Kind,
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql';
import { valueSize, type AnswerMeter } from '../access/answer-meter.ts';
import { isFreeText } from './free-texts.ts';
import type { SubgraphContext } from './subgraph.ts';

/** The text of an id, or of a scalar with its own resolver: an address of the page is as long. */
const resolvedScalarSize = 120;
/** A resolver's call costs as much as ten values. */
const resolverSize = 10 * valueSize;
/** Scalars whose length is not worth counting. */
export const shortScalars: ReadonlySet<string> = new Set([
  'Int',
  'Float',
  'Boolean',
  'MinorUnits',
  'SignedMinorUnits',
  'DateTime',
]);

/** What one object of a selection takes. */
interface Weight {
  size: number;
  /** Properties with texts, each as often as it is selected. */
  readonly texts: string[];
  /** Objects within that come with this one. */
  readonly inner: { readonly property: string; readonly weight: Weight }[];
}

type Resolve = NonNullable<GraphQLField<unknown, SubgraphContext>['resolve']>;

/** Puts the count into every composite field of the schema that has a resolver. */
export const measureAnswers = (schema: GraphQLSchema): void => {
  const weightOf = weigher(schema);
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || isIntrospectionType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      const named = getNamedType(field.type);
      if (field.resolve && isCompositeType(named))
        field.resolve = measured(field.resolve, named, weightOf);
    }
  }
};

const measured =
  (resolve: Resolve, type: GraphQLNamedType, weightOf: WeightOf): Resolve =>
  (source, args, context, info) => {
    const { meter } = context;
    if (!meter) return resolve(source, args, context, info);
    if (meter.exceeded) return meter.never;
    const given: unknown = resolve(source, args, context, info);
    const weight = weightOf(type, info);
    return given instanceof Promise
      ? given.then((value: unknown) => counted(value, weight, meter))
      : counted(given, weight, meter);
  };

const counted = (value: unknown, weight: Weight, meter: AnswerMeter): unknown => {
  try {
    count(value, weight, meter);
    return value;
  } catch {
    // The count alone throws here, and the meter has the reason.
    return meter.never;
  }
};

const count = (value: unknown, weight: Weight, meter: AnswerMeter): void => {
  if (typeof value !== 'object' || value === null || value instanceof Error) return;
  if (Array.isArray(value)) {
    for (const item of value) count(item, weight, meter);
    return;
  }
  meter.take(weight.size);
  for (const property of weight.texts) meter.takeContent(Reflect.get(value, property));
  for (const { property, weight: inside } of weight.inner)
    count(Reflect.get(value, property), inside, meter);
};

type WeightOf = (
  type: GraphQLNamedType,
  info: Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>,
) => Weight;

/** Weights are computed once for each place of a document; its executor stores them. */
const weigher = (schema: GraphQLSchema): WeightOf => {
  const known = new WeakMap<FieldNode, Weight>();
  return (type, { fieldNodes, fragments }) => {
    const [first] = fieldNodes;
    const before = first && known.get(first);
    if (before) return before;
    const weight = weigh(
      schema,
      type,
      fieldNodes.flatMap(({ selectionSet }) => selectionSet ?? []),
      fragments,
    );
    if (first) known.set(first, weight);
    return weight;
  };
};

/**
 * The weight of an object of the type. Of an abstract type it is what all its types together would
 * take.
 */
const weigh = (
  schema: GraphQLSchema,
  type: GraphQLNamedType | undefined,
  sets: readonly SelectionSetNode[],
  fragments: GraphQLResolveInfo['fragments'],
): Weight => {
  const weight: Weight = { size: valueSize, texts: [], inner: [] };
  const add = (above: GraphQLNamedType | undefined, { selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        const fields = isObjectType(above) || isInterfaceType(above) ? above.getFields() : {};
        addField(weight, fields[selection.name.value], (inside) =>
          weigh(schema, inside, selection.selectionSet ? [selection.selectionSet] : [], fragments),
        );
        continue;
      }
      const fragment =
        selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments[selection.name.value];
      const condition = fragment?.typeCondition?.name.value;
      if (fragment)
        add(condition === undefined ? above : schema.getType(condition), fragment.selectionSet);
    }
  };
  for (const set of sets) add(type, set);
  return weight;
};

/** Adds one field. `__typename`, which no type lists, is a value of its own like any other. */
const addField = (
  weight: Weight,
  field: GraphQLField<unknown, unknown> | undefined,
  inside: (type: GraphQLNamedType) => Weight,
): void => {
  weight.size += valueSize;
  if (!field) return;
  const type = getNamedType(field.type);
  if (isCompositeType(type)) {
    if (field.resolve) weight.size += resolverSize;
    else weight.inner.push({ property: field.name, weight: inside(type) });
  } else if (isEnumType(type) || shortScalars.has(type.name)) {
    return;
  } else if ((field.resolve && !isFreeText(field)) || type.name === 'ID') {
    weight.size += resolvedScalarSize;
  } else {
    weight.texts.push(field.name);
  }
};
