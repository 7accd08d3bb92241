/** The global keyboard shortcuts, and their list. */
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { kept, type Search } from '../address.ts';
import { LaterShortcuts } from './later.tsx';
import { isTyping } from './palette-keys.ts';
import { rememberedFilters } from './remembered.ts';
import { keyOf, pathOf, useSections } from './sections.tsx';
import { setShortcuts as set, shortcutsShown, watchShortcuts } from './shortcuts-state.ts';

const pair_ms = 1_500;

/** Handles the shortcuts, and shows their list. */
export const Shortcuts = () => {
  const navigate = useNavigate();
  const sections = useSections();
  const shown = useSyncExternalStore(watchShortcuts, shortcutsShown);
  const pressedG_ms = useRef(-pair_ms);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
      const section = sections.find((one) => keyOf[one] === event.key);
      if (event.key === '?') set(true);
      else if (event.key === 'g') pressedG_ms.current = event.timeStamp;
      else if (section && event.timeStamp - pressedG_ms.current < pair_ms) {
        pressedG_ms.current = -pair_ms;
        void navigate({
          to: pathOf[section],
          search: (before: Search) => ({ ...rememberedFilters(section), ...kept(before) }),
        });
      }
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [navigate, sections]);
  return shown && <LaterShortcuts close={() => set(false)} />;
};
