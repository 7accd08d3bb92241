/** Escape closes the topmost dialog when nothing has the focus: the focused element may be gone. */
import { useEffect, useRef, type RefObject } from 'react';

/** Dialogs under another one are hidden and are ignored. */
const COVERED = '[inert], [aria-hidden="true"]';

/** Returns the ref of the dialog to close. */
export const useEscape = (onClose: () => void): RefObject<HTMLElement | null> => {
  const ref = useRef<HTMLElement | null>(null);
  useEffect(() => {
    const end = ({ key }: KeyboardEvent): void => {
      const isLost = document.activeElement === document.body;
      if (key === 'Escape' && isLost && ref.current?.closest(COVERED) === null) onClose();
    };
    document.addEventListener('keydown', end);
    return () => document.removeEventListener('keydown', end);
  }, [onClose]);
  return ref;
};
