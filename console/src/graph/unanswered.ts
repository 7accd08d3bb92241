/** Since when queries to the service fail. */

let since: Date | null = null;
const failing = new Set<symbol>();
const listeners = new Set<() => void>();

const tell = (): void => {
  since = failing.size === 0 ? null : (since ?? new Date());
  for (const changed of listeners) changed();
};

/** Null while no query of the page fails. */
export const unansweredSince = (): Date | null => since;

/** Counts a failing query; returns a function that ends it. */
export const addUnanswered = (): (() => void) => {
  const one = Symbol('a question');
  failing.add(one);
  tell();
  return () => {
    failing.delete(one);
    tell();
  };
};

/** Calls back on every change. */
export const watchUnanswered = (changed: () => void): (() => void) => {
  listeners.add(changed);
  return () => void listeners.delete(changed);
};
