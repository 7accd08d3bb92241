/** One loader per call: what the fields of a list ask for one by one is loaded together. */
import DataLoader from 'dataloader';
import type { SubgraphContext } from './subgraph.ts';

/** Makes a loader of a call on demand; `batch` answers in the order of the keys. */
export const perCall = <Key, Value>(batch: (keys: readonly Key[], context: SubgraphContext) => Promise<readonly Value[]>) => {
  const loaders = new WeakMap<SubgraphContext, DataLoader<Key, Value>>();
  return (context: SubgraphContext): DataLoader<Key, Value> => {
    const known = loaders.get(context);
    if (known) return known;
    const loader = new DataLoader<Key, Value>((keys) => batch(keys, context));
    loaders.set(context, loader);
    return loader;
  };
};
