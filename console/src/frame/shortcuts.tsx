/** The global keyboard shortcuts, and their list. */
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { openStore } from '../store.ts';
import { LaterShortcuts } from './later.tsx';
import { rememberedFilters, keyOf, pathOf, useSections } from './sections.tsx';

const pair_ms = 1_500;

const shortcuts = openStore(false);
export const setShortcuts = shortcuts.set;

const isTyping = (event: KeyboardEvent): boolean =>
  event.target instanceof Element &&
  event.target.closest('input, textarea, select, [role=dialog], [role=menu]') !== null;

export const usePaletteKeys = (open: () => void): void => {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const isCombined = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k';
      if (!isCombined && (event.key !== '/' || isTyping(event))) return;
      event.preventDefault();
      open();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  });
};

export const Shortcuts = () => {
  const navigate = useNavigate();
  const sections = useSections();
  const shown = shortcuts.use();
  const pressedG_ms = useRef(-pair_ms);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
      const section = sections.find((one) => keyOf[one] === event.key);
      if (event.key === '?') setShortcuts(true);
      else if (event.key === 'g') pressedG_ms.current = event.timeStamp;
      else if (section && event.timeStamp - pressedG_ms.current < pair_ms) {
        pressedG_ms.current = -pair_ms;
        void navigate({ to: pathOf(section), search: rememberedFilters(section) });
      }
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [navigate, sections]);
  return shown && <LaterShortcuts close={() => setShortcuts(false)} />;
};
