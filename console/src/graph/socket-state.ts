/** Whether the socket is open, for whoever shows it. */
export type Watcher = (state: 'open' | 'closed') => void;

export interface SocketState {
  readonly set: Watcher;
  /** Calls back with every change, and at once when it is closed. Gives what ends that. */
  readonly watch: (watcher: Watcher) => () => void;
}

/** Opens the state: until the first word, the socket is thought to be opening. */
export const openSocketState = (): SocketState => {
  const watchers = new Set<Watcher>();
  let current: 'open' | 'closed' | null = null;
  return {
    set: (state) => {
      current = state;
      for (const watcher of watchers) watcher(state);
    },
    watch: (watcher) => {
      watchers.add(watcher);
      if (current === 'closed') watcher(current);
      return () => void watchers.delete(watcher);
    },
  };
};
