/**
 * Makes a value when it is first asked for, and keeps it: what a process may never need costs its
 * start no time and its rest no memory. A promise that was rejected is made anew.
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
