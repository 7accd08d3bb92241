/** One loader per call: individual requests of a list's fields load together. */
import DataLoader from 'dataloader';
import type { SubgraphContext } from './subgraph.ts';

/**
 * Makes a loader of a call on demand; `batch` answers in the order of the keys. Keys with the same
 * `nameOf` are equal.
 */
export const perCall = <Key, Value, Name = Key>(
  batch: (keys: readonly Key[], context: SubgraphContext) => Promise<readonly Value[]>,
  nameOf?: (key: Key) => Name,
) => {
  const loaders = new WeakMap<SubgraphContext, DataLoader<Key, Value, Name>>();
  return (context: SubgraphContext): DataLoader<Key, Value, Name> => {
    const known = loaders.get(context);
    if (known) return known;
    const loader = new DataLoader<Key, Value, Name>(
      (keys) => batch(keys, context),
      nameOf ? { cacheKeyFn: nameOf } : {},
    );
    loaders.set(context, loader);
    return loader;
  };
};
