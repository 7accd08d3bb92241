/** Makes a value of each object on its first use, and keeps it for as long as the object exists. */
export const lazilyOf = <Key extends object, Value extends object | null>(
  make: (key: Key) => Value,
): ((key: Key) => Value) => {
  const known = new WeakMap<Key, Value>();
  return (key) => {
    const kept = known.get(key);
    if (kept !== undefined) return kept;
    const made = make(key);
    known.set(key, made);
    return made;
  };
};

/**
 * Makes a value on first use and keeps it: a value that a process may never need costs no start
 * time and no memory. A rejected promise is made anew.
 */
export const lazily = <Value>(make: () => Value): (() => Value) => {
  let kept: { readonly value: Value } | null = null;
  return () => {
    if (kept) return kept.value;
    const made = { value: make() };
    kept = made;
    if (made.value instanceof Promise)
      made.value.catch(() => {
        if (kept === made) kept = null;
      });
    return made.value;
  };
};
