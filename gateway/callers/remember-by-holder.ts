/** Values that are derived from a key's holder once. */
import type { ApiKeyHolder } from './caller.ts';

/** Keeps what is made of a holder for as long as the holder itself is kept. */
export const rememberByHolder = <Made extends object>(
  make: (holder: ApiKeyHolder) => Made,
): ((holder: ApiKeyHolder) => Made) => {
  const known = new WeakMap<ApiKeyHolder, Made>();
  return (holder) => {
    const before = known.get(holder);
    if (before) return before;
    const made = make(holder);
    known.set(holder, made);
    return made;
  };
};
