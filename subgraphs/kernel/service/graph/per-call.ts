/** One loader per call: what the fields of a list ask for one by one is loaded together. */
import DataLoader from 'dataloader';
import type { SubgraphContext } from './subgraph.ts';

/** Makes a loader of a call on demand; `batch` answers in the order of the keys. */
export const perCall = <Key, Value>(
  batch: (keys: readonly Key[], context: SubgraphContext) => Promise<readonly Value[]>,
) => {
  const loaders = new WeakMap<SubgraphContext, DataLoader<Key, Value>>();
  return (context: SubgraphContext): DataLoader<Key, Value> => {
    const known = loaders.get(context);
    if (known) return known;
    const loader = new DataLoader<Key, Value>((keys) => batch(keys, context));
    loaders.set(context, loader);
    return loader;
  };
};

/**
 * Makes equal questions of a call one: `nameOf` tells what is equal. For what takes arguments, and
 * cannot be loaded for many at once.
 */
export const oncePerCall = <Key, Value>(
  nameOf: (key: Key) => string,
  load: (key: Key, context: SubgraphContext) => Promise<Value>,
) => {
  const asked = new WeakMap<SubgraphContext, Map<string, Promise<Value>>>();
  return (key: Key, context: SubgraphContext): Promise<Value> => {
    const answers = asked.get(context) ?? new Map<string, Promise<Value>>();
    asked.set(context, answers);
    const name = nameOf(key);
    const answer = answers.get(name) ?? load(key, context);
    answers.set(name, answer);
    return answer;
  };
};
