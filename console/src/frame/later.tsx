/** Parts of the frame that are loaded on first use, so that the first screen appears sooner. */
import { firstScreen } from '../parts/states.tsx';
import { later } from '../parts/later.tsx';
import { LaterMerchantList } from '../parts/whose.tsx';
import { Modal, LaterPopover } from '../parts/modal.tsx';
import { openStore } from '../store.ts';
import type { End } from './frame-dialogs.tsx';

export const LaterMenu = later(async () => (await import('./person-menu.tsx')).PersonMenu);
export const LaterPalette = later(async () => (await import('./palette.tsx')).Palette);
export const LaterShortcuts = later(
  async () => (await import('./frame-dialogs.tsx')).ShortcutsList,
);
const LaterEnd = later(async () => (await import('./frame-dialogs.tsx')).EndDialog);

/** Loads what a person is likely to use next, when the first screen is there. */
export const loadAhead = async (): Promise<void> => {
  await firstScreen;
  for (const part of [Modal, LaterPopover, LaterMenu, LaterPalette, LaterMerchantList, LaterEnd])
    await part.preload();
};

const ended = openStore<End | null>(null);

export const showEnd = (end: End): void => ended.set(end);

export const PageEnds = () => {
  const end = ended.use();
  return end && <LaterEnd end={end} close={() => ended.set(null)} />;
};
