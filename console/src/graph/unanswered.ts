/** Since when questions to the service fail, for whoever shows it. */

let since: Date | null = null;
const failing = new Set<symbol>();
const listeners = new Set<() => void>();

const tell = (): void => {
  since = failing.size === 0 ? null : (since ?? new Date());
  for (const changed of listeners) changed();
};

/** Null while every question of the page has its answer. */
export const unansweredSince = (): Date | null => since;

/** Counts a question that fails; gives what ends that. */
export const addUnanswered = (): (() => void) => {
  const one = Symbol('a question');
  failing.add(one);
  tell();
  return () => {
    failing.delete(one);
    tell();
  };
};

/** Calls back with every change. */
export const watchUnanswered = (changed: () => void): (() => void) => {
  listeners.add(changed);
  return () => void listeners.delete(changed);
};
