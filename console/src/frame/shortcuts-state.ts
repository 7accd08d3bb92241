/** Whether the list of shortcuts is shown. */
let isShown = false;
const listeners = new Set<() => void>();

export const shortcutsShown = (): boolean => isShown;

/** Shows or hides it. */
export const setShortcuts = (shown: boolean): void => {
  isShown = shown;
  for (const changed of listeners) changed();
};

/** Calls back on every change. */
export const watchShortcuts = (changed: () => void): (() => void) => {
  listeners.add(changed);
  return () => void listeners.delete(changed);
};
