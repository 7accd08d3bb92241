/** Whether the socket is open. */
export type Watcher = (state: 'open' | 'closed') => void;

export interface SocketState {
  readonly set: Watcher;
  /**
   * Calls back on every change, and at once when it is closed. Returns a function that stops it.
   */
  readonly watch: (watcher: Watcher) => () => void;
}

/** Creates the state: the socket counts as opening until its first message. */
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
