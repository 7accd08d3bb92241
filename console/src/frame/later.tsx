/** Parts of the frame that are loaded when they are first needed: the first screen comes sooner. */
import { lazy } from 'react';

export const LaterMenu = lazy(() =>
  import('./person-menu.tsx').then(({ PersonMenu }) => ({ default: PersonMenu })),
);
export const LaterPalette = lazy(() =>
  import('./palette.tsx').then(({ Palette }) => ({ default: Palette })),
);
export const LaterShortcuts = lazy(() =>
  import('./shortcuts-list.tsx').then(({ ShortcutsList }) => ({ default: ShortcutsList })),
);
export const LaterEnd = lazy(() =>
  import('./end-dialog.tsx').then(({ EndDialog }) => ({ default: EndDialog })),
);
export const LaterViews = lazy(() =>
  import('./saved-views.tsx').then(({ SavedViewRow }) => ({ default: SavedViewRow })),
);
