/** The outcome of an action: done, refused, or unknown because its answer was lost. */
import type { CombinedError } from 'urql';

/** A refusal from the graph: its code, its English text, and the fields that it is about. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly fields?: readonly { readonly path: string }[];
}

/** Whether a refusal is about the field, or one inside it. */
export const isAbout = ({ fields = [] }: Refusal, field: string): boolean =>
  fields.some(({ path }) => path === field || path.startsWith(`${field}.`));

/** Done or refused in the person's language, refused by the graph, or unknown. */
export type Outcome =
  | { readonly done: string }
  | { readonly refused: string }
  | { readonly refusal: Refusal }
  | { readonly unknown: true };

/** The graph's own answer to a failed query; null when there was none. */
export const refusalOf = (error: Error | undefined): Refusal | null => {
  const [first] = (error as Partial<CombinedError> | undefined)?.graphQLErrors ?? [];
  const code = first?.extensions['code'];
  return first && typeof code === 'string' ? { code, message: first.message } : null;
};

/** Codes after which it is unknown whether the action was or will be done. */
const unknownCodes: ReadonlySet<string> = new Set([
  'idempotent_in_progress',
  'internal_error',
  'unavailable',
]);

/** Whether this is no answer: the same query may succeed later. */
export const isUnknown = (refusal: Refusal | null): refusal is null =>
  refusal === null || unknownCodes.has(refusal.code);

/** The outcome of a refusal; without one there was no answer. */
export const refusedBy = (refusal: Refusal | null): Outcome =>
  isUnknown(refusal) ? { unknown: true } : { refusal };

/** The outcome of a GraphQL answer: data, a refusal, or no answer. */
export const outcomeOf = <Data>(
  { data, error }: { readonly data?: Data | undefined; readonly error?: Error | undefined },
  read: (data: Data) => Outcome,
): Outcome => (data ? read(data) : refusedBy(refusalOf(error)));

/** The outcome of a mutation that may be refused. */
export const ended = (
  result: { readonly __typename: string } | ({ readonly __typename: 'Refused' } & Refusal),
  done: string,
): Outcome => (result.__typename === 'Refused' && 'code' in result ? refusedBy(result) : { done });
