/** The outcome of an action: done, refused, or unknown because its answer was lost; no repetition. */
import type { AnyVariables, CombinedError, TypedDocumentNode } from 'urql';
import { pageClient } from '../graph/client.ts';
import type * as graph from '../../../schema/generated/console.ts';
import { outcomeWords, type Refusal } from '../words/outcome.ts';
import { sharedWords } from '../words/shared.ts';

/** Whether a refusal is about the field, or one inside it. */
export const isAbout = ({ fields = [] }: Refusal, field: string): boolean =>
  fields.some(({ path }) => path === field || path.startsWith(`${field}.`));

interface Done {
  readonly done: string;
  /** A text to copy that is shown once. */
  readonly copy?: string;
}

/** A new secret, which is shown once. */
export const shownOnce = (copy: string): Done => ({ done: sharedWords.secretOnce, copy });

/** Done, refused or unknown, with what it says in the person's language. */
export type Outcome = Done | { readonly refused: string } | { readonly unknown: string };

export const toldBy = (outcome: Outcome): string => {
  if ('done' in outcome) return outcome.done;
  return 'refused' in outcome ? outcome.refused : outcome.unknown;
};

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
export const isUnknown = (refusal: Refusal | null): boolean =>
  refusal === null || unknownCodes.has(refusal.code);

/** The outcome of a refusal; without one there was no answer. */
export const refusedBy = (refusal: Refusal | null): Outcome => {
  const text = refusal ? outcomeWords.refusal(refusal) : outcomeWords.unknown;
  return isUnknown(refusal) ? { unknown: text } : { refused: text };
};

/** A result of the graph, and the one that each mutation has beside its own. */
interface Result {
  readonly __typename: string;
}
type Refused = Extract<
  graph.ResolveAlertMutation['alertResolve'],
  { readonly __typename: 'Refused' }
>;

const isRefused = (result: Result): result is Refused => result.__typename === 'Refused';

/** Sends a mutation. `done` says what it has done; `refused`, what a refusal means here. */
export const send = async <Own extends Result, Variables extends AnyVariables>(
  mutation: TypedDocumentNode<Readonly<Record<string, Own | Refused>>, Variables>,
  variables: NoInfer<Variables>,
  done: string | ((result: Own) => string | Done),
  refused: (refusal: Refusal) => Outcome | Promise<Outcome> = refusedBy,
): Promise<Outcome> => {
  const client = await pageClient;
  const { data, error } = await client.mutation(mutation, variables).toPromise();
  const [result] = Object.values(data ?? {});
  if (!result) return refusedBy(refusalOf(error));
  if (isRefused(result)) return refused(result);
  const said = typeof done === 'string' ? done : done(result);
  return typeof said === 'string' ? { done: said } : said;
};

// Runs actions under an idempotency key, stored by subject, action and amount until an answer
// arrives. A second press, a reopened dialog and a reloaded page do not repeat the action.

export interface KeyedAct {
  /**
   * The action with its subject, such as `refund/<id>`. It is stored in the browser, so it holds no
   * secrets.
   */
  readonly of: string;
  readonly amount: number;
}

type Keys = Readonly<Record<string, string>>;

const nameOf = (of: string): string => `console.act.${of}`;

const keysOf = (of: string): Keys => {
  try {
    return JSON.parse(sessionStorage.getItem(nameOf(of)) ?? '{}') as Keys;
  } catch {
    return {};
  }
};

const keep = (of: string, keys: Keys): void => {
  if (Object.keys(keys).length === 0) sessionStorage.removeItem(nameOf(of));
  else sessionStorage.setItem(nameOf(of), JSON.stringify(keys));
};

export const unansweredOf = (of: string): readonly number[] => Object.keys(keysOf(of)).map(Number);

export const isUnanswered = ({ of, amount }: KeyedAct): boolean => String(amount) in keysOf(of);

/** Sends the action under its key, and removes the key with the answer. */
export const actOnce = async (
  { of, amount }: KeyedAct,
  act: (key: string) => Promise<Outcome>,
): Promise<Outcome> => {
  const key = keysOf(of)[String(amount)] ?? `console-${crypto.randomUUID()}`;
  keep(of, { ...keysOf(of), [amount]: key });
  const outcome = await act(key);
  if (!('unknown' in outcome)) {
    const { [String(amount)]: _, ...others } = keysOf(of);
    keep(of, others);
  }
  return outcome;
};
