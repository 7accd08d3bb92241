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
