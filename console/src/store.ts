/** A value outside the screens, which they watch. */
import { useSyncExternalStore } from 'react';

export const openStore = <Value>(initial: Value) => {
  let current = initial;
  const listeners = new Set<() => void>();
  const now = (): Value => current;
  const watch = (changed: () => void): (() => void) => {
    listeners.add(changed);
    return () => void listeners.delete(changed);
  };
  return {
    now,
    set: (value: Value): void => {
      current = value;
      for (const changed of listeners) changed();
    },
    use: (): Value => useSyncExternalStore(watch, now),
  };
};
