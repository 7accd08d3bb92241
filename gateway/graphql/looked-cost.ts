/**
 * The price of looking: what a list reads beside the rows that it answers with (decision A-330). A
 * filter or a search that no index helps with looks at 20,000 rows for a page, a total at 50,000
 * however few of them fit. Such lists are fields of Query alone.
 */
import { getNamedType } from 'graphql';
import type { ComplexityEstimator } from 'graphql-query-complexity';

/** Tokens of a page that looks for its rows one by one. */
const lookedPage_tokens = 4;
/** Tokens of a total of such a list. */
const lookedTotal_tokens = 6;
/** Tokens of a total that counts a range of an index, to 10,000. */
const total_tokens = 1;
/** What one operation may look at: ten such lists with their totals. */
export const looked_max_tokens = 100;

type Arguments = Readonly<Record<string, unknown>>;
type IsLooked = (args: Arguments) => boolean;

interface Looking {
  readonly page: IsLooked;
  readonly total: IsLooked;
}

const isGiven = (value: unknown): boolean => value !== null && value !== undefined;

/** The names of what is given in an argument that is an object. */
const givenIn = (value: unknown): readonly string[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, inner]) => (isGiven(inner) ? [name] : []))
    : [];

/** Fields of a filter that choose among the ranges of an index. */
const inIndex: readonly string[] = ['shopId', 'mode', 'since', 'until'];

const isFiltered: IsLooked = ({ filter }) =>
  givenIn(filter).some((name) => !inIndex.includes(name));
const searchesWithout =
  (...exact: readonly string[]): IsLooked =>
  ({ search }) =>
    !givenIn(search).some((name) => exact.includes(name));
const isOneGiven =
  (...names: readonly string[]): IsLooked =>
  (args) =>
    names.some((name) => isGiven(args[name]));

const never: IsLooked = () => false;
const always: IsLooked = () => true;

/** Failed deliveries, and those of one subject, have an index; their total has none. */
const isDeliveryLooked: IsLooked = (args) =>
  isOneGiven('shopId', 'endpointId', 'event')(args) ||
  (isGiven(args['status']) && args['status'] !== 'failed');

/** How root fields look, where it is not by their filter alone. */
const lookingOf: Readonly<Record<string, Looking>> = {
  paymentSearch: {
    page: searchesWithout('id', 'publicId', 'orderId', 'customerId', 'rrn'),
    total: never,
  },
  payoutSearch: { page: searchesWithout('id'), total: never },
  webhookDeliveries: {
    page: isDeliveryLooked,
    total: (args) => isDeliveryLooked(args) || isOneGiven('status', 'subjectId')(args),
  },
  receipts: {
    page: (args) => isFiltered(args) || (isGiven(args['filter']) && isGiven(args['paymentId'])),
    total: (args) => isFiltered(args) || isGiven(args['paymentId']),
  },
  // People alone read drafts, of which few wait at a time.
  payoutDrafts: { page: never, total: never },
  // It has the sums of a checkpoint, and reads what was booked since.
  balanceAt: { page: always, total: never },
};
const byFilter: Looking = { page: isFiltered, total: isFiltered };

/** Tokens of what an operation looks at. Below a root field it counts the totals. */
export const estimateLooking: ComplexityEstimator = ({ type, field, args, childComplexity }) => {
  if (getNamedType(field.type).name === 'TotalCount' && type.name.endsWith('Connection')) return 1;
  if (type.name !== 'Query') return childComplexity;
  const { page, total } = lookingOf[field.name] ?? byFilter;
  return (
    (page(args) ? lookedPage_tokens : 0) +
    childComplexity * (total(args) ? lookedTotal_tokens : total_tokens)
  );
};

/**
 * What of a variable's value decides the price: whether it is given, and what is given in it. A
 * status is a value of its own.
 */
export const shapeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return 1;
  if (typeof value === 'object' && value !== null) return givenIn(value);
  return value === 'failed' ? value : Number(isGiven(value));
};
