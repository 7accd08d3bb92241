/**
 * One loader per call: individual requests of a list's fields load together. Calls that re-read one
 * event of the live stream share their loaders.
 */
import DataLoader from 'dataloader';
import type { SubgraphContext } from './subgraph.ts';

/** The key of a call's loaders. */
const loadsOf = (context: SubgraphContext): object => context.loads ?? context;

/** Assumed rows of a loaded value: a missing one counts as one. */
const rowsIn = (value: unknown): number => (Array.isArray(value) ? Math.max(value.length, 1) : 1);

/** Counts the rows of values that outlive their call. */
const hold = ({ loads }: SubgraphContext, values: readonly unknown[]): void =>
  loads?.hold(values.reduce<number>((rows, value) => rows + rowsIn(value), 0));

/**
 * Makes a loader of a call on demand; `batch` answers in the order of the keys. Keys with the same
 * `nameOf` are equal.
 */
export const perCall = <Key, Value, Name = Key>(
  batch: (keys: readonly Key[], context: SubgraphContext) => Promise<readonly Value[]>,
  nameOf?: (key: Key) => Name,
) => {
  const loaders = new WeakMap<object, DataLoader<Key, Value, Name>>();
  return (context: SubgraphContext): DataLoader<Key, Value, Name> => {
    const known = loaders.get(loadsOf(context));
    if (known) return known;
    const loader = new DataLoader<Key, Value, Name>(
      async (keys) => {
        const values = await batch(keys, context);
        hold(context, values);
        return values;
      },
      nameOf ? { cacheKeyFn: nameOf } : {},
    );
    loaders.set(loadsOf(context), loader);
    return loader;
  };
};

/**
 * Merges equal requests of a call: equal requests have one `nameOf`. For loads with arguments that
 * cannot be batched.
 */
export const oncePerCall = <Key, Value>(
  nameOf: (key: Key) => string,
  load: (key: Key, context: SubgraphContext) => Promise<Value>,
) => {
  const asked = new WeakMap<object, Map<string, Promise<Value>>>();
  return (key: Key, context: SubgraphContext): Promise<Value> => {
    const answers = asked.get(loadsOf(context)) ?? new Map<string, Promise<Value>>();
    asked.set(loadsOf(context), answers);
    const name = nameOf(key);
    const known = answers.get(name);
    if (known) return known;
    const answer = load(key, context);
    answers.set(name, answer);
    // A failure is not cached: a call that shares the answer later loads again.
    answer.then(
      (value) => hold(context, [value]),
      () => answers.delete(name),
    );
    return answer;
  };
};
