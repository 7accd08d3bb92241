/** Parts of the frame that are loaded on first use, so that the first screen appears sooner. */
import { later } from '../parts/later.tsx';

export const LaterMenu = later(
  () => import('./person-menu.tsx').then(({ PersonMenu }) => PersonMenu),
  'icon-button',
);
export const LaterPalette = later(() => import('./palette.tsx').then(({ Palette }) => Palette));
export const LaterShortcuts = later(() =>
  import('./shortcuts-list.tsx').then(({ ShortcutsList }) => ShortcutsList),
);
export const LaterEnd = later(() => import('./end-dialog.tsx').then(({ EndDialog }) => EndDialog));
export const LaterViews = later(() =>
  import('./saved-views.tsx').then(({ SavedViewRow }) => SavedViewRow),
);
