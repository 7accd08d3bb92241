/** Ctrl-K and the slash. */
import { useEffect } from 'react';

/** Whether the focus is in a text field. */
export const isTyping = (event: KeyboardEvent): boolean =>
  event.target instanceof Element &&
  event.target.closest('input, textarea, select, [role=dialog], [role=menu]') !== null;

/** Calls back for Ctrl-K and for the slash. */
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
