/** Parts of the frame that are loaded on first use, so that the first screen appears sooner. */
import { firstScreen } from '../parts/first-screen.ts';
import { later } from '../parts/later.tsx';
import { Modal } from '../parts/modal.tsx';
import { LaterMerchantList } from '../parts/merchant-choice.tsx';
import { LaterPopover } from '../parts/popover-button.tsx';

export const LaterMenu = later(() =>
  import('./person-menu.tsx').then(({ PersonMenu }) => PersonMenu),
);
export const LaterPalette = later(() => import('./palette.tsx').then(({ Palette }) => Palette));
export const LaterShortcuts = later(() =>
  import('./shortcuts-list.tsx').then(({ ShortcutsList }) => ShortcutsList),
);
export const LaterEnd = later(() => import('./end-dialog.tsx').then(({ EndDialog }) => EndDialog));

/** Loads what a person is likely to use next, when the first screen is there. */
export const loadAhead = async (): Promise<void> => {
  await firstScreen;
  for (const part of [Modal, LaterPopover, LaterMenu, LaterPalette, LaterMerchantList, LaterEnd])
    await part.preload();
};
