/** Parts of the frame that are loaded on first use, so that the first screen appears sooner. */
import { useSyncExternalStore } from 'react';
import { firstScreen } from '../parts/states.tsx';
import { later } from '../parts/later.tsx';
import { LaterMerchantList } from '../parts/whose.tsx';
import { Modal, LaterPopover } from '../parts/modal.tsx';
import type { End } from './frame-dialogs.tsx';

export const LaterMenu = later(() =>
  import('./person-menu.tsx').then(({ PersonMenu }) => PersonMenu),
);
export const LaterPalette = later(() => import('./palette.tsx').then(({ Palette }) => Palette));
export const LaterShortcuts = later(() =>
  import('./frame-dialogs.tsx').then(({ ShortcutsList }) => ShortcutsList),
);
const LaterEnd = later(() => import('./frame-dialogs.tsx').then(({ EndDialog }) => EndDialog));

/** Loads what a person is likely to use next, when the first screen is there. */
export const loadAhead = async (): Promise<void> => {
  await firstScreen;
  for (const part of [Modal, LaterPopover, LaterMenu, LaterPalette, LaterMerchantList, LaterEnd])
    await part.preload();
};

// Stops the page when the session is over or a new version is released.

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
