/** A value outside the screens, which they watch. */
import { useSyncExternalStore } from 'react';

/** The listeners of one topic: `listen` keeps its identity. */
export const openListeners = <Given>() => {
  const listeners = new Set<(given: Given) => void>();
  return {
    give: (given: Given): void => {
      for (const listener of listeners) listener(given);
    },
    listen: (listener: (given: Given) => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
};

export const openStore = <Value>(initial: Value) => {
  let current = initial;
  const { give, listen } = openListeners<void>();
  const now = (): Value => current;
  return {
    now,
    set: (value: Value): void => {
      current = value;
      give();
    },
    use: (): Value => useSyncExternalStore(listen, now),
  };
};
