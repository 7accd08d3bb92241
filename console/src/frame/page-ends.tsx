/** Stops the page when the session is over or a new version is released. */
import { useSyncExternalStore } from 'react';
import type { End } from './end-dialog.tsx';
import { LaterEnd } from './later.tsx';

let current: End | null = null;
const listeners = new Set<() => void>();
const set = (end: End | null): void => {
  current = end;
  for (const changed of listeners) changed();
};

/** Shows why the page cannot continue. */
export const showEnd = (end: End): void => set(end);

const subscribe = (changed: () => void): (() => void) => {
  listeners.add(changed);
  return () => void listeners.delete(changed);
};

/** The dialog, when there is one. */
export const PageEnds = () => {
  const end = useSyncExternalStore(subscribe, () => current);
  return end && <LaterEnd end={end} close={() => set(null)} />;
};
